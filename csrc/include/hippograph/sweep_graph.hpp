// A graph ready for every synonymy threshold at once, without being built again for each.
//
// Rows hold first the entries that are there at every threshold, then those that are there only
// through their similarity, most similar first: at a threshold a row is a prefix of its entries,
// and what has to be found is where rows end and what degrees they have. A pair that is related as
// well as synonymous, or found with two similarities that rule `overwrite` adds up, changes its
// weight with the threshold instead: it stands among the first entries, and its weight is set for
// each threshold. Weights are those of combine_weights, bit for bit.
//
// Rows run from longest to shortest, as in transition.hpp and for the same reason.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/edge_weights.hpp"
#include "hippograph/transition.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// Smallest similarity that counts; infinity: none does.
using Threshold = Weight;

// What depends on the threshold. Numbers by rank are exact sums of float weights in double, rounded
// to Real.
template <typename Real>
struct ThresholdedGraph {
    Rank num_rows = 0;  // those after it have no entries left
    std::vector<EdgeOffset> row_ends;
    std::vector<Weight> own_weights;  // empty where no weight changes with the threshold
    std::span<const Weight> weights;  // own_weights, or the graph's
    std::vector<Real> degrees;
    std::vector<Real> inverse_degrees;  // 0 for a dangling node
    std::vector<Real> mention_weights;  // occurrence times degree, by passage
};

class SweepGraph {
   public:
    // Keeps `occurrences` (num_nodes x num_passages), which must outlive the graph, and copies what
    // it needs of the table. Throws std::invalid_argument or std::out_of_range as combine_weights
    // does, and where shapes do not fit.
    SweepGraph(const EdgeTableView& table, const CsrMatrix& occurrences,
               EdgeCombination combination);

    [[nodiscard]] NodeId num_nodes() const noexcept { return static_cast<NodeId>(ranks_.size()); }
    [[nodiscard]] NodeId num_passages() const noexcept { return occurrences_->view().num_columns; }

    // False where weights are so small or large that single precision could not hold what a sweep
    // makes of them.
    [[nodiscard]] bool fits_float32() const noexcept { return fits_float32_; }

    // Throws std::invalid_argument when the threshold is NaN.
    template <typename Real>
    [[nodiscard]] ThresholdedGraph<Real> at(Threshold threshold) const;

    // The weights at a threshold, by node: what combine_weights returns.
    [[nodiscard]] CsrArrays weights_at(Threshold threshold) const;

    // By node.
    [[nodiscard]] std::span<const Rank> ranks() const noexcept { return ranks_; }
    [[nodiscard]] const CsrView& occurrences() const noexcept { return occurrences_->view(); }

    // By rank: where rows begin, and their entries.
    [[nodiscard]] std::span<const EdgeOffset> row_begins() const noexcept { return row_begins_; }
    [[nodiscard]] std::span<const Rank> columns() const noexcept { return columns_; }

    // By passage: the ranks of its nodes, rising.
    [[nodiscard]] std::span<const EdgeOffset> mention_offsets() const noexcept {
        return mention_offsets_;
    }
    [[nodiscard]] std::span<const Rank> mention_ranks() const noexcept { return mention_ranks_; }

   private:
    // The weight of a pair as thresholds fall: at first none of its two similarities counts, from
    // the larger on one, from the smaller on both.
    struct Levels {
        std::array<Weight, 3> weights;
        Weight larger;
        Weight smaller;

        [[nodiscard]] Weight at(Threshold threshold) const noexcept;
        [[nodiscard]] bool is_absent() const noexcept;
        [[nodiscard]] bool fits_float32() const noexcept;
        [[nodiscard]] bool is_constant() const noexcept;
        // Absent at first, then of one weight.
        [[nodiscard]] bool appears_once() const noexcept;
    };
    struct Changing {
        EdgeOffset entry;
        Levels levels;
    };

    [[nodiscard]] static Levels levels_of(const EdgeTableView& table, std::size_t entry,
                                          Weight mirrored, EdgeCombination combination);
    void sort_rows(const std::vector<EdgeOffset>& lengths);
    void append_row(const EdgeTableView& table, std::span<const Levels> row, NodeId node);
    void copy_mentions();
    [[nodiscard]] EdgeOffset row_end(std::size_t row, Threshold threshold) const noexcept;
    [[nodiscard]] std::vector<Weight> changed_weights(Threshold threshold) const;

    const CsrMatrix* occurrences_;
    bool fits_float32_ = true;
    std::vector<Rank> ranks_;
    std::vector<NodeId> nodes_;
    std::vector<EdgeOffset> row_begins_;
    std::vector<EdgeOffset> synonym_begins_;  // of each row, in similarities_
    std::vector<Rank> columns_;               // and some ranks to read ahead, as are mention_ranks_
    std::vector<Weight> weights_;
    std::vector<Weight> similarities_;  // from which on each of a row's last entries is there
    std::vector<Changing> changing_;
    std::vector<EdgeOffset> mention_offsets_;
    std::vector<Rank> mention_ranks_;
    std::vector<Weight> mention_counts_;
};

}  // namespace hippograph
