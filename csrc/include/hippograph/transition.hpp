// A weighted graph seen as a random walk: from node j the walk goes to i with probability
// w_ij / d_j, where d_j is the weighted degree. The matrix W D^-1 is never formed; the solver
// multiplies by W and by 1 / d. A node without weight (dangling) has no step to take, which in an
// undirected graph also means that no step leads to it.
//
// Holds its own copy of the graph, rows from longest to shortest. Rows of a graph of phrases are
// short and their lengths vary at random, so that a loop over them in any other order spends its
// time on mispredicted branches; in this order it runs about three times as fast, and the hubs,
// which most steps read, lie together. A row's number in this order is its rank.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

using Rank = std::int32_t;

class Transition {
   public:
    // Throws std::invalid_argument unless `weights` is square and exactly symmetric; the
    // convergence proof of the solver rests on both.
    explicit Transition(const CsrMatrix& weights);

    [[nodiscard]] NodeId num_nodes() const noexcept { return static_cast<NodeId>(nodes_.size()); }
    [[nodiscard]] NodeId num_dangling() const noexcept { return num_dangling_; }
    [[nodiscard]] EdgeOffset num_entries() const noexcept { return offsets_.back(); }
    [[nodiscard]] EdgeOffset longest_row() const noexcept { return longest_row_; }

    // Weighted degrees in node order.
    [[nodiscard]] std::vector<Score> degrees_by_node() const;

    // By rank:
    [[nodiscard]] std::span<const NodeId> nodes() const noexcept { return nodes_; }
    [[nodiscard]] std::span<const EdgeOffset> offsets() const noexcept { return offsets_; }
    [[nodiscard]] std::span<const Rank> columns() const noexcept { return columns_; }
    [[nodiscard]] std::span<const Weight> values() const noexcept { return values_; }
    // d; 0 for a dangling node.
    [[nodiscard]] std::span<const Score> degrees() const noexcept { return degrees_; }
    // 1 / d; 0 for a dangling node.
    [[nodiscard]] std::span<const Score> inverse_degrees() const noexcept {
        return inverse_degrees_;
    }

    // By node: its rank.
    [[nodiscard]] std::span<const Rank> ranks() const noexcept { return ranks_; }

    // Ranks [block_begins()[i], block_begins()[i + 1]) are about equal shares of a multiplication;
    // rows without entries, which come last, are in none.
    // They do not depend on the number of threads, so sums taken by block do not either.
    [[nodiscard]] std::span<const Rank> block_begins() const noexcept { return block_begins_; }
    [[nodiscard]] std::int64_t num_blocks() const noexcept { return std::ssize(block_begins_) - 1; }

    // Number of rows with more than `length` entries, length in [0, kMaxEqualLength]: rows of n
    // entries are the ranks [num_longer(n), num_longer(n - 1)).
    [[nodiscard]] Rank num_longer(std::size_t length) const noexcept { return longer_[length]; }

    static constexpr std::size_t kMaxEqualLength = 8;

   private:
    void sort_rows(const CsrView& weights);
    void copy_rows(const CsrView& weights);
    void find_blocks();

    std::vector<NodeId> nodes_;
    std::vector<Rank> ranks_;
    std::vector<EdgeOffset> offsets_;
    std::vector<Rank> columns_;
    std::vector<Weight> values_;
    std::vector<Score> degrees_;
    std::vector<Score> inverse_degrees_;
    std::vector<Rank> block_begins_;
    std::array<Rank, kMaxEqualLength + 1> longer_{};
    NodeId num_dangling_ = 0;
    EdgeOffset longest_row_ = 0;
};

}  // namespace hippograph
