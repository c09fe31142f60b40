// Queries x restart probabilities x synonymy thresholds -> ranked passages, for tuning.
//
// Every threshold costs one set of Chebyshev vectors, whatever the number of restart probabilities
// (chebyshev_series.hpp); vectors go into passage sums as they are made and are never stored. A
// further restart probability costs its terms of a sum over passages. Scores are those of
// personalized_pagerank and passage_scores over combine_weights with the same settings.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/parallel.hpp"
#include "hippograph/precision.hpp"
#include "hippograph/rank_passages.hpp"
#include "hippograph/sweep_graph.hpp"
#include "hippograph/top_k.hpp"

namespace hippograph {

struct SweepOptions {
    PassageId k;  // in [1, num_passages]
    TieOrder ties;
    Precision precision;     // of the vectors and sums; double where the graph needs it
    double tolerance;        // > 0, wanted bound on what the ended series leaves out, in L1
    std::int32_t max_terms;  // >= 1
    int num_threads;         // 0 = one per processor
};

// All in the order thresholds, restart probabilities, queries.
struct SweepRanking {
    std::vector<PassageId> passages;  // k each, best first
    std::vector<Score> scores;        // k each
    std::vector<std::int32_t> num_terms;
    std::vector<double> error_bounds;
    std::vector<std::uint8_t> converged;
};

// Throws std::invalid_argument or std::out_of_range as rank_passages does, for a restart
// probability outside (0, 1], a threshold that is NaN, and when either list is empty.
[[nodiscard]] SweepRanking rank_sweep(const SweepGraph& graph, const SeedView& seeds,
                                      std::span<const double> restart_probabilities,
                                      std::span<const Threshold> thresholds,
                                      const SweepOptions& options, const CheckInterrupt& check);

}  // namespace hippograph
