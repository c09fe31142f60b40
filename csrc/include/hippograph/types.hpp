// The number types of the core, named once. Ids are what SciPy uses for CSR columns; offsets are
// 64-bit because a graph may have more than 2^31 entries; sums are taken in double.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace hippograph {

using NodeId = std::int32_t;
using PassageId = std::int32_t;
using EdgeOffset = std::int64_t;
using Weight = float;
using Score = double;

// Array position of a checked, non-negative number: the one place where a sign is dropped.
[[nodiscard]] constexpr std::size_t position(std::integral auto value) noexcept {
    return static_cast<std::size_t>(value);
}

}  // namespace hippograph
