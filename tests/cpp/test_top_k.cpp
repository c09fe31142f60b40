#include <limits>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "hippograph/top_k.hpp"

namespace hippograph::testing {

namespace {

std::vector<PassageId> best(const std::vector<Score>& scores, std::size_t k, TieOrder ties) {
    std::vector<PassageId> ids(k);
    std::vector<Score> values(k);
    top_k(scores, ties, ids, values);
    for (std::size_t rank = 0; rank < k; ++rank) {
        if (values[rank] != scores[position(ids[rank])]) return {};
    }
    return ids;
}

}  // namespace

void test_top_k(Checks& check) {
    using Ids = std::vector<PassageId>;
    const std::vector<Score> scores{0.5, 2.0, 0.5, 1.0, 0.5, 0.0};
    check.that(best(scores, 4, TieOrder::ascending) == Ids{1, 3, 0, 2}, "ties by rising id");
    check.that(best(scores, 4, TieOrder::descending) == Ids{1, 3, 4, 2}, "ties by falling id");
    check.that(best(scores, 6, TieOrder::ascending) == Ids{1, 3, 0, 2, 4, 5}, "all of them");
    check.that(best(scores, 0, TieOrder::ascending).empty(), "none of them");
    check.that(best({}, 0, TieOrder::ascending).empty(), "no scores at all");
    const std::vector<Score> equal(1000, 0.25);
    check.that(best(equal, 3, TieOrder::ascending) == Ids{0, 1, 2}, "many ties, rising");
    check.that(best(equal, 3, TieOrder::descending) == Ids{999, 998, 997}, "many ties, falling");
    check.throws<std::invalid_argument>([&] { (void)best(scores, 7, TieOrder::ascending); },
                                        "k is 7 but there are only 6");
    const std::vector<Score> broken{1.0, std::numeric_limits<Score>::quiet_NaN()};
    check.throws<std::invalid_argument>([&] { (void)best(broken, 1, TieOrder::ascending); },
                                        "scores[1] is NaN");
}

}  // namespace hippograph::testing
