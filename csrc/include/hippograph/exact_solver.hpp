// Personalized PageRank in float32 with a proven bound: the fast twin of ppr_solver.hpp, with the
// same meaning (personalized_pagerank.hpp) and several times its speed.
//
// Method: over-relaxed Gauss-Seidel, colour by colour (sell_matrix.hpp), on u = x / d. Each value
// is used as soon as it is known, which needs a third fewer sweeps than Chebyshev iteration, and
// one vector instead of two. Relax sweeps work in float32 and prove nothing. A certify sweep, about
// a third dearer, does the same with omega = 1 and float64 sums, and proves the error of its own
// result, so that none of its work is lost to checking:
//
//   Row i becomes u_i = t_i / d_i rounded, t = (1 - r) W u + r v with the u of that moment, and the
//   answer is x = t. Its residual q_i = (1 - r) sum_j w_ij t_j / d_j + r v_i - t_i is what the row
//   missed of its neighbours j: their rounding, where it read the new u_j, and their change, where
//   it read the old one. The rows that read u_j before it changed, or at that moment, have the part
//   late_share_j of d_j, so that in all
//
//     |q|_1 <= (1 - r) sum_j ((1 - late_share_j) |t_j - d_j u_j| + late_share_j |t_j - d_j old
//     u_j|)
//
//   and |x - x*|_1 <= |q|_1 / r, as in ppr_solver.hpp. Dividing by the sum adds |sum - 1|, writing
//   scores in float32, twice, at most 2 x 2^-24; clamping negative ones only helps. Float64
//   rounding is bounded from the longest sum. Sixteen vectors at a time (exact_columns.hpp) save
//   the room for t: there x = d u, with q_i as above but for |t_i - d_i u_i| of the row itself
//   instead of its neighbours'.
//
// Where float32 cannot hold what is asked for (tolerance times r below about 4e-8, or weights that
// span more than it can), the outcome says so: converged is false and the bound is still valid.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "hippograph/parallel.hpp"
#include "hippograph/personalized_pagerank.hpp"
#include "hippograph/sell_matrix.hpp"
#include "hippograph/sell_sweeper.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// A rough answer to start from, such as the result of a local push: scores of some nodes, none
// twice, the rest 0. `error` is about its L1 distance to the answer and only steers.
struct SparseStart {
    std::span<const NodeId> nodes;
    std::span<const float> scores;
    double error;
};

class ExactSolver {
   public:
    // Holds 8 bytes a node. `matrix` must outlive it. options.num_threads divides the rows.
    ExactSolver(const SellMatrix& matrix, const PprOptions& options);

    // Threads worth using for the rows of one query: 1 unless the graph is large.
    [[nodiscard]] static int threads_for_rows(const SellMatrix& matrix, int requested);

    [[nodiscard]] int num_threads() const noexcept { return num_threads_; }

    // Seeds: no node twice, weights finite and above 0. `start` may be null: the solve then starts
    // from the seeds. `check` runs once a sweep.
    PprOutcome solve(std::span<const NodeId> seeds, std::span<const Score> weights,
                     const SparseStart* start, const CheckInterrupt& check);

    // The answer by rank, float32, 0 at ranks that are no node; sums to 1 up to the error.
    [[nodiscard]] std::span<const float> scores() const noexcept { return scores_.view(); }

    // The answer by node, divided by its sum; returns how far that moves it, in L1, at most.
    [[nodiscard]] double copy_scores(std::span<Score> by_node) const;

   private:
    void load(std::span<const NodeId> seeds, std::span<const Score> weights);
    void start_from(const SparseStart* start);
    PprOutcome iterate(double start_error, const CheckInterrupt& check);

    const SellMatrix* matrix_;
    PprOptions options_;
    int num_threads_;
    SellSweeper sweeper_;
    LargeBuffer<float> scores_;
    std::vector<std::pair<Rank, double>> connected_;  // v where degrees are above 0; sums to 1
    std::vector<std::pair<Rank, double>> dangling_;   // v elsewhere
    double connected_share_ = 1.0;  // of the scores, on nodes that are not dangling
    double dangling_scale_ = 0.0;   // score of a dangling node / v
};

// Bound on |x - x*|_1 that the report of a certify sweep proves, for scores divided by their sum
// and rounded to float32; `rounding` receives the part that sweeps cannot lower.
[[nodiscard]] double proven_bound(const SellMatrix& matrix, double restart_probability,
                                  const SweepReport& report, double& rounding);

}  // namespace hippograph
