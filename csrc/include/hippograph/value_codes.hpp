// Edge weights and occurrence counts as 8-bit codes into a book of 256 values.
//
// A graph of phrases has few distinct weights (counts are small integers) except for similarities,
// which lie close together. The book is the set of values that keeps the largest relative error
// smallest; isolated values, such as counts, are kept exactly. On real graphs the error is a few
// thousandths at most, and no ranking changes; four bytes then hold an edge, neighbour and weight.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "hippograph/types.hpp"

namespace hippograph {

inline constexpr std::size_t kNumCodes = 256;

struct CodeBook {
    std::array<float, kNumCodes> values{};  // rising; unused ones repeat the largest
    double relative_error = 0.0;            // of the worst value, |coded / value - 1|
};

// The book for these values, which are finite and not negative. Without values, a book of zeros.
[[nodiscard]] CodeBook make_code_book(std::span<const Weight> values);

// The code of the nearest value.
[[nodiscard]] std::uint8_t encode(const CodeBook& book, Weight value) noexcept;

}  // namespace hippograph
