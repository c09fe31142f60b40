#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "hippograph/edge_weights.hpp"
#include "hippograph/graph_builder.hpp"

namespace hippograph::testing {

namespace {

void merges_pairs(Checks& check) {
    const std::vector<NodeId> heads{2, 0, 2, 1};
    const std::vector<NodeId> tails{0, 2, 1, 1};
    const std::vector<NodeId> rows{0, 0};
    const std::vector<NodeId> columns{1, 1};
    const std::vector<Weight> similarities{0.7F, 0.9F};
    const EdgeTable table =
        build_edge_table(3, {.rows = heads, .columns = tails, .weights = {}},
                         {.rows = rows, .columns = columns, .weights = similarities}, {});
    check.that(table.offsets == std::vector<EdgeOffset>{0, 2, 4, 6}, "offsets");
    check.that(table.columns == std::vector<NodeId>{1, 2, 0, 2, 0, 1}, "columns");
    check.that(table.relation == std::vector<Weight>{0, 2, 0, 1, 2, 1}, "relation counts add up");
    check.that(table.synonymy == std::vector<Weight>{0.9F, 0, 0, 0, 0, 0},
               "the largest similarity counts, in its own direction");
}

void refuses_bad_pairs(Checks& check) {
    const std::vector<NodeId> one{0};
    const std::vector<NodeId> outside{3};
    const std::vector<NodeId> none;
    const std::vector<Weight> negative{-1};
    const std::vector<Weight> huge{std::numeric_limits<Weight>::max()};
    const auto build = [](NodeId num_nodes, const PairList& relation) {
        return [=] { (void)build_edge_table(num_nodes, relation, {}, {}); };
    };
    check.throws<std::out_of_range>(build(3, {.rows = one, .columns = outside, .weights = {}}),
                                    "names node 3, outside [0, 3)");
    check.throws<std::invalid_argument>(build(3, {.rows = one, .columns = none, .weights = {}}),
                                        "each pair needs");
    check.throws<std::invalid_argument>(
        build(3, {.rows = one, .columns = one, .weights = negative}), "not negative");
    check.throws<std::invalid_argument>(build(-1, {}), "num_nodes is -1");

    const std::vector<NodeId> heads{0, 0};
    const std::vector<NodeId> tails{1, 1};
    const std::vector<Weight> twice{huge[0], huge[0]};
    check.throws<std::invalid_argument>(
        build(2, {.rows = heads, .columns = tails, .weights = twice}), "more than float32 holds");
}

void refuses_asymmetric_tables(Checks& check) {
    const std::vector<EdgeOffset> offsets{0, 1, 2};
    const std::vector<NodeId> columns{1, 0};
    const std::vector<Weight> uneven{1, 2};
    const std::vector<Weight> zero{0, 0};
    const WeightRule rule{
        .combination = EdgeCombination::sum, .use_synonymy = true, .synonymy_threshold = 0.8F};
    check.throws<std::invalid_argument>(
        [&] {
            (void)combine_weights({.offsets = offsets,
                                   .columns = columns,
                                   .relation = uneven,
                                   .synonymy = zero,
                                   .context = zero},
                                  rule);
        },
        "must be symmetric");
}

}  // namespace

void test_graph_builder(Checks& check) {
    merges_pairs(check);
    refuses_bad_pairs(check);
    refuses_asymmetric_tables(check);
}

}  // namespace hippograph::testing
