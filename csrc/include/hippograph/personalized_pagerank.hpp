// Personalized PageRank (paper, online retrieval: n' from n), exact to a proven bound.
//
//   x = (1 - r) W D^-1 x + r v,   v = personalization / sum,   r = restart_probability,
//
// where the mass that would die at dangling nodes returns to v. A node is dangling here only if it
// is isolated, so this is the plain fixed point on the rest, rescaled in closed form.
//
// Method and proof of the bound: ppr_solver.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hippograph/parallel.hpp"
#include "hippograph/transition.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

struct PprOptions {
    double restart_probability;   // in (0, 1]
    double tolerance;             // > 0, wanted bound on |x - x*|_1
    std::int32_t max_iterations;  // >= 1, multiplications by W
    int num_threads;              // 0 = one per processor
};

struct PprOutcome {
    std::int32_t iterations;  // multiplications by W; 0 when the answer was immediate
    double error_bound;       // proven: |x - x*|_1 is at most this
    bool converged;           // error_bound <= tolerance
};

// Outcomes of a batch, one array per field.
struct PprOutcomes {
    explicit PprOutcomes(std::int64_t num_queries = 0)
        : iterations(position(num_queries)),
          error_bounds(position(num_queries)),
          converged(position(num_queries)) {}

    void set(std::size_t query, const PprOutcome& outcome) {
        iterations[query] = outcome.iterations;
        error_bounds[query] = outcome.error_bound;
        converged[query] = outcome.converged ? 1 : 0;
    }

    std::vector<std::int32_t> iterations;
    std::vector<double> error_bounds;
    std::vector<std::uint8_t> converged;  // 0 or 1; vector<bool> could not be written by threads
};

struct PprResult {
    std::vector<Score> scores;  // one row of num_nodes per query
    PprOutcomes outcomes;
};

// Throws std::invalid_argument when an option is out of range.
void check_options(const PprOptions& options);

class PprSolver;

// Solves one query of a batch with the solver of its thread.
using SolveOne = std::function<void(PprSolver& solver, std::int64_t query, int worker,
                                    const CheckInterrupt& check)>;

// Divides queries among threads, or the rows of a large graph when there are fewer queries than
// threads. `worker` is below options.num_threads resolved for num_queries.
void solve_batch(const Transition& transition, std::int64_t num_queries, const PprOptions& options,
                 const CheckInterrupt& check, const SolveOne& solve_one);

// `personalization` holds num_queries rows of num_nodes.
[[nodiscard]] PprResult personalized_pagerank(const Transition& transition,
                                              std::span<const Score> personalization,
                                              std::int64_t num_queries, const PprOptions& options,
                                              const CheckInterrupt& check);

}  // namespace hippograph
