// The solver of personalized_pagerank.hpp for one query at a time.
//
// Method: Chebyshev semi-iteration. D^-1/2 W D^-1/2 is symmetric with its spectrum in [-1, 1], so
// the three-term recurrence converges like (c / (1 + sqrt(1 - c^2)))^k, c = 1 - r, where power
// iteration needs c^k: 50 steps against 320 at r = 0.05. Graphs whose degrees span many orders
// of magnitude can make it swell in L1 before it converges; the solver notices and falls back to
// power iteration, which cannot.
//
// Bound: with e = x - x* and residual q = (1 - r) W D^-1 x + r v - x, e = -(I - (1-r) W D^-1)^-1 q.
// Columns of W D^-1 sum to one, so the inverse has 1-norm at most 1 / r and |e|_1 <= |q|_1 / r.
// Clamping a negative entry to 0 takes its size off the error, since x* >= 0, and adds it to the
// sum; dividing by the sum gives at most that back. Rounding is bounded from the longest sum.
//
// Pull direction: each row has one writer, so results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hippograph/parallel.hpp"
#include "hippograph/personalized_pagerank.hpp"
#include "hippograph/transition.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// One solver per thread: holds 24 bytes a node of working memory, reused from query to query.
class PprSolver {
   public:
    // `transition` must outlive the solver. options.num_threads divides the rows of large graphs.
    PprSolver(const Transition& transition, const PprOptions& options);

    // Threads worth using for the rows of one query: 1 unless the graph is large.
    [[nodiscard]] static int threads_for_rows(const Transition& transition, int requested);

    [[nodiscard]] int num_threads() const noexcept { return num_threads_; }

    // `scores` (num_nodes) receives x. The personalization must be finite, not negative and not
    // all zero, else std::invalid_argument. `check` runs once an iteration.
    PprOutcome solve(std::span<const Score> personalization, std::span<Score> scores,
                     const CheckInterrupt& check);

    // The same for a sparse personalization: seed i has weight weights[i] > 0; no node twice.
    PprOutcome solve(std::span<const NodeId> seeds, std::span<const Score> weights,
                     std::span<Score> scores, const CheckInterrupt& check);

   private:
    struct Progress {
        std::int32_t iterations = 0;
        double residual = 0.0;  // bound on |q|_1
    };

    PprOutcome solve_loaded(std::span<Score> scores, const CheckInterrupt& check);
    void normalize();
    void split_off_dangling();
    void start();
    Progress iterate(const CheckInterrupt& check);
    double step(double omega);
    double finish(std::span<Score> scores, double residual);

    const Transition* transition_;
    PprOptions options_;
    int num_threads_;
    double rounding_;               // bound on the rounding of a residual, in L1
    std::vector<Score> teleport_;   // v on nodes that are not dangling, summing to 1; by rank
    std::vector<Score> current_;    // x_k / d, by rank
    std::vector<Score> other_;      // x_(k-1) / d, overwritten by x_(k+1) / d
    std::vector<double> partials_;  // residual of each block of rows
    std::vector<std::pair<Rank, Score>> dangling_;  // v on dangling nodes
    double connected_share_ = 1.0;                  // of the scores, on nodes that are not dangling
    double dangling_scale_ = 0.0;                   // score of a dangling node / v
};

}  // namespace hippograph
