#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "hippograph/nearest_rows.hpp"
#include "hippograph/neighbor_join.hpp"
#include "hippograph/simd.hpp"
#include "hippograph/similarity.hpp"

namespace hippograph::testing {

namespace {

struct Rows {
    std::vector<float> values;
    std::int64_t num_rows;
    std::int64_t dimension;

    [[nodiscard]] FloatRows view() const {
        return {.values = values, .num_rows = num_rows, .dimension = dimension};
    }
};

// Unit rows around a few centres; every 11th is zero, every 7th a copy of the one before.
Rows make_rows(std::int64_t num_rows, std::int64_t dimension, std::uint32_t seed) {
    Rows rows{.values = std::vector<float>(position(num_rows * dimension)),
              .num_rows = num_rows,
              .dimension = dimension};
    std::uint32_t state = seed;
    const auto next = [&state] {
        state = state * 1664525U + 1013904223U;
        return static_cast<float>(state >> 8U) / 8388608.0F - 1.0F;
    };
    for (std::int64_t i = 0; i < num_rows; ++i) {
        float* const row = rows.values.data() + i * dimension;
        if (i % 11 == 5) continue;
        if (i % 7 == 3) {
            std::copy_n(row - dimension, dimension, row);
            continue;
        }
        double squared = 0.0;
        for (std::int64_t d = 0; d < dimension; ++d) {
            row[d] = (d % 4 == i % 4 ? 2.0F : 0.0F) + next();
            squared += double{row[d]} * double{row[d]};
        }
        const double length = std::sqrt(squared);
        for (std::int64_t d = 0; d < dimension; ++d) {
            row[d] = static_cast<float>(double{row[d]} / length);
        }
    }
    return rows;
}

bool is_zero(const Rows& rows, std::int64_t i) {
    const float* const row = rows.view().row(i);
    return std::all_of(row, row + rows.dimension, [](float value) { return value == 0.0F; });
}

NeighborPairs expected_pairs(const Rows& rows, float floor, std::size_t longest) {
    const Similarity similarity = similarity_function();
    NeighborPairs pairs;
    for (NodeId i = 0; i < rows.num_rows; ++i) {
        std::vector<Neighbor> list;
        for (NodeId j = 0; j < rows.num_rows; ++j) {
            if (i == j || is_zero(rows, i) || is_zero(rows, j)) continue;
            const float found = similarity(rows.view().row(i), rows.view().row(j), rows.dimension);
            if (found >= floor) list.push_back({found, j});
        }
        std::sort(list.begin(), list.end());
        list.resize(std::min(list.size(), longest));
        for (const Neighbor& neighbor : list) {
            pairs.rows.push_back(i);
            pairs.columns.push_back(neighbor.id);
            pairs.similarities.push_back(neighbor.similarity);
        }
    }
    return pairs;
}

NeighborPairs joined(const Rows& rows, const JoinOptions& options) {
    NeighborJoin join(rows.view(), {}, {}, options, [] {});
    while (join.num_done() < join.num_searched()) join.advance([] {});
    join.advance([] {});  // nothing is left: no effect
    return join.finish();
}

void check_lists(Checks& check) {
    for (const std::int64_t dimension : {1, 3, 17, 64, 130}) {
        const Rows rows = make_rows(333, dimension, 7);
        for (const std::int32_t longest : {2, 1000}) {
            const JoinOptions options{.floor = 0.6F, .max_neighbors = longest, .num_threads = 3};
            const NeighborPairs found = joined(rows, options);
            const NeighborPairs expected = expected_pairs(rows, 0.6F, position(longest));
            check.that(!found.rows.empty(), "there are pairs");
            check.that(found.rows == expected.rows && found.columns == expected.columns &&
                           found.similarities == expected.similarities,
                       "lists of dimension " + std::to_string(dimension));
        }
    }
}

// Several steps, merged by one thread while others have written: for the thread sanitizer.
void check_many_rows(Checks& check) {
    const Rows rows = make_rows(6500, 5, 11);
    const NeighborPairs one = joined(rows, {.floor = 0.99F, .max_neighbors = 3, .num_threads = 1});
    const NeighborPairs four = joined(rows, {.floor = 0.99F, .max_neighbors = 3, .num_threads = 4});
    check.that(one.columns == four.columns && one.similarities == four.similarities,
               "threads change nothing");
}

void check_nearest(Checks& check) {
    for (const std::int64_t dimension : {1, 31, 64, 131}) {
        const Rows rows = make_rows(600, dimension, 3);
        const Rows queries = make_rows(40, dimension, 5);
        const Int8Arrays codes = quantize_rows(rows.view(), 2, [] {});
        const NearestRows found =
            nearest_rows(rows.view(), codes.view(), queries.view(), 4, 3, [] {});
        const Similarity similarity = similarity_function();
        for (std::int64_t q = 0; q < queries.num_rows; ++q) {
            std::vector<Neighbor> all;
            for (NodeId i = 0; i < rows.num_rows && !is_zero(queries, q); ++i) {
                if (is_zero(rows, i)) continue;
                all.push_back(
                    {similarity(queries.view().row(q), rows.view().row(i), dimension), i});
            }
            std::sort(all.begin(), all.end());
            all.resize(std::min<std::size_t>(all.size(), 4));
            bool same = position(found.num_found[position(q)]) == all.size();
            for (std::size_t place = 0; place < all.size(); ++place) {
                same = same && found.ids[position(q) * 4 + place] == all[place].id;
            }
            check.that(same, "nearest rows of dimension " + std::to_string(dimension));
        }
    }
}

void check_damaged_codes(Checks& check) {
    const Rows rows = make_rows(500, 37, 3);
    Int8Arrays codes = quantize_rows(rows.view(), 1, [] {});
    std::fill(codes.codes.begin(), codes.codes.end(), std::int8_t{-128});
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t i = 0; i < codes.scales.size(); ++i) {
        codes.scales[i] = i % 3 == 0 ? nan : (i % 3 == 1 ? infinity : -1.0F);
        codes.errors[i] = i % 2 == 0 ? nan : -infinity;
    }
    const NearestRows found = nearest_rows(rows.view(), codes.view(), rows.view(), 5, 2, [] {});
    check.that(std::ranges::all_of(found.ids, [](NodeId id) { return id >= -1 && id < 500; }),
               "ids stay in range");
}

void check_errors(Checks& check) {
    Rows rows = make_rows(70, 6, 1);
    const JoinOptions options{.floor = 0.5F, .max_neighbors = 2, .num_threads = 1};
    check.throws<std::invalid_argument>(
        [&] {
            const std::vector<std::uint8_t> flags(3);
            NeighborJoin join(rows.view(), flags, {}, options, [] {});
        },
        "listed has 3 entries for 70 rows");
    const Int8Arrays codes = quantize_rows(rows.view(), 1, [] {});
    check.throws<std::invalid_argument>(
        [&] { (void)nearest_rows(rows.view(), codes.view(), rows.view(), 71, 1, [] {}); },
        "k is 71; it must be between 1 and 70");
    FloatRows wrong = rows.view();
    wrong.dimension = 7;
    check.throws<std::invalid_argument>([&] { (void)quantize_rows(wrong, 1, [] {}); },
                                        "420 values for 70 rows of 7");
    wrong.num_rows = -1;
    check.throws<std::invalid_argument>([&] { (void)quantize_rows(wrong, 1, [] {}); },
                                        "there are -1 rows");
    check.throws<std::runtime_error>(
        [&] {
            NeighborJoin join(rows.view(), {}, {}, options, [] {});
            join.advance([] { throw std::runtime_error("interrupted"); });
        },
        "interrupted");
    const std::vector<NodeId> inside{0, 69};
    const std::vector<NodeId> outside{0, 70};
    check.that(pair_similarities(rows.view(), inside, inside, 2, [] {})[0] > 0.999F,
               "a row is like itself");
    check.throws<std::invalid_argument>(
        [&] { (void)pair_similarities(rows.view(), inside, outside, 1, [] {}); },
        "second[1] is 70, but there are 70 rows");
    rows.values[8] = 3.0F;
    check.throws<std::invalid_argument>([&] { (void)quantize_rows(rows.view(), 1, [] {}); },
                                        "row 1 has the squared length");
}

}  // namespace

void test_neighbors(Checks& check) {
    for (const SimdLevel level : {SimdLevel::plain, SimdLevel::avx2, SimdLevel::avx512}) {
        const SimdLevel before = limit_simd_level(level);
        check_lists(check);
        check_many_rows(check);
        check_nearest(check);
        check_damaged_codes(check);
        check_errors(check);
        limit_simd_level(before);
    }
}

}  // namespace hippograph::testing
