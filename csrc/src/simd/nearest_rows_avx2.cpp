#include <immintrin.h>

#include "neighbors.hpp"

namespace hippograph::simd {

namespace {

inline __m256i sixteen_numbers(const std::int8_t* bytes) noexcept {
    const void* const address = bytes;
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(address)));
}

inline std::int32_t sum_of(__m256i sums) noexcept {
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b01'00'11'10));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b10'11'00'01));
    return _mm_cvtsi128_si32(four);
}

}  // namespace

void multiply_rows_avx2(const std::int8_t* query, const std::int8_t* rows, std::int64_t num_rows,
                        std::int64_t dimension, std::int32_t* dots) noexcept {
    const std::int64_t whole = dimension / 32 * 32;
    for (std::int64_t row = 0; row < num_rows; ++row) {
        __m256i even = _mm256_setzero_si256();
        __m256i odd = _mm256_setzero_si256();
        for (std::int64_t i = 0; i < whole; i += 32) {
            even = _mm256_add_epi32(
                even, _mm256_madd_epi16(sixteen_numbers(rows + i), sixteen_numbers(query + i)));
            odd = _mm256_add_epi32(odd, _mm256_madd_epi16(sixteen_numbers(rows + i + 16),
                                                          sixteen_numbers(query + i + 16)));
        }
        std::int32_t sum = sum_of(_mm256_add_epi32(even, odd));
        for (std::int64_t i = whole; i < dimension; ++i) sum += query[i] * rows[i];
        dots[row] = sum;
        rows += dimension;
    }
}

}  // namespace hippograph::simd
