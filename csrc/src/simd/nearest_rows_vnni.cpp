#include <immintrin.h>

#include "neighbors.hpp"

namespace hippograph::simd {

namespace {

// The zero-masked form, with all lanes on: the other makes gcc 12 warn about its own header.
inline std::int32_t sum_of(__m512i sums) noexcept {
    const __m256i eight = _mm256_add_epi32(_mm512_maskz_extracti64x4_epi64(0xF, sums, 0),
                                           _mm512_maskz_extracti64x4_epi64(0xF, sums, 1));
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b01'00'11'10));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0b10'11'00'01));
    return _mm_cvtsi128_si32(four);
}

}  // namespace

// Rows are made unsigned by flipping the top bit (code + 128); 128 * (sum of the query) is taken
// off. `query` is padded with zeros to whole vectors; rows are not, so their end is masked.
void multiply_rows_vnni(const std::int8_t* query, const std::int8_t* rows, std::int64_t num_rows,
                        std::int64_t dimension, std::int32_t* dots) noexcept {
    std::int32_t shift = 0;
    for (std::int64_t i = 0; i < dimension; ++i) shift += 128 * query[i];
    const __m512i top_bits = _mm512_set1_epi8(static_cast<char>(0x80));
    const std::int64_t whole = dimension / 64 * 64;
    const __mmask64 rest = (__mmask64{1} << (dimension - whole)) - 1;
    for (std::int64_t row = 0; row < num_rows; ++row) {
        __m512i even = _mm512_setzero_si512();
        __m512i odd = _mm512_setzero_si512();
        std::int64_t i = 0;
        for (; i + 128 <= whole; i += 128) {
            even =
                _mm512_dpbusd_epi32(even, _mm512_xor_si512(_mm512_loadu_si512(rows + i), top_bits),
                                    _mm512_loadu_si512(query + i));
            odd = _mm512_dpbusd_epi32(odd,
                                      _mm512_xor_si512(_mm512_loadu_si512(rows + i + 64), top_bits),
                                      _mm512_loadu_si512(query + i + 64));
        }
        if (i < whole) {
            even =
                _mm512_dpbusd_epi32(even, _mm512_xor_si512(_mm512_loadu_si512(rows + i), top_bits),
                                    _mm512_loadu_si512(query + i));
        }
        if (rest != 0) {
            const __m512i end = _mm512_maskz_loadu_epi8(rest, rows + whole);
            odd = _mm512_dpbusd_epi32(odd, _mm512_xor_si512(end, top_bits),
                                      _mm512_loadu_si512(query + whole));
        }
        dots[row] = sum_of(_mm512_add_epi32(even, odd)) - shift;
        rows += dimension;
    }
}

}  // namespace hippograph::simd
