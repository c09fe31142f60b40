#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace hippograph::simd {

namespace {

constexpr std::size_t kRowsAhead = 16;
// The forms with a mask: GCC 12 warns of the other ones' undefined vector under the sanitizers.
constexpr __mmask16 kAll = 0xFFFF;

}  // namespace

void add_shares_avx512(const std::uint32_t* rows, const float* residuals, std::size_t num_rows,
                       const std::uint16_t* shares, float* sums, std::size_t width) noexcept {
    for (std::size_t i = 0; i < num_rows; ++i) {
        if (i + kRowsAhead < num_rows) {
            const std::uint16_t* const ahead = shares + rows[i + kRowsAhead] * width;
            for (std::size_t line = 0; line < width; line += 32) __builtin_prefetch(ahead + line);
        }
        const std::uint16_t* const row = shares + rows[i] * width;
        const __m512 residual = _mm512_set1_ps(residuals[i]);
        for (std::size_t hub = 0; hub < width; hub += 16) {
            const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + hub));
            const __m512 share = _mm512_castsi512_ps(
                _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, bits), 16));
            const __m512 sum = _mm512_loadu_ps(sums + hub);
            _mm512_storeu_ps(sums + hub, _mm512_add_ps(sum, _mm512_mul_ps(residual, share)));
        }
    }
}

}  // namespace hippograph::simd
