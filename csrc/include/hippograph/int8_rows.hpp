// Unit rows as bytes, with a proven bound on what that loses.
//
// Row x is stored as codes q in [-127, 127] and a scale a: x = a q + e. For rows of length at most
// n, with D the integer dot product of the codes and |.| the Euclidean length,
//
//     x.y - a_x a_y D  =  e_x.y + (a_x q_x).e_y
//    |x.y - a_x a_y D| <= |e_x| n + (n + |e_x|) |e_y|            (Cauchy-Schwarz, twice)
//                      <= (n |e_x| + |e_x|^2 / 2) + (n |e_y| + |e_y|^2 / 2),
//
// since |e_x| |e_y| <= (|e_x|^2 + |e_y|^2) / 2. So each row has an error of its own, and a pair the
// sum of two. |e| is measured, not assumed: about 0.007 at 384 dimensions. `error` holds the term
// in brackets, rounded up, plus kRoundingSlack, which covers the float32 arithmetic of an estimate
// and the final rounding of the similarity itself. Compared with the same errors for all rows, a
// row with one large element does not spoil the others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/parallel.hpp"

namespace hippograph {

// Longer rows could overflow the 32-bit sums: 65,536 * 255 * 128 < 2^31.
inline constexpr std::int64_t kMaxDimension = 65'536;
// How far the squared length of a row may be from 1; n above is its root, rounded up.
inline constexpr double kSquaredLengthSlack = 1e-3;
inline constexpr double kLongestRow = 1.0006;
// Estimates are at most 4 in size (length 2 each, when an error is as large as its row) and take
// three roundings, the sums and comparisons around them four more: 7 * 4 * 2^-24 < 2 * 1e-6.
inline constexpr double kRoundingSlack = 1e-6;

// Float rows, borrowed: num_rows x dimension, unit length or all zero.
struct FloatRows {
    std::span<const float> values;
    std::int64_t num_rows = 0;
    std::int64_t dimension = 0;

    [[nodiscard]] const float* row(std::int64_t i) const noexcept {
        return values.data() + i * dimension;
    }
};

// The same rows as bytes, borrowed. A scale of 0 (or one that is not a positive number: the arrays
// may come from a damaged file) marks a row that is like nothing.
struct Int8Rows {
    std::span<const std::int8_t> codes;  // num_rows x dimension
    std::span<const float> scales;       // num_rows
    std::span<const float> errors;       // num_rows
};

struct Int8Arrays {
    std::vector<std::int8_t> codes;
    std::vector<float> scales;
    std::vector<float> errors;

    [[nodiscard]] Int8Rows view() const noexcept { return {codes, scales, errors}; }
};

// Throws std::invalid_argument when sizes do not fit together or the dimension is out of range.
void check_shape(const FloatRows& rows);

// Throws std::invalid_argument as check_shape does, and for the first row whose length is neither 1
// nor 0 or that holds NaN.
[[nodiscard]] Int8Arrays quantize_rows(const FloatRows& rows, int num_threads,
                                       const CheckInterrupt& check_interrupt);

}  // namespace hippograph
