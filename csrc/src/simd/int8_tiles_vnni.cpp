#include <immintrin.h>

#include <cstring>

#include "neighbors.hpp"

namespace hippograph::simd {

namespace {

// The 64 columns of one step.
struct Columns {
    __m512i a, b, c, d;
};

inline Columns columns_at(const std::int8_t* panel) noexcept {
    return {_mm512_loadu_si512(panel), _mm512_loadu_si512(panel + 64),
            _mm512_loadu_si512(panel + 128), _mm512_loadu_si512(panel + 192)};
}

// Adds the products of four bytes of a row to its sums.
inline void add_step(__m512i& a, __m512i& b, __m512i& c, __m512i& d, const std::uint8_t* row,
                     const Columns& columns) noexcept {
    std::int32_t four_bytes;
    std::memcpy(&four_bytes, row, sizeof four_bytes);
    const __m512i everywhere = _mm512_set1_epi32(four_bytes);
    a = _mm512_dpbusd_epi32(a, everywhere, columns.a);
    b = _mm512_dpbusd_epi32(b, everywhere, columns.b);
    c = _mm512_dpbusd_epi32(c, everywhere, columns.c);
    d = _mm512_dpbusd_epi32(d, everywhere, columns.d);
}

inline void store(std::int32_t* dots, __m512i a, __m512i b, __m512i c, __m512i d) noexcept {
    _mm512_storeu_si512(dots, a);
    _mm512_storeu_si512(dots + 16, b);
    _mm512_storeu_si512(dots + 32, c);
    _mm512_storeu_si512(dots + 48, d);
}

}  // namespace

// 24 sums with names: gcc keeps those in registers, but arrays of vectors in memory as well.
void multiply_tile_vnni(const std::uint8_t* rows, const std::int8_t* panel, std::int64_t num_steps,
                        const std::int32_t* starts, std::int32_t* dots) noexcept {
    const __m512i a = _mm512_loadu_si512(starts);
    const __m512i b = _mm512_loadu_si512(starts + 16);
    const __m512i c = _mm512_loadu_si512(starts + 32);
    const __m512i d = _mm512_loadu_si512(starts + 48);
    __m512i a0 = a, b0 = b, c0 = c, d0 = d;
    __m512i a1 = a, b1 = b, c1 = c, d1 = d;
    __m512i a2 = a, b2 = b, c2 = c, d2 = d;
    __m512i a3 = a, b3 = b, c3 = c, d3 = d;
    __m512i a4 = a, b4 = b, c4 = c, d4 = d;
    __m512i a5 = a, b5 = b, c5 = c, d5 = d;
    const std::int64_t row_bytes = 4 * num_steps;
    for (std::int64_t step = 0; step < num_steps; ++step) {
        const Columns columns = columns_at(panel);
        add_step(a0, b0, c0, d0, rows, columns);
        add_step(a1, b1, c1, d1, rows + row_bytes, columns);
        add_step(a2, b2, c2, d2, rows + 2 * row_bytes, columns);
        add_step(a3, b3, c3, d3, rows + 3 * row_bytes, columns);
        add_step(a4, b4, c4, d4, rows + 4 * row_bytes, columns);
        add_step(a5, b5, c5, d5, rows + 5 * row_bytes, columns);
        rows += 4;
        panel += 256;
    }
    store(dots, a0, b0, c0, d0);
    store(dots + 64, a1, b1, c1, d1);
    store(dots + 128, a2, b2, c2, d2);
    store(dots + 192, a3, b3, c3, d3);
    store(dots + 256, a4, b4, c4, d4);
    store(dots + 320, a5, b5, c5, d5);
}

// The zero-masked forms, with all lanes on: the others make gcc 12 warn about its own headers.
std::uint64_t mark_hits_vnni(const std::int32_t* dots, float scale, float error, float floor,
                             const float* scales, const float* errors,
                             const float* floors) noexcept {
    constexpr __mmask16 kAll = 0xFFFF;
    const __m512 row_scale = _mm512_set1_ps(scale);
    const __m512 row_error = _mm512_set1_ps(error);
    const __m512 row_floor = _mm512_set1_ps(floor);
    std::uint64_t hits = 0;
    for (int c = 0; c < 64; c += 16) {
        const __m512 dot = _mm512_maskz_cvtepi32_ps(kAll, _mm512_loadu_si512(dots + c));
        const __m512 estimate =
            _mm512_mul_ps(_mm512_mul_ps(dot, _mm512_loadu_ps(scales + c)), row_scale);
        const __m512 errors_of_both = _mm512_add_ps(_mm512_loadu_ps(errors + c), row_error);
        const __m512 least = _mm512_maskz_min_ps(kAll, row_floor, _mm512_loadu_ps(floors + c));
        const __mmask16 mask =
            _mm512_cmp_ps_mask(_mm512_add_ps(estimate, errors_of_both), least, _CMP_GE_OQ);
        hits |= static_cast<std::uint64_t>(mask) << c;
    }
    return hits;
}

}  // namespace hippograph::simd
