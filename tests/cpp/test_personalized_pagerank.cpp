#include <cmath>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "graphs.hpp"
#include "hippograph/personalized_pagerank.hpp"

namespace hippograph::testing {

namespace {

PprOptions options(double restart_probability, int num_threads) {
    return {.restart_probability = restart_probability,
            .tolerance = 1e-10,
            .max_iterations = 1000,
            .num_threads = num_threads};
}

// Two nodes and an edge, seed 0: x0 = r + (1 - r) x1 and x1 = (1 - r) x0 give x0 = 1 / (2 - r).
void closed_form(Checks& check) {
    const CsrMatrix pair = path_and_isolated_node(2);
    const Transition transition(pair);
    for (const double r : {0.15, 0.5, 0.85}) {
        const std::vector<Score> seed{1.0, 0.0, 0.0};
        const PprResult result = personalized_pagerank(transition, seed, 1, options(r, 1), {});
        check.that(std::abs(result.scores[0] - 1.0 / (2.0 - r)) < 1e-10, "score of the seed");
        check.that(std::abs(result.scores[1] - (1.0 - r) / (2.0 - r)) < 1e-10, "score beside it");
        check.that(result.scores[2] == 0.0, "unreachable means exactly 0");
        check.that(result.outcomes.converged[0] == 1, "it must converge");
    }
}

// The isolated node keeps r of its half, and the rest of the mass is shared in proportion.
void isolated_seed(Checks& check) {
    const CsrMatrix path = path_and_isolated_node(4);
    const Transition transition(path);
    const std::vector<Score> seeds{0.5, 0.0, 0.0, 0.0, 0.5};
    const PprResult result = personalized_pagerank(transition, seeds, 1, options(0.5, 1), {});
    check.that(std::abs(result.scores[4] - 1.0 / 3.0) < 1e-12, "a third, not a half");
}

// A solver serves one query after another: nothing of the first may show in the second.
void queries_do_not_affect_each_other(Checks& check) {
    const CsrMatrix path = path_and_isolated_node(3);
    const Transition transition(path);
    const std::vector<Score> rows{1, 0, 0, 0, /**/ 0, 0, 0, 1, /**/ 1, 0, 0, 1, /**/ 1, 0, 0, 0};
    const PprResult result = personalized_pagerank(transition, rows, 4, options(0.3, 1), {});
    check.that(result.scores[7] == 1.0 && result.scores[4] == 0.0, "all mass on the isolated seed");
    for (std::size_t node = 0; node < 4; ++node) {
        check.that(result.scores[node] == result.scores[12 + node], "equal queries, equal scores");
    }
}

void threads_do_not_change_a_bit(Checks& check) {
    const CsrMatrix graph = large_graph();
    const Transition transition(graph);
    std::vector<Score> seed(position(transition.num_nodes()), 0.0);
    seed[17] = 1.0;
    seed[123] = 2.0;
    const PprResult one = personalized_pagerank(transition, seed, 1, options(0.15, 1), {});
    for (const int num_threads : {2, 7}) {
        const PprResult many =
            personalized_pagerank(transition, seed, 1, options(0.15, num_threads), {});
        check.that(many.scores == one.scores, "scores must not depend on the number of threads");
        check.that(many.outcomes.error_bounds == one.outcomes.error_bounds, "nor the bound");
    }
}

void interruption_ends_the_work(Checks& check) {
    const CsrMatrix path = path_and_isolated_node(100);
    const Transition transition(path);
    std::vector<Score> seed(101, 0.0);
    seed[0] = 1.0;
    int polls = 0;
    const CheckInterrupt stop_at_third = [&] {
        if (++polls == 3) throw std::runtime_error("interrupted");
    };
    check.throws<std::runtime_error>(
        [&] { (void)personalized_pagerank(transition, seed, 1, options(0.05, 1), stop_at_third); },
        "interrupted");
    check.that(polls == 3, "no iteration may follow");
}

void refuses_bad_options(Checks& check) {
    const CsrMatrix path = path_and_isolated_node(2);
    const Transition transition(path);
    const std::vector<Score> seed{1.0, 0.0, 0.0};
    const auto solve = [&](PprOptions bad) {
        return [&, bad] { (void)personalized_pagerank(transition, seed, 1, bad, {}); };
    };
    using Invalid = std::invalid_argument;
    check.throws<Invalid>(solve(options(0.0, 1)), "restart_probability is 0");
    check.throws<Invalid>(solve(options(1.01, 1)), "restart_probability is 1.01");
    check.throws<Invalid>(solve(options(std::nan(""), 1)), "restart_probability is nan");
    check.throws<Invalid>(solve(options(0.5, -2)), "num_threads is -2");
    PprOptions bad = options(0.5, 1);
    bad.tolerance = 0.0;
    check.throws<Invalid>(solve(bad), "tolerance is 0");
    bad = options(0.5, 1);
    bad.max_iterations = 0;
    check.throws<Invalid>(solve(bad), "max_iterations is 0");
    const std::vector<Score> short_seed{1.0};
    check.throws<Invalid>(
        [&] { (void)personalized_pagerank(transition, short_seed, 1, options(0.5, 1), {}); },
        "personalization has 1 entries");
}

}  // namespace

void test_personalized_pagerank(Checks& check) {
    closed_form(check);
    isolated_seed(check);
    queries_do_not_affect_each_other(check);
    threads_do_not_change_a_bit(check);
    interruption_ends_the_work(check);
    refuses_bad_options(check);
}

}  // namespace hippograph::testing
