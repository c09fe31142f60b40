// One query's whole way, for a batch of queries: seeds -> node scores -> passage scores -> top k.
// Kept together so that a query costs no array of nodes or passages outside the worker's own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/personalized_pagerank.hpp"
#include "hippograph/top_k.hpp"

namespace hippograph {

// Seeds of query q are the positions [offsets[q], offsets[q + 1]) of nodes and weights.
struct SeedView {
    std::span<const EdgeOffset> offsets;
    std::span<const NodeId> nodes;
    std::span<const Score> weights;

    [[nodiscard]] std::int64_t num_queries() const noexcept { return std::ssize(offsets) - 1; }
};

enum class Propagation : std::uint8_t {
    pagerank,
    none,  // node scores are the seeds' weights, divided by their sum (ablation of the paper)
};

struct RankOptions {
    PassageId k;  // in [1, num_passages]
    TieOrder ties;
    Propagation propagation;
    PprOptions ppr;
};

struct RankedPassages {
    std::vector<PassageId> passages;        // k per query, best first
    std::vector<Score> scores;              // k per query
    std::vector<std::int32_t> num_reached;  // passages with a score above 0, per query
    PprOutcomes outcomes;                   // per query
};

// Throws what check_seeds and check_read_out (seeds.hpp) and check_options throw.
[[nodiscard]] RankedPassages rank_passages(const Transition& transition,
                                           const CsrMatrix& occurrences, const SeedView& seeds,
                                           const RankOptions& options, const CheckInterrupt& check);

}  // namespace hippograph
