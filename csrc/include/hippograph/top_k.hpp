// The k best scores in order. Ties are common (all passages whose only reached node is the same
// hub), so their order is part of the result: by id, rising or falling.
#pragma once

#include <cstdint>
#include <span>

#include "hippograph/types.hpp"

namespace hippograph {

enum class TieOrder : std::uint8_t { ascending, descending };

// Fills `ids` and `best`, which have one length k <= scores.size(), best first.
// Throws std::invalid_argument when k is larger or a score is NaN.
void top_k(std::span<const Score> scores, TieOrder ties, std::span<PassageId> ids,
           std::span<Score> best);

}  // namespace hippograph
