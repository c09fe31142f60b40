#include <immintrin.h>

#include <cstring>

#include "neighbors.hpp"

namespace hippograph::simd {

namespace {

// A third of a tile's rows by 16 columns: 8 vectors of sums, 4 of columns and 2 of a row fit into
// the 16 registers. The sums have names: gcc keeps those in registers, but arrays in memory as
// well.
constexpr int kRows = 2;
constexpr int kColumns = 16;

// Four bytes of a row as 16-bit numbers, four times over.
inline __m256i everywhere(const std::uint8_t* row) noexcept {
    std::int32_t four_bytes;
    std::memcpy(&four_bytes, row, sizeof four_bytes);
    return _mm256_cvtepu8_epi16(_mm_set1_epi32(four_bytes));
}

// Four columns of one step as 16-bit numbers.
inline __m256i columns_at(const std::int8_t* panel) noexcept {
    const void* const address = panel;
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(address)));
}

// Products of 16 bits: those of bytes (maddubs) would saturate at 2 * 255 * 127.
inline __m256i add(__m256i sums, __m256i row, __m256i columns) noexcept {
    return _mm256_add_epi32(sums, _mm256_madd_epi16(row, columns));
}

// Each column has two sums, of the first and of the last two bytes of all steps.
inline void store_eight(std::int32_t* dots, __m256i first, __m256i second,
                        const std::int32_t* starts) noexcept {
    const __m256i mixed = _mm256_hadd_epi32(first, second);
    const __m256i in_order = _mm256_permute4x64_epi64(mixed, 0b11'01'10'00);
    const void* const from = starts;
    void* const to = dots;
    const __m256i start = _mm256_loadu_si256(static_cast<const __m256i*>(from));
    _mm256_storeu_si256(static_cast<__m256i*>(to), _mm256_add_epi32(in_order, start));
}

inline void multiply_part(const std::uint8_t* rows, const std::int8_t* panel,
                          std::int64_t num_steps, const std::int32_t* starts,
                          std::int32_t* dots) noexcept {
    const __m256i none = _mm256_setzero_si256();
    __m256i a0 = none, b0 = none, c0 = none, d0 = none;
    __m256i a1 = none, b1 = none, c1 = none, d1 = none;
    const std::int64_t row_bytes = 4 * num_steps;
    for (std::int64_t step = 0; step < num_steps; ++step) {
        const __m256i row0 = everywhere(rows);
        const __m256i row1 = everywhere(rows + row_bytes);
        const __m256i a = columns_at(panel);
        a0 = add(a0, row0, a);
        a1 = add(a1, row1, a);
        const __m256i b = columns_at(panel + 16);
        b0 = add(b0, row0, b);
        b1 = add(b1, row1, b);
        const __m256i c = columns_at(panel + 32);
        c0 = add(c0, row0, c);
        c1 = add(c1, row1, c);
        const __m256i d = columns_at(panel + 48);
        d0 = add(d0, row0, d);
        d1 = add(d1, row1, d);
        rows += 4;
        panel += 256;
    }
    store_eight(dots, a0, b0, starts);
    store_eight(dots + 8, c0, d0, starts + 8);
    store_eight(dots + 64, a1, b1, starts);
    store_eight(dots + 72, c1, d1, starts + 8);
}

}  // namespace

void multiply_tile_avx2(const std::uint8_t* rows, const std::int8_t* panel, std::int64_t num_steps,
                        const std::int32_t* starts, std::int32_t* dots) noexcept {
    for (int first_row = 0; first_row < 6; first_row += kRows) {
        for (int c = 0; c < 64; c += kColumns) {
            multiply_part(rows + first_row * 4 * num_steps, panel + 4 * c, num_steps, starts + c,
                          dots + 64 * first_row + c);
        }
    }
}

std::uint64_t mark_hits_avx2(const std::int32_t* dots, float scale, float error, float floor,
                             const float* scales, const float* errors,
                             const float* floors) noexcept {
    const __m256 row_scale = _mm256_set1_ps(scale);
    const __m256 row_error = _mm256_set1_ps(error);
    const __m256 row_floor = _mm256_set1_ps(floor);
    std::uint64_t hits = 0;
    for (int c = 0; c < 64; c += 8) {
        const void* const eight = dots + c;
        const __m256 dot =
            _mm256_cvtepi32_ps(_mm256_loadu_si256(static_cast<const __m256i*>(eight)));
        const __m256 estimate =
            _mm256_mul_ps(_mm256_mul_ps(dot, _mm256_loadu_ps(scales + c)), row_scale);
        const __m256 errors_of_both = _mm256_add_ps(_mm256_loadu_ps(errors + c), row_error);
        const __m256 least = _mm256_min_ps(row_floor, _mm256_loadu_ps(floors + c));
        const __m256 reached =
            _mm256_cmp_ps(_mm256_add_ps(estimate, errors_of_both), least, _CMP_GE_OQ);
        hits |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_ps(reached))) << c;
    }
    return hits;
}

}  // namespace hippograph::simd
