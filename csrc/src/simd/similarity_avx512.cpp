#include <immintrin.h>

#include "neighbors.hpp"

namespace hippograph::simd {

namespace {

// The zero-masked form, with all lanes on: the other makes gcc 12 warn about its own header.
inline __m512d eight_numbers(const float* from) noexcept {
    return _mm512_maskz_cvtps_pd(0xFF, _mm256_loadu_ps(from));
}

}  // namespace

void add_products_avx512(const float* left, const float* right, std::int64_t num_blocks,
                         double* lanes) noexcept {
    __m512d low = _mm512_loadu_pd(lanes);
    __m512d high = _mm512_loadu_pd(lanes + 8);
    for (std::int64_t block = 0; block < num_blocks; ++block) {
        const __m512d left_low = eight_numbers(left);
        const __m512d left_high = eight_numbers(left + 8);
        const __m512d right_low = eight_numbers(right);
        const __m512d right_high = eight_numbers(right + 8);
        low = _mm512_add_pd(low, _mm512_mul_pd(left_low, right_low));
        high = _mm512_add_pd(high, _mm512_mul_pd(left_high, right_high));
        left += 16;
        right += 16;
    }
    _mm512_storeu_pd(lanes, low);
    _mm512_storeu_pd(lanes + 8, high);
}

}  // namespace hippograph::simd
