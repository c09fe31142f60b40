// Graphs for the C++ tests.
#pragma once

#include <algorithm>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/graph_builder.hpp"

namespace hippograph::testing {

// 0 - 1 - ... - (num_nodes - 1), unit weights, followed by one isolated node.
inline CsrMatrix path_and_isolated_node(NodeId num_nodes) {
    std::vector<EdgeOffset> offsets{0};
    std::vector<NodeId> columns;
    for (NodeId node = 0; node < num_nodes; ++node) {
        if (node > 0) columns.push_back(node - 1);
        if (node + 1 < num_nodes) columns.push_back(node + 1);
        offsets.push_back(std::ssize(columns));
    }
    offsets.push_back(std::ssize(columns));
    std::vector<Weight> values(columns.size(), 1.0F);
    return {std::move(offsets), std::move(columns), std::move(values), num_nodes + 1};
}

// Pseudo-random, with a hub at 0 and rows of many lengths; large enough that its rows are divided
// among threads.
inline CsrMatrix large_graph() {
    constexpr NodeId kNodes = 40'000;
    constexpr std::size_t kPairs = 300'000;
    std::vector<NodeId> heads;
    std::vector<NodeId> tails;
    std::uint32_t state = 12345;
    const auto next = [&] {
        state = state * 1664525U + 1013904223U;
        return static_cast<NodeId>((state >> 8U) % static_cast<std::uint32_t>(kNodes));
    };
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
        heads.push_back(pair % 10 == 0 ? 0 : std::min(next(), next()));
        tails.push_back(next());
    }
    EdgeTable table =
        build_edge_table(kNodes, {.rows = heads, .columns = tails, .weights = {}}, {}, {});
    return {std::move(table.offsets), std::move(table.columns), std::move(table.relation), kNodes};
}

}  // namespace hippograph::testing
