// Lists of node pairs -> one canonical graph: symmetric structure, rows sorted by column,
// duplicates merged, self-loops dropped. Relation counts, similarities and context weights of a
// pair stay apart, so that the threshold and the weighting can change without building again.
#pragma once

#include <span>
#include <vector>

#include "hippograph/types.hpp"

namespace hippograph {

// Pair i joins rows[i] and columns[i] with weights[i]; no weights means 1 each.
struct PairList {
    std::span<const NodeId> rows;
    std::span<const NodeId> columns;
    std::span<const Weight> weights;
};

// Entry (a, b) of each array speaks of the ordered pair; (a, b) is there exactly when (b, a) is.
struct EdgeTable {
    std::vector<EdgeOffset> offsets;
    std::vector<NodeId> columns;
    std::vector<Weight> relation;  // symmetric
    std::vector<Weight> synonymy;  // similarity with which a's search found b; 0 when it did not
    std::vector<Weight> context;   // symmetric
};

// `relation` and `context` are undirected, duplicates add up; `synonymy` is directed (row found
// column), of duplicates the largest counts. Weights of 0, and similarities not above 0, make no
// edge. Throws std::out_of_range for a node outside [0, num_nodes) and std::invalid_argument for
// lists of different lengths, non-finite numbers and negative weights.
[[nodiscard]] EdgeTable build_edge_table(NodeId num_nodes, const PairList& relation,
                                         const PairList& synonymy, const PairList& context);

}  // namespace hippograph
