// An order of the nodes in which a walk from a few seeds stays close by: communities found by label
// propagation, each laid out breadth first, next to the communities it borders on. A query then
// touches fewer cache lines and pages: 1.4 times faster at eight million nodes, no difference where
// everything fits the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// All nodes but those in `apart` (which are passed over and join no community), in order.
// Deterministic; linear in the number of entries. `is_apart` has one byte per node.
[[nodiscard]] std::vector<NodeId> community_order(const CsrView& weights,
                                                  std::span<const std::uint8_t> is_apart);

}  // namespace hippograph
