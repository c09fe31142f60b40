// The inner product of one sparse row with a dense vector, in double.
//
// Rows are mostly very short: a plain loop is fastest there (gathers do not pay without wide
// vectors). Long rows, the hubs, are summed in blocks of four interleaved chains, which is faster
// and bounds the rounding error: it grows with the longest chain of additions, not with the row.
#pragma once

#include <algorithm>
#include <span>

#include "hippograph/types.hpp"

namespace hippograph {

inline constexpr EdgeOffset kShortRow = 32;
inline constexpr EdgeOffset kRowSumBlock = 256;

// Longest chain of additions that row_sum does for a row of this many entries.
[[nodiscard]] constexpr EdgeOffset row_sum_depth(EdgeOffset num_entries) noexcept {
    if (num_entries <= kShortRow) return num_entries;
    const EdgeOffset in_block = std::min(num_entries, kRowSumBlock);
    return in_block / 4 + 3 + 2 + (num_entries + kRowSumBlock - 1) / kRowSumBlock;
}

template <typename Term>
[[nodiscard]] Score blocked_sum(EdgeOffset begin, EdgeOffset end, Term&& term) noexcept {
    Score total = 0.0;
    for (EdgeOffset block = begin; block < end; block += kRowSumBlock) {
        const EdgeOffset stop = std::min(end, block + kRowSumBlock);
        Score chains[4] = {0.0, 0.0, 0.0, 0.0};
        EdgeOffset entry = block;
        for (; entry + 4 <= stop; entry += 4) {
            for (EdgeOffset lane = 0; lane < 4; ++lane) chains[lane] += term(entry + lane);
        }
        for (; entry < stop; ++entry) chains[0] += term(entry);
        total += (chains[0] + chains[1]) + (chains[2] + chains[3]);
    }
    return total;
}

// Sum of term(entry) over [begin, end).
template <typename Term>
[[nodiscard]] Score row_sum(EdgeOffset begin, EdgeOffset end, Term&& term) noexcept {
    if (end - begin > kShortRow) return blocked_sum(begin, end, term);
    Score total = 0.0;
    for (EdgeOffset entry = begin; entry < end; ++entry) total += term(entry);
    return total;
}

}  // namespace hippograph
