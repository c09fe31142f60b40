#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphs.hpp"
#include "hippograph/rank_passages.hpp"

namespace hippograph::testing {

namespace {

RankOptions options(PassageId k, int num_threads) {
    return {.k = k,
            .ties = TieOrder::ascending,
            .propagation = Propagation::pagerank,
            .ppr = {.restart_probability = 0.3,
                    .tolerance = 1e-8,
                    .max_iterations = 1000,
                    .num_threads = num_threads}};
}

// Node i occurs once in passage i mod num_passages.
CsrMatrix round_robin(NodeId num_nodes, NodeId num_passages) {
    std::vector<EdgeOffset> offsets{0};
    std::vector<NodeId> columns;
    for (NodeId node = 0; node < num_nodes; ++node) {
        columns.push_back(node % num_passages);
        offsets.push_back(std::ssize(columns));
    }
    std::vector<Weight> values(columns.size(), 1.0F);
    return {std::move(offsets), std::move(columns), std::move(values), num_passages};
}

void threads_do_not_change_a_bit(Checks& check) {
    const CsrMatrix graph = large_graph();
    const Transition transition(graph);
    const CsrMatrix occurrences = round_robin(transition.num_nodes(), 501);
    for (const std::int64_t num_queries : {1, 6}) {
        std::vector<EdgeOffset> offsets{0};
        std::vector<NodeId> nodes;
        for (NodeId query = 0; query < num_queries; ++query) {
            nodes.insert(nodes.end(), {query * 31, 1000 + query});
            offsets.push_back(std::ssize(nodes));
        }
        const std::vector<Score> weights(nodes.size(), 0.5);
        const SeedView seeds{.offsets = offsets, .nodes = nodes, .weights = weights};
        const auto one = rank_passages(transition, occurrences, seeds, options(10, 1), {});
        for (const int num_threads : {2, 7}) {
            const auto many =
                rank_passages(transition, occurrences, seeds, options(10, num_threads), {});
            check.that(many.passages == one.passages, "passages must not depend on threads");
            check.that(many.scores == one.scores, "scores must not depend on threads");
            check.that(many.num_reached == one.num_reached, "counts must not depend on threads");
        }
    }
}

void refuses_bad_seeds(Checks& check) {
    const CsrMatrix graph = path_and_isolated_node(3);
    const Transition transition(graph);
    const CsrMatrix occurrences = round_robin(4, 2);
    const auto rank = [&](std::vector<EdgeOffset> offsets, std::vector<NodeId> nodes,
                          std::vector<Score> weights) {
        return [&, offsets, nodes, weights] {
            const SeedView seeds{.offsets = offsets, .nodes = nodes, .weights = weights};
            (void)rank_passages(transition, occurrences, seeds, options(2, 1), {});
        };
    };
    using Invalid = std::invalid_argument;
    check.throws<Invalid>(rank({}, {}, {}), "must start at 0");
    check.throws<Invalid>(rank({0, 2}, {1}, {1.0}), "end at the number of seeds");
    check.throws<Invalid>(rank({0, 1, 1}, {1}, {1.0}), "query 1 has no seeds");
    check.throws<Invalid>(rank({0, 3, 1, 2}, {1, 2}, {1.0, 1.0}), "query 1 has no seeds");
    check.throws<std::out_of_range>(rank({0, 1}, {4}, {1.0}), "seed node 4, outside [0, 4)");
    check.throws<Invalid>(rank({0, 1}, {1}, {0.0}), "weights must be finite and above 0");
    check.throws<Invalid>(rank({0, 2}, {1, 1}, {1.0, 1.0}), "seed node 1 twice");
    check.throws<Invalid>(rank({0, 1}, {1}, {}), "each seed needs one");
}

void refuses_shapes_that_do_not_fit(Checks& check) {
    const CsrMatrix graph = path_and_isolated_node(3);
    const Transition transition(graph);
    const std::vector<EdgeOffset> offsets{0, 1};
    const std::vector<NodeId> nodes{0};
    const std::vector<Score> weights{1.0};
    const SeedView seeds{.offsets = offsets, .nodes = nodes, .weights = weights};
    const CsrMatrix narrow = round_robin(3, 2);
    const CsrMatrix fitting = round_robin(4, 2);
    check.throws<std::invalid_argument>(
        [&] { (void)rank_passages(transition, narrow, seeds, options(2, 1), {}); },
        "one row per node");
    for (const PassageId k : {-1, 0, 3}) {
        check.throws<std::invalid_argument>(
            [&] { (void)rank_passages(transition, fitting, seeds, options(k, 1), {}); },
            "must be between 1 and 2");
    }
}

}  // namespace

void test_rank_passages(Checks& check) {
    threads_do_not_change_a_bit(check);
    refuses_bad_seeds(check);
    refuses_shapes_that_do_not_fit(check);
}

}  // namespace hippograph::testing
