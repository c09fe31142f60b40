// A graph with hubs, common nodes, isolated nodes and small components, for the serving suites.
#pragma once

#include <cstdint>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/graph_builder.hpp"

namespace hippograph::testing {

// Pseudo-random numbers that are the same everywhere.
class Dice {
   public:
    explicit Dice(std::uint32_t seed) : state_(seed) {}
    std::uint32_t below(std::uint32_t end) {
        state_ = state_ * 1664525U + 1013904223U;
        return (state_ >> 8U) % end;
    }

   private:
    std::uint32_t state_;
};

struct ServingGraph {
    CsrMatrix weights;
    CsrMatrix occurrences;
};

inline CsrMatrix edges_of(NodeId num_nodes, Dice& dice) {
    const auto end = static_cast<std::uint32_t>(num_nodes) - 10;  // ten stay isolated
    std::vector<NodeId> heads;
    std::vector<NodeId> tails;
    for (std::uint32_t pair = 0; pair < 6 * end; ++pair) {
        const std::uint32_t head = pair % 5 == 0 ? dice.below(4) : dice.below(end);
        heads.push_back(static_cast<NodeId>(head));
        tails.push_back(
            static_cast<NodeId>((head + 1 + dice.below(pair % 3 == 0 ? end : 20)) % end));
    }
    EdgeTable table =
        build_edge_table(num_nodes, {.rows = heads, .columns = tails, .weights = {}}, {}, {});
    return {std::move(table.offsets), std::move(table.columns), std::move(table.relation),
            num_nodes};
}

inline CsrMatrix occurrences_of(NodeId num_nodes, PassageId num_passages, Dice& dice) {
    std::vector<EdgeOffset> offsets{0};
    std::vector<PassageId> columns;
    std::vector<Weight> values;
    for (NodeId node = 0; node < num_nodes; ++node) {
        const std::uint32_t one_in = node < 8 ? 3 : 120;
        for (PassageId passage = 0; passage < num_passages; ++passage) {
            if (dice.below(one_in) != 0) continue;
            columns.push_back(passage);
            values.push_back(static_cast<Weight>(1 + dice.below(3)));
        }
        offsets.push_back(std::ssize(columns));
    }
    return {std::move(offsets), std::move(columns), std::move(values), num_passages};
}

inline ServingGraph serving_graph(NodeId num_nodes, PassageId num_passages) {
    Dice dice(77);
    CsrMatrix weights = edges_of(num_nodes, dice);
    CsrMatrix occurrences = occurrences_of(num_nodes, num_passages, dice);
    return {std::move(weights), std::move(occurrences)};
}

}  // namespace hippograph::testing
