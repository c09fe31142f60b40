#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "check.hpp"
#include "hippograph/csr_matrix.hpp"
#include "hippograph/mirror.hpp"
#include "hippograph/transition.hpp"

namespace hippograph::testing {

namespace {

using Offsets = std::vector<EdgeOffset>;
using Ids = std::vector<NodeId>;
using Weights = std::vector<Weight>;

void refuses_what_is_no_matrix(Checks& check) {
    const auto build = [](Offsets offsets, Ids columns, Weights values, NodeId num_columns) {
        return [=] { (void)CsrMatrix(offsets, columns, values, num_columns); };
    };
    using Invalid = std::invalid_argument;
    check.throws<Invalid>(build({}, {}, {}, 3), "offsets is empty");
    check.throws<Invalid>(build({1, 1}, {0}, {1}, 3), "starts at 1");
    check.throws<Invalid>(build({0, 2, 1}, {0}, {1}, 3), "falls after row 1");
    check.throws<Invalid>(build({0, 2}, {0}, {1}, 3), "ends at 2");
    check.throws<Invalid>(build({0, -5, 1}, {0}, {1}, 3), "falls after row 0");
    check.throws<std::out_of_range>(build({0, 1}, {3}, {1}, 3), "column 3, outside [0, 3)");
    check.throws<std::out_of_range>(build({0, 1}, {-1}, {1}, 3), "column -1");
    check.throws<Invalid>(build({0, 2}, {1, 0}, {1, 1}, 3), "must rise");
    check.throws<Invalid>(build({0, 2}, {1, 1}, {1, 1}, 3), "without duplicates");
    check.throws<Invalid>(build({0, 1}, {0}, {}, 3), "values has 0 entries");
    check.throws<Invalid>(build({0, 1}, {0}, {-1}, 3), "values[0] is -1");
    check.throws<Invalid>(build({0, 1}, {0}, {std::numeric_limits<Weight>::quiet_NaN()}, 3), "nan");
    check.throws<Invalid>(build({0, 1}, {0}, {std::numeric_limits<Weight>::infinity()}, 3), "inf");
    check.throws<Invalid>(build({0}, {}, {}, -1), "num_columns is -1");
}

void moving_keeps_the_view_right(Checks& check) {
    CsrMatrix first({0, 1, 2}, {1, 0}, {3, 3}, 2);
    const CsrMatrix second = std::move(first);
    check.that(second.view().columns[0] == 1 && second.view().values[1] == 3, "contents must move");
}

void borrowing_copies_nothing(Checks& check) {
    const Offsets offsets{0, 1, 2};
    const Ids columns{1, 0};
    const Weights values{2, 2};
    const CsrMatrix matrix(
        CsrView{.offsets = offsets, .columns = columns, .values = values, .num_columns = 2});
    check.that(matrix.view().columns.data() == columns.data(), "columns must be borrowed");
    check.that(matrix.view().values.data() == values.data(), "values must be borrowed");
}

void mirror_finds_partners(Checks& check) {
    // 0-1, 0-2, 2-3
    const Offsets offsets{0, 2, 3, 5, 6};
    const Ids columns{1, 2, 0, 0, 3, 2};
    std::vector<EdgeOffset> mirrors;
    for_each_mirrored(offsets, columns,
                      [&](NodeId, EdgeOffset, EdgeOffset mirror) { mirrors.push_back(mirror); });
    check.that(mirrors == std::vector<EdgeOffset>{2, 3, 0, 1, 5, 4}, "partners must be found");
}

void transition_refuses_asymmetry(Checks& check) {
    const auto transition = [](Offsets offsets, Ids columns, Weights values, NodeId num_columns) {
        return [=] { (void)Transition(CsrMatrix(offsets, columns, values, num_columns)); };
    };
    using Invalid = std::invalid_argument;
    check.throws<Invalid>(transition({0, 1}, {1}, {1}, 2), "must be square");
    check.throws<Invalid>(transition({0, 1, 1}, {1}, {1}, 2), "not symmetric near (0, 1)");
    check.throws<Invalid>(transition({0, 0, 1}, {0}, {1}, 2), "not symmetric near (1, 0)");
    check.throws<Invalid>(transition({0, 1, 2}, {1, 0}, {1, 2}, 2), "another weight");
    // Each row has an entry, but no two agree: a cycle 0 -> 1 -> 2 -> 0.
    check.throws<Invalid>(transition({0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1}, 3), "not symmetric");
}

void transition_orders_rows_by_length(Checks& check) {
    // Star around 3, beside an edge 0-1 and an isolated node 2; 4, 5, 6 are leaves.
    const CsrMatrix star({0, 1, 2, 2, 5, 6, 7, 8}, {1, 0, 4, 5, 6, 3, 3, 3},
                         {2, 2, 1, 1, 1, 1, 1, 1}, 7);
    const Transition transition(star);
    check.that(transition.nodes()[0] == 3, "the hub must come first");
    check.that(transition.nodes()[6] == 2, "the isolated node must come last");
    check.that(transition.num_longer(0) == 6 && transition.num_longer(1) == 1 &&
                   transition.num_longer(2) == 1 && transition.num_longer(3) == 0,
               "row lengths must be counted");
    check.that(transition.degrees_by_node() == std::vector<Score>{2, 2, 0, 3, 1, 1, 1},
               "degrees must be by node");
    check.that(transition.num_dangling() == 1, "node 2 is dangling");
    check.that(transition.block_begins().back() == 6, "blocks must cover rows with entries only");
    for (std::size_t node = 0; node < 7; ++node) {
        check.that(position(transition.nodes()[position(transition.ranks()[node])]) == node,
                   "ranks and nodes must be inverse");
    }
}

}  // namespace

void test_csr_matrix(Checks& check) {
    refuses_what_is_no_matrix(check);
    moving_keeps_the_view_right(check);
    borrowing_copies_nothing(check);
    mirror_finds_partners(check);
    transition_refuses_asymmetry(check);
    transition_orders_rows_by_length(check);
}

}  // namespace hippograph::testing
