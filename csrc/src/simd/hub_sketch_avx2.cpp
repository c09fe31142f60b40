#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace hippograph::simd {

namespace {

constexpr std::size_t kRowsAhead = 16;

}  // namespace

void add_shares_avx2(const std::uint32_t* rows, const float* residuals, std::size_t num_rows,
                     const std::uint16_t* shares, float* sums, std::size_t width) noexcept {
    for (std::size_t i = 0; i < num_rows; ++i) {
        if (i + kRowsAhead < num_rows) {
            const std::uint16_t* const ahead = shares + rows[i + kRowsAhead] * width;
            for (std::size_t line = 0; line < width; line += 32) __builtin_prefetch(ahead + line);
        }
        const std::uint16_t* const row = shares + rows[i] * width;
        const __m256 residual = _mm256_set1_ps(residuals[i]);
        for (std::size_t hub = 0; hub < width; hub += 8) {
            const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + hub));
            const __m256 share =
                _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
            const __m256 sum = _mm256_loadu_ps(sums + hub);
            _mm256_storeu_ps(sums + hub, _mm256_add_ps(sum, _mm256_mul_ps(residual, share)));
        }
    }
}

}  // namespace hippograph::simd
