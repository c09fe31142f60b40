// Personalized PageRank of many single nodes, sixteen at a time: one pass over the graph serves
// sixteen vectors, whose numbers for a node lie in one cache line, so nothing is gathered. For hub
// sketches and whole columns of the PageRank matrix. Method and proof: exact_solver.hpp.
//
//   PprOutcomes outcomes = solve_columns(matrix, hubs, options, [&](const ColumnBlock& block) {
//       for (NodeId node = 0; node < num_nodes; ++node)
//           for (std::size_t i = 0; i < block.count; ++i)
//               use(node, block.first + i, block.score(node, i));   // hubs[block.first + i]
//   }, check);
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "hippograph/parallel.hpp"
#include "hippograph/personalized_pagerank.hpp"
#include "hippograph/sell_matrix.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// Scores for the sources [first, first + count), valid during the call of the sink.
struct ColumnBlock {
    std::size_t first;
    std::size_t count;              // at most kLanes
    std::span<const float> scores;  // kLanes a rank
    std::span<const Rank> ranks;    // by node

    // Score of a node for source first + column.
    [[nodiscard]] float score(NodeId node, std::size_t column) const noexcept {
        return scores[position(ranks[position(node)]) * kLanes + column];
    }
};

// Called with the blocks in order, from the calling thread.
using ColumnSink = std::function<void(const ColumnBlock& block)>;

// Outcomes by source. options.num_threads divides the rows of the graph. Holds 64 bytes a node.
// Throws std::out_of_range for a source that is not in the graph.
PprOutcomes solve_columns(const SellMatrix& matrix, std::span<const NodeId> sources,
                          const PprOptions& options, const ColumnSink& sink,
                          const CheckInterrupt& check);

struct ColumnRows {
    std::vector<float> scores;  // a row of num_nodes per source, in node order
    PprOutcomes outcomes;
};

// The same, all kept.
[[nodiscard]] ColumnRows column_rows(const SellMatrix& matrix, std::span<const NodeId> sources,
                                     const PprOptions& options, const CheckInterrupt& check);

}  // namespace hippograph
