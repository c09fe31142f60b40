#include <cmath>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphs.hpp"
#include "hippograph/exact_columns.hpp"
#include "hippograph/exact_graph.hpp"
#include "hippograph/simd.hpp"

namespace hippograph::testing {

namespace {

PprOptions options(double restart_probability, int num_threads) {
    return {.restart_probability = restart_probability,
            .tolerance = 1e-6,
            .max_iterations = 1000,
            .num_threads = num_threads};
}

// Node i occurs in passage i / 4.
CsrMatrix four_nodes_a_passage(NodeId num_nodes) {
    std::vector<EdgeOffset> offsets{0};
    std::vector<NodeId> columns;
    for (NodeId node = 0; node < num_nodes; ++node) {
        columns.push_back(node / 4);
        offsets.push_back(std::ssize(columns));
    }
    std::vector<Weight> values(columns.size(), 1.0F);
    return {std::move(offsets), std::move(columns), std::move(values), (num_nodes + 3) / 4};
}

void buffers_are_zero_and_aligned(Checks& check) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{3'000'000}}) {
        LargeBuffer<float> buffer(size);
        const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
        check.that(address % 64 == 0, "at a cache line");
        check.that(size < 1'048'576 || address % (2U << 20U) == 0, "at a huge page");
        check.that(buffer[0] == 0.0F && buffer[size - 1] == 0.0F, "zeros");
        buffer[size - 1] = 1.0F;
        LargeBuffer<float> moved = std::move(buffer);
        check.that(moved[size - 1] == 1.0F && moved.size() == size, "moves");
        moved = LargeBuffer<float>();
        check.that(moved.size() == 0 && moved.num_bytes() == 0, "gives up its memory");
    }
}

void ranks_are_a_permutation_and_colours_have_no_edges(Checks& check) {
    const CsrMatrix graph = large_graph();
    const SellMatrix matrix(graph, {}, 2);
    std::size_t found = 0;
    for (std::size_t rank = 0; rank < matrix.nodes().size(); ++rank) {
        const NodeId node = matrix.nodes()[rank];
        if (node < 0) continue;
        ++found;
        check.that(position(matrix.ranks()[position(node)]) == rank, "ranks invert nodes");
    }
    check.that(found == position(matrix.num_nodes()), "every node has a rank");
    check.that(matrix.rows().num_long() > 0, "the hub is a long row");
    const CsrView& view = graph.view();
    for (const SellMatrix::Group& group : matrix.groups()) {
        if (!group.is_independent) continue;
        const Rank begin =
            static_cast<Rank>(16 * matrix.block_begins()[position(group.first_block)]);
        const Rank end = static_cast<Rank>(16 * matrix.block_begins()[position(group.last_block)]);
        bool has_edge = false;
        for (Rank rank = begin; rank < end; ++rank) {
            const NodeId node = matrix.nodes()[position(rank)];
            if (node < 0) continue;
            for (EdgeOffset entry = view.row_begin(node); entry < view.row_end(node); ++entry) {
                const Rank other = matrix.ranks()[position(view.columns[position(entry)])];
                has_edge |= other >= begin && other < end && other != rank;
            }
        }
        check.that(!has_edge, "rows of an independent group are not neighbours");
    }
}

std::vector<float> columns_of(const SellMatrix& matrix, double restart_probability,
                              int num_threads) {
    std::vector<NodeId> sources;
    for (NodeId node = 0; node < 20; ++node) sources.push_back(node);
    ColumnRows rows = column_rows(matrix, sources, options(restart_probability, num_threads), {});
    return std::move(rows.scores);
}

// Against the float64 solver, whose own test compares with closed forms.
void agrees_with_float64(Checks& check) {
    const CsrMatrix graph = large_graph();
    const CsrMatrix occurrences = four_nodes_a_passage(graph.view().num_rows());
    const ExactGraph exact(graph, occurrences, {}, 2);
    const std::vector<EdgeOffset> offsets{0, 2, 3};
    const std::vector<NodeId> nodes{17, 0, 4321};
    const std::vector<Score> weights{1.0, 2.0, 0.5};
    const SeedView seeds{.offsets = offsets, .nodes = nodes, .weights = weights};
    for (const double r : {0.15, 0.5, 0.85}) {
        const PprResult fast = exact.scores(seeds, Precision::float32, options(r, 2), nullptr, {});
        PprOptions tight = options(r, 2);
        tight.tolerance = 1e-11;
        const PprResult slow = exact.scores(seeds, Precision::float64, tight, nullptr, {});
        double error[2] = {0.0, 0.0};
        const std::size_t num_nodes = position(graph.view().num_rows());
        for (std::size_t place = 0; place < fast.scores.size(); ++place) {
            error[place / num_nodes] += std::abs(fast.scores[place] - slow.scores[place]);
        }
        for (std::size_t query = 0; query < 2; ++query) {
            check.that(error[query] <= fast.outcomes.error_bounds[query] + 1e-11, "bound holds");
            check.that(fast.outcomes.converged[query] == 1, "tolerance is met");
        }
    }
}

void threads_and_vectors_do_not_change_a_bit(Checks& check) {
    const CsrMatrix graph = large_graph();
    const SellMatrix matrix(graph, {}, 2);
    const std::vector<float> one = columns_of(matrix, 0.5, 1);
    for (const int num_threads : {2, 7}) {
        check.that(columns_of(matrix, 0.5, num_threads) == one, "threads");
    }
    const SimdLevel before = limit_simd_level(SimdLevel::plain);
    check.that(columns_of(matrix, 0.5, 2) == one, "plain");
    limit_simd_level(SimdLevel::avx512);
    (void)limit_simd_level(SimdLevel::avx2);
    check.that(columns_of(matrix, 0.5, 2) == one, "avx2");
    limit_simd_level(before);
}

void interruption_ends_the_work(Checks& check) {
    const CsrMatrix path = path_and_isolated_node(100);
    const SellMatrix matrix(path, {}, 1);
    const std::vector<NodeId> sources{3};
    int polls = 0;
    const CheckInterrupt stop_at_third = [&] {
        if (++polls == 3) throw std::runtime_error("interrupted");
    };
    check.throws<std::runtime_error>(
        [&] { (void)column_rows(matrix, sources, options(0.2, 1), stop_at_third); }, "interrupted");
    check.that(polls == 3, "no sweep may follow");
}

void an_empty_graph_is_a_graph(Checks& check) {
    const CsrMatrix none({0}, {}, {}, 0);
    const SellMatrix matrix(none, {}, 1);
    check.that(matrix.num_nodes() == 0 && matrix.num_ranks() == 0, "nothing");
    check.that(column_rows(matrix, {}, options(0.5, 1), {}).scores.empty(), "no columns");
}

}  // namespace

void test_exact_graph(Checks& check) {
    buffers_are_zero_and_aligned(check);
    ranks_are_a_permutation_and_colours_have_no_edges(check);
    agrees_with_float64(check);
    threads_and_vectors_do_not_change_a_bit(check);
    interruption_ends_the_work(check);
    an_empty_graph_is_a_graph(check);
}

}  // namespace hippograph::testing
