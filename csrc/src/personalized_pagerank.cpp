#include "hippograph/personalized_pagerank.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "hippograph/ppr_solver.hpp"

namespace hippograph {

void check_options(const PprOptions& options) {
    if (!(options.restart_probability > 0.0 && options.restart_probability <= 1.0)) {
        throw std::invalid_argument("restart_probability is " +
                                    std::to_string(options.restart_probability) +
                                    "; it must be above 0 and at most 1");
    }
    if (!(options.tolerance > 0.0) || std::isinf(options.tolerance)) {
        throw std::invalid_argument("tolerance is " + std::to_string(options.tolerance) +
                                    "; it must be a finite number above 0");
    }
    if (options.max_iterations < 1) {
        throw std::invalid_argument("max_iterations is " + std::to_string(options.max_iterations) +
                                    "; it must be at least 1");
    }
    (void)resolve_num_threads(options.num_threads, 1);
}

PprResult personalized_pagerank(const Transition& transition,
                                std::span<const Score> personalization, std::int64_t num_queries,
                                const PprOptions& options, const CheckInterrupt& check) {
    const std::size_t num_nodes = position(transition.num_nodes());
    if (personalization.size() != position(num_queries) * num_nodes) {
        throw std::invalid_argument(
            "personalization has " + std::to_string(personalization.size()) + " entries, not " +
            std::to_string(num_queries) + " x " + std::to_string(num_nodes));
    }
    PprResult result;
    result.scores.resize(personalization.size());
    result.outcomes = PprOutcomes(num_queries);
    solve_batch(transition, num_queries, options, check,
                [&](PprSolver& solver, std::int64_t query, int, const CheckInterrupt& poll) {
                    const std::size_t begin = position(query) * num_nodes;
                    const PprOutcome outcome =
                        solver.solve(personalization.subspan(begin, num_nodes),
                                     std::span(result.scores).subspan(begin, num_nodes), poll);
                    result.outcomes.set(position(query), outcome);
                });
    return result;
}

void solve_batch(const Transition& transition, std::int64_t num_queries, const PprOptions& options,
                 const CheckInterrupt& check, const SolveOne& solve_one) {
    check_options(options);
    const int across_rows = PprSolver::threads_for_rows(transition, options.num_threads);
    int across = resolve_num_threads(options.num_threads, num_queries);
    PprOptions each = options;
    if (across >= across_rows) {
        each.num_threads = 1;
    } else {
        across = 1;
    }
    std::vector<std::optional<PprSolver>> solvers(position(across));
    const CheckInterrupt never;
    parallel_for(num_queries, across, [&](std::int64_t query, int worker) {
        auto& solver = solvers[position(worker)];
        if (!solver) solver.emplace(transition, each);
        solve_one(*solver, query, worker, worker == 0 ? check : never);
    });
}

}  // namespace hippograph
