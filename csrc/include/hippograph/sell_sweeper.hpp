// Gauss-Seidel sweeps over a SellMatrix, for one vector or for sixteen at once: the unknowns
// u = x / d, row after row replaced, on any number of threads and with the same bytes for all.
//
// Order of work: long rows together, then each group of slices. Blocks of an independent group are
// divided among threads; each value has one writer, and nobody reads it meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "hippograph/large_buffer.hpp"
#include "hippograph/sell_matrix.hpp"

namespace hippograph {

// What a certify sweep reports of one vector. Its residual is at most rounding + change.
struct SweepReport {
    double rounding;  // what no sweep lowers much
    double change;
    double mass;  // sum of the scores
};

class SellSweeper {
   public:
    // `width` is 1 or kLanes. `matrix` must outlive the sweeper, which holds 4 width bytes a rank.
    SellSweeper(const SellMatrix& matrix, std::size_t width, int num_threads);

    // u, `width` numbers a rank. Ranks without edges must stay 0.
    [[nodiscard]] std::span<float> unknowns() noexcept { return unknowns_.view(); }
    [[nodiscard]] std::span<const float> unknowns() const noexcept { return unknowns_.view(); }

    struct RestartTerm {
        Rank rank;  // not dangling
        std::size_t vector;
        double value;  // r v
    };

    // Replaces r v. No rank twice in a vector.
    void set_restart(std::vector<RestartTerm> terms);

    // One sweep of u_i += omega ((pull sum_j w_ij u_j + r v_i) / d_i - u_i), in float32.
    void relax(double pull, double omega);

    // The same with omega 1, sums in float64; one report per vector. A single vector's t go to
    // `scores` (num_ranks; ranks without edges are left alone); sixteen need none.
    void certify(double pull, std::span<float> scores, std::span<SweepReport> reports);

    // One vector: scores = max(scores, 0) scale.
    void scale(double scale, std::span<float> scores) const;
    // Sixteen: u becomes max(d u, 0) times the scale of its vector.
    void unknowns_to_scores(std::span<const double> scales);

   private:
    void sum_long_rows();
    void relax_long_rows(double pull, double omega);
    void certify_long_rows(double pull, std::span<float> scores, std::span<SweepReport> reports);
    void for_each_task(
        const std::function<void(std::int64_t first, std::int64_t last)>& body) const;
    void for_each_block(const std::function<void(std::int64_t block)>& body) const;

    // Calls body(first, last, terms) for slices of a block; `terms` is a place in seed_slices_ for
    // a single slice that has restart terms, else -1.
    template <typename Body>
    void for_each_range(std::int64_t block, const Body& body) const;

    const SellMatrix* matrix_;
    std::size_t width_;
    int num_threads_;
    LargeBuffer<float> unknowns_;
    std::vector<std::int64_t> seed_slices_;  // rising
    std::vector<float> seed_terms_;          // 16 width numbers a seed slice
    std::vector<double> exact_seed_terms_;
    std::vector<double> long_terms_;    // width numbers a long row
    std::vector<double> chunk_sums_;    // width numbers a chunk
    std::vector<double> long_sums_;     // width numbers a long row
    std::vector<CertifySums> reports_;  // of each block
};

}  // namespace hippograph
