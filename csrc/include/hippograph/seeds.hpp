// Checks of what a caller asks, shared by every kernel that ranks passages.
#pragma once

#include <cstdint>
#include <span>

#include "hippograph/rank_passages.hpp"
#include "hippograph/top_k.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// Throws std::invalid_argument when a query has no seed, a node twice or a weight not above 0;
// std::out_of_range for a node that is not in the graph. Work grows with the seeds alone.
void check_seeds(const SeedView& seeds, NodeId num_nodes);

// Throws std::invalid_argument unless k is in [1, num_passages].
void check_num_passages(PassageId k, PassageId num_passages);

// Throws std::invalid_argument unless there is one row per node and k is in [1, num_passages].
void check_read_out(const CsrView& occurrences, NodeId num_nodes, PassageId k);

// Fills passages[num_filled...] with passages that are not among the first num_filled, by id in the
// order of `ties`: what a ranking shows after the last passage that the walk reached.
void fill_with_others(std::span<PassageId> passages, std::size_t num_filled, TieOrder ties,
                      PassageId num_passages);

}  // namespace hippograph
