#include <immintrin.h>

#include "neighbors.hpp"

namespace hippograph::simd {

void add_products_avx2(const float* left, const float* right, std::int64_t num_blocks,
                       double* lanes) noexcept {
    __m256d sums[4];
    for (int part = 0; part < 4; ++part) sums[part] = _mm256_loadu_pd(lanes + 4 * part);
    for (std::int64_t block = 0; block < num_blocks; ++block) {
        for (int part = 0; part < 4; ++part) {
            const __m256d a = _mm256_cvtps_pd(_mm_loadu_ps(left + 4 * part));
            const __m256d b = _mm256_cvtps_pd(_mm_loadu_ps(right + 4 * part));
            sums[part] = _mm256_add_pd(sums[part], _mm256_mul_pd(a, b));
        }
        left += 16;
        right += 16;
    }
    for (int part = 0; part < 4; ++part) _mm256_storeu_pd(lanes + 4 * part, sums[part]);
}

}  // namespace hippograph::simd
