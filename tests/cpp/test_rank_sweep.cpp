#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "hippograph/chebyshev_series.hpp"
#include "hippograph/graph_builder.hpp"
#include "hippograph/rank_sweep.hpp"
#include "hippograph/simd.hpp"

namespace hippograph::testing {

namespace {

constexpr NodeId kNodes = 2'000;
constexpr NodeId kPassages = 301;

// Relations and synonyms at random, some on the same pairs; a hub at 0; the last node isolated.
EdgeTable random_table() {
    std::vector<NodeId> heads;
    std::vector<NodeId> tails;
    std::vector<Weight> similarities;
    std::uint32_t state = 7;
    const auto next = [&](std::uint32_t below) {
        state = state * 1664525U + 1013904223U;
        return (state >> 8U) % below;
    };
    for (int pair = 0; pair < 9'000; ++pair) {
        heads.push_back(pair % 9 == 0 ? 0 : static_cast<NodeId>(next(kNodes - 1)));
        tails.push_back(static_cast<NodeId>(next(kNodes - 1)));
        similarities.push_back(0.7F + 0.001F * static_cast<Weight>(next(300)));
    }
    const PairList relation{.rows = std::span(heads).first(6'000),
                            .columns = std::span(tails).first(6'000),
                            .weights = {}};
    const PairList synonymy{.rows = std::span(heads).last(5'000),
                            .columns = std::span(tails).last(5'000),
                            .weights = std::span(similarities).last(5'000)};
    return build_edge_table(kNodes, relation, synonymy, {});
}

EdgeTableView view_of(const EdgeTable& table) {
    return {.offsets = table.offsets,
            .columns = table.columns,
            .relation = table.relation,
            .synonymy = table.synonymy,
            .context = table.context};
}

CsrMatrix occurrences_of_each_node() {
    std::vector<EdgeOffset> offsets{0};
    std::vector<NodeId> columns;
    for (NodeId node = 0; node < kNodes; ++node) {
        columns.push_back(node % kPassages);
        offsets.push_back(std::ssize(columns));
    }
    std::vector<Weight> values(columns.size(), 1.0F);
    return {std::move(offsets), std::move(columns), std::move(values), kPassages};
}

// Each query has two seeds; the last starts at the isolated node alone.
struct Seeds {
    explicit Seeds(NodeId num_queries) {
        for (NodeId query = 0; query + 1 < num_queries; ++query) {
            nodes.insert(nodes.end(), {query, kNodes - 2 - query});
            offsets.push_back(std::ssize(nodes));
        }
        nodes.push_back(kNodes - 1);
        offsets.push_back(std::ssize(nodes));
        weights.assign(nodes.size(), 0.25);
    }
    [[nodiscard]] SeedView view() const {
        return {.offsets = offsets, .nodes = nodes, .weights = weights};
    }
    std::vector<EdgeOffset> offsets{0};
    std::vector<NodeId> nodes;
    std::vector<Score> weights;
};

SweepOptions options(Precision precision, int num_threads) {
    return {.k = 7,
            .ties = TieOrder::ascending,
            .precision = precision,
            .tolerance = 1e-6,
            .max_terms = 1'000,
            .num_threads = num_threads};
}

void threads_and_vectors_do_not_change_a_bit(Checks& check) {
    const EdgeTable table = random_table();
    const CsrMatrix occurrences = occurrences_of_each_node();
    const SweepGraph graph(view_of(table), occurrences, EdgeCombination::overwrite);
    const Seeds seeds(45);
    const std::vector<double> restarts{0.5, 0.1, 1.0};
    const std::vector<Threshold> thresholds{0.8F, std::numeric_limits<Threshold>::infinity()};
    for (const Precision precision : {Precision::float32, Precision::float64}) {
        const auto run = [&](int num_threads) {
            return rank_sweep(graph, seeds.view(), restarts, thresholds,
                              options(precision, num_threads), {});
        };
        const SweepRanking one = run(1);
        for (const SimdLevel level : {SimdLevel::plain, SimdLevel::avx2, SimdLevel::avx512}) {
            const SimdLevel before = limit_simd_level(level);
            for (const int num_threads : {2, 7}) {
                const SweepRanking many = run(num_threads);
                check.that(many.passages == one.passages, "passages must not change");
                check.that(many.scores == one.scores, "scores must not change");
                check.that(many.error_bounds == one.error_bounds, "bounds must not change");
            }
            limit_simd_level(before);
        }
    }
}

void an_interruption_ends_the_work(Checks& check) {
    const EdgeTable table = random_table();
    const CsrMatrix occurrences = occurrences_of_each_node();
    const SweepGraph graph(view_of(table), occurrences, EdgeCombination::sum);
    const Seeds seeds(60);
    const std::vector<double> restarts{0.05};
    const std::vector<Threshold> thresholds{0.8F};
    for (const int num_threads : {1, 2}) {
        int calls = 0;
        const CheckInterrupt interrupt = [&] {
            if (++calls == 3) throw std::runtime_error("interrupted");
        };
        check.throws<std::runtime_error>(
            [&] {
                (void)rank_sweep(graph, seeds.view(), restarts, thresholds,
                                 options(Precision::float32, num_threads), interrupt);
            },
            "interrupted");
    }
}

void a_graph_without_nodes_or_edges(Checks& check) {
    const EdgeTable nothing = build_edge_table(0, {}, {}, {});
    const CsrMatrix no_rows({0}, {}, {}, 3);
    const SweepGraph empty(view_of(nothing), no_rows, EdgeCombination::max);
    check.that(empty.weights_at(0.5F).offsets == std::vector<EdgeOffset>{0}, "no rows");
    const std::vector<EdgeOffset> offsets{0};
    SweepOptions few = options(Precision::float32, 2);
    few.k = 2;
    const SweepRanking ranking =
        rank_sweep(empty, {.offsets = offsets, .nodes = {}, .weights = {}}, std::vector{0.5},
                   std::vector<Threshold>{0.8F}, few, {});
    check.that(ranking.passages.empty(), "no queries, no passages");
}

// The series against its closed form: P = 1 on one component gives T_k = 1, and the sum is 1.
void coefficients_sum_to_one(Checks& check) {
    for (const double restart : {1e-3, 0.05, 0.5, 0.85, 1.0}) {
        const ChebyshevSeries series(restart);
        double sum = series.first();
        double coefficient = 2.0 * series.first();
        for (int term = 1; term < 3'000; ++term) sum += coefficient *= series.ratio();
        check.that(std::abs(sum - 1.0) < 1e-12, "coefficients must sum to 1");
        check.that(std::abs(series.tail_bound(2.0 * series.first(), 1.0, 1.0)) >=
                       1.0 - series.first() - 1e-12,
                   "what T_0 alone leaves out must be within its bound");
    }
    for (const double restart : {0.0, -0.5, 1.1, std::nan("")}) {
        check.throws<std::invalid_argument>([&] { (void)ChebyshevSeries(restart); },
                                            "above 0 and at most 1");
    }
}

}  // namespace

void test_rank_sweep(Checks& check) {
    threads_and_vectors_do_not_change_a_bit(check);
    an_interruption_ends_the_work(check);
    a_graph_without_nodes_or_edges(check);
    coefficients_sum_to_one(check);
}

}  // namespace hippograph::testing
