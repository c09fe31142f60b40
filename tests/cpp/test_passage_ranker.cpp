#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "check.hpp"
#include "hippograph/local_push.hpp"
#include "hippograph/passage_ranker.hpp"
#include "serving_graphs.hpp"

namespace hippograph::testing {

namespace {

constexpr NodeId kNodes = 1500;
constexpr PassageId kPassages = 700;

// Scores of all passages from the same push state, each summed over its whole row.
template <typename Word>
std::vector<double> all_scores(const LayoutView<Word>& layout, const LocalPush<Word>& push) {
    std::vector<double> scores(layout.num_passages(), 0.0);
    for (std::size_t passage = 0; passage < layout.num_passages(); ++passage) {
        const RowView<Word> row = layout.passage(passage);
        double& score = scores[position(layout.passage_ids[passage])];
        for (const auto& part : {row.first, row.second}) {
            for (const Word word : part) {
                score +=
                    double{push.settled(id_of(word))} * double{layout.count_values[code_of(word)]};
            }
        }
    }
    return scores;
}

void compare(Checks& check, std::span<const RankedPassage> best, const std::vector<double>& scores,
             std::size_t k) {
    constexpr double kRounding = 2e-5;  // relative: float sums in another order
    std::vector<double> sorted = scores;
    std::ranges::sort(sorted, std::greater{});
    const auto reached = static_cast<std::size_t>(
        std::ranges::count_if(scores, [](double score) { return score > 0.0; }));
    check.that(best.size() == std::min(k, reached), "k passages, or all that have a score");
    std::vector<PassageId> passages;
    for (std::size_t place = 0; place < best.size(); ++place) {
        const double score = scores[position(best[place].passage)];
        check.that(std::abs(double{best[place].score} - score) <= kRounding * score, "its score");
        check.that(score >= sorted[place] * (1.0 - kRounding), "none better is left out");
        passages.push_back(best[place].passage);
        if (place == 0) continue;
        check.that(best[place - 1].score >= best[place].score, "scores must fall");
    }
    std::ranges::sort(passages);
    check.that(std::ranges::adjacent_find(passages) == passages.end(), "each passage once");
}

template <typename Word>
void finds_what_brute_force_finds(Checks& check) {
    const ServingGraph graph = serving_graph(kNodes, kPassages);
    const LayoutArrays<Word> built = build_layout<Word>(graph.weights, graph.occurrences, 1);
    const LayoutView<Word> layout = built.view();
    check.that(layout.num_common >= 8, "the graph must have common nodes");
    LocalPush<Word> push(layout);
    PassageRanker<Word> ranker(layout);
    Dice dice(9);
    for (int query = 0; query < 60; ++query) {
        push.start(query % 2 == 0 ? 0.5F : 0.85F);
        const std::uint32_t num_seeds = 1 + dice.below(4);
        for (std::uint32_t seed = 0; seed < num_seeds; ++seed) {
            const std::uint32_t end = query % 5 == 0 ? 8U : std::uint32_t{kNodes};
            push.add_residual(dice.below(end), 1.0F / static_cast<float>(num_seeds));
        }
        const float threshold = query % 3 == 0 ? 1e-3F : 1e-5F;
        check.that(push.push_down_to(threshold, 1'000'000), "a million edges are enough");
        const auto scores = all_scores(layout, push);
        for (const std::size_t k : {std::size_t{1}, std::size_t{20}, std::size_t{kPassages}}) {
            for (const TieOrder ties : {TieOrder::ascending, TieOrder::descending}) {
                compare(check, ranker.rank(push, k, ties), scores, k);
            }
        }
    }
}

}  // namespace

void test_passage_ranker(Checks& check) {
    finds_what_brute_force_finds<std::uint32_t>(check);
    finds_what_brute_force_finds<std::uint64_t>(check);
}

}  // namespace hippograph::testing
