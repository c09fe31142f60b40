// The queries of one cache line (basis_kernels.hpp), all restart probabilities, one threshold.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hippograph/basis_kernels.hpp"
#include "hippograph/chebyshev_series.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/rank_passages.hpp"
#include "hippograph/sweep_graph.hpp"

namespace hippograph {

struct SeriesOptions {
    double tolerance;
    std::int32_t max_terms;
};

// One per thread, reused from group to group: 64 bytes for each of 2 vectors of nodes and of
// kNumSlots + num_restarts vectors of passages.
template <typename Real>
class SweepGroup {
   public:
    static constexpr std::size_t kLanes = Lanes<Real>::kCount;

    // How the series of one query and restart probability stands.
    struct Series {
        double share;        // of the score, on nodes that are not dangling
        double coefficient;  // of the last term; of T_0 twice
        double rounding;     // sum of the 1-norms of the terms so far
        double tail;         // proven bound on what is left out, in L1
        std::int32_t num_terms;
        bool is_done;
        bool converged;
        [[nodiscard]] double error_bound() const noexcept;
    };

    // What is passed must outlive the group.
    SweepGroup(const SweepGraph& graph, std::span<const ChebyshevSeries> restarts,
               const SeriesOptions& options);

    // Solves for queries [first, first + count), count <= kLanes. `check` runs once a term.
    void solve(const ThresholdedGraph<Real>& graph, const SeedView& seeds, std::int64_t first,
               std::int64_t count, const CheckInterrupt& check);

    // Results of the last solve, for the lane of a query.
    [[nodiscard]] const Series& series(std::size_t restart, std::size_t lane) const noexcept {
        return series_[restart * kLanes + lane];
    }
    void copy_scores(std::size_t restart, std::size_t lane, std::span<Score> scores) const;

   private:
    void load(const ThresholdedGraph<Real>& graph, const SeedView& seeds, std::int64_t query,
              std::size_t lane);
    void start_series();
    void step(const ThresholdedGraph<Real>& graph, std::int32_t last_term);
    void sum_passages(const ThresholdedGraph<Real>& graph, std::int64_t slot);
    bool extend_series(std::int32_t last_term, std::int64_t slot);
    void sum_slots();

    const SweepGraph* graph_;
    std::span<const ChebyshevSeries> restarts_;
    SeriesOptions options_;
    BasisKernels<Real> kernels_;
    std::vector<Lanes<Real>> current_;       // D^-1 T_k s, by rank
    std::vector<Lanes<Real>> other_;         // D^-1 T_(k-1) s, overwritten by k + 1
    std::vector<Lanes<Real>> slots_;         // passage x slot
    std::vector<Lanes<Real>> coefficients_;  // restart x slot
    std::vector<Lanes<Real>> sums_;          // restart x passage
    std::vector<std::int32_t> active_;
    std::vector<Series> series_;  // restart x lane
    std::array<double, kLanes> last_norms_{};
    std::array<double, kLanes> norms_{};
    std::array<double, kLanes> connected_{};  // v on nodes that are not dangling
    std::array<std::vector<std::pair<NodeId, double>>, kLanes> dangling_;  // v on the others
};

}  // namespace hippograph
