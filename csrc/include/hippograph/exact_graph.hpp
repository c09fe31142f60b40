// A graph and its occurrences, ready for exact queries: seeds -> node scores -> passages, with a
// proven bound (exact_solver.hpp). The float32 solver does the work; a query whose bound it cannot
// prove, and any query on request, is solved in float64 (ppr_solver.hpp), for which the graph is
// laid out once more when first needed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "hippograph/exact_solver.hpp"
#include "hippograph/passage_rows.hpp"
#include "hippograph/precision.hpp"
#include "hippograph/rank_passages.hpp"
#include "hippograph/sell_matrix.hpp"
#include "hippograph/transition.hpp"

namespace hippograph {

struct ExactRankOptions {
    PassageId k;  // in [1, num_passages]
    TieOrder ties;
    Precision precision;
    PprOptions ppr;
};

// Starts of a batch of queries (SparseStart); query q has the positions [offsets[q], offsets[q+1]),
// and starts from its seeds where that is empty.
struct StartView {
    std::span<const EdgeOffset> offsets;
    std::span<const NodeId> nodes;
    std::span<const float> scores;
    std::span<const double> errors;  // per query
};

class ExactGraph {
   public:
    // Borrows both matrices. `order` as for SellMatrix.
    ExactGraph(const CsrMatrix& weights, const CsrMatrix& occurrences,
               std::span<const NodeId> order, int num_threads);

    [[nodiscard]] const SellMatrix& matrix() const noexcept { return matrix_; }
    [[nodiscard]] const PassageRows& passages() const noexcept { return passages_; }
    [[nodiscard]] std::size_t num_bytes() const noexcept {
        return matrix_.num_bytes() + passages_.num_bytes();
    }

    // As rank_passages. `starts` may be null. Throws what check_seeds, check_read_out and
    // check_options throw, and std::invalid_argument or std::out_of_range for bad starts.
    [[nodiscard]] RankedPassages rank(const SeedView& seeds, const ExactRankOptions& options,
                                      const StartView* starts, const CheckInterrupt& check) const;

    // Node scores: a row per query, in node order.
    [[nodiscard]] PprResult scores(const SeedView& seeds, Precision precision,
                                   const PprOptions& options, const StartView* starts,
                                   const CheckInterrupt& check) const;

   private:
    struct Batch;

    void solve_all(const Batch& batch) const;
    [[nodiscard]] std::vector<std::int64_t> solve_in_float32(const Batch& batch) const;
    void solve_in_float64(const Batch& batch, std::span<const std::int64_t> queries) const;
    [[nodiscard]] const Transition& transition() const;

    const CsrMatrix* weights_;
    const CsrMatrix* occurrences_;
    SellMatrix matrix_;
    PassageRows passages_;
    mutable std::once_flag transition_built_;
    mutable std::unique_ptr<const Transition> transition_;
};

}  // namespace hippograph
