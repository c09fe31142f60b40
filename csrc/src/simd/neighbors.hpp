// Loops over wider vectors for similarity.cpp, int8_tiles.cpp and nearest_rows.cpp, which hold the
// plain versions and say what each computes. Files here are compiled for instructions that the
// processor may lack: nothing but loops over plain arrays, no function shared with other files.
#pragma once

#include <cstdint>

namespace hippograph::simd {

// Adds left[i] * right[i] to lanes[i % 16] for i < 16 * num_blocks.
void add_products_avx2(const float* left, const float* right, std::int64_t num_blocks,
                       double* lanes) noexcept;
void add_products_avx512(const float* left, const float* right, std::int64_t num_blocks,
                         double* lanes) noexcept;

// See TileKernel in int8_tiles.hpp.
void multiply_tile_avx2(const std::uint8_t* rows, const std::int8_t* panel, std::int64_t num_steps,
                        const std::int32_t* starts, std::int32_t* dots) noexcept;
void multiply_tile_vnni(const std::uint8_t* rows, const std::int8_t* panel, std::int64_t num_steps,
                        const std::int32_t* starts, std::int32_t* dots) noexcept;

std::uint64_t mark_hits_avx2(const std::int32_t* dots, float scale, float error, float floor,
                             const float* scales, const float* errors,
                             const float* floors) noexcept;
std::uint64_t mark_hits_vnni(const std::int32_t* dots, float scale, float error, float floor,
                             const float* scales, const float* errors,
                             const float* floors) noexcept;

// Integer dot products of one query with consecutive rows; see nearest_rows.cpp.
void multiply_rows_avx2(const std::int8_t* query, const std::int8_t* rows, std::int64_t num_rows,
                        std::int64_t dimension, std::int32_t* dots) noexcept;
void multiply_rows_vnni(const std::int8_t* query, const std::int8_t* rows, std::int64_t num_rows,
                        std::int64_t dimension, std::int32_t* dots) noexcept;

}  // namespace hippograph::simd
