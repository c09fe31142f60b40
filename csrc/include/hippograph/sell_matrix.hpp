// A weighted graph for the exact solver: float32 weights in SELL form (sell_rows.hpp), nodes
// grouped by colour, so that a solver may use each new value at once, as Gauss-Seidel does, on any
// number of threads.
//
// A node's place is its rank. Long rows have the first ranks; then come the colours, greedy, from
// the longest row to the shortest: no edge joins two rows of a colour, so the order of work within
// one changes nothing. Colours after the first eleven hold a few per cent of the nodes; they form
// one last group, whose slices are worked on in order. Inside a colour rows follow the order given
// by the caller (neighbours near each other: better caches), sorted by length in windows.
//
// A node updated late reads more new values than one updated early, and what it was read for before
// it changed is what a sweep leaves undone. late_shares holds that part of each node's weight:
// edges to rows that are updated before it or together with it.
//
// Memory: 8 bytes an entry (two entries an undirected edge) and 28 a node, padding included.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/large_buffer.hpp"
#include "hippograph/sell_rows.hpp"
#include "hippograph/transition.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

class SellMatrix {
   public:
    // Blocks [first_block, last_block) of slices. Independent ones may be worked on in any order.
    struct Group {
        std::int64_t first_block;
        std::int64_t last_block;
        EdgeOffset num_entries;
        bool is_independent;
    };

    // `weights` is borrowed for the call; entries of weight 0 are no edges. `order` lists every
    // node once, neighbours near each other; an empty one means falling degree.
    // Throws std::invalid_argument unless `weights` is square and exactly symmetric and `order` is
    // empty or a permutation of its nodes.
    SellMatrix(const CsrMatrix& weights, std::span<const NodeId> order, int num_threads);

    [[nodiscard]] NodeId num_nodes() const noexcept { return static_cast<NodeId>(ranks_.size()); }
    // Ranks that are no node fill up slices; a vector has a place for them, which stays 0.
    [[nodiscard]] std::int64_t num_ranks() const noexcept { return rows_.num_slots(); }
    [[nodiscard]] EdgeOffset num_entries() const noexcept { return num_entries_; }
    [[nodiscard]] EdgeOffset longest_row() const noexcept { return longest_row_; }
    [[nodiscard]] std::size_t num_bytes() const noexcept;

    [[nodiscard]] const SellRows& rows() const noexcept { return rows_; }
    [[nodiscard]] std::span<const Group> groups() const noexcept { return groups_; }
    // Slices [block_begins()[i], block_begins()[i + 1]) are block i: whatever the number of
    // threads, so that sums taken by block do not depend on it.
    [[nodiscard]] std::span<const std::int64_t> block_begins() const noexcept {
        return block_begins_;
    }
    [[nodiscard]] std::int64_t num_blocks() const noexcept { return std::ssize(block_begins_) - 1; }

    // By node: its rank.
    [[nodiscard]] std::span<const Rank> ranks() const noexcept { return ranks_; }
    // By rank: its node, -1 where there is none.
    [[nodiscard]] std::span<const NodeId> nodes() const noexcept { return nodes_; }
    // By rank; 0 for a dangling node, and where there is no node.
    [[nodiscard]] std::span<const double> degrees() const noexcept { return degrees_.view(); }
    [[nodiscard]] std::span<const float> inverse_degrees() const noexcept {
        return inverse_degrees_.view();
    }
    [[nodiscard]] std::span<const float> late_shares() const noexcept {
        return late_shares_.view();
    }
    [[nodiscard]] SellGraph graph() const noexcept {
        return {.slices = rows_.slices(),
                .degrees = degrees_.data(),
                .inverse_degrees = inverse_degrees_.data(),
                .late_shares = late_shares_.data()};
    }

   private:
    void place_rows(std::span<const NodeId> order, std::span<const EdgeOffset> lengths,
                    std::span<const std::uint8_t> colours);
    void append(std::vector<NodeId>& rows, std::span<const EdgeOffset> lengths);
    void divide_slices(std::span<const std::int64_t> group_ends);
    void copy_rows(const CsrView& weights, std::span<const EdgeOffset> lengths, int num_threads);
    void find_late_shares(const CsrView& weights, int num_threads);

    SellRows rows_;
    std::vector<NodeId> nodes_;  // by rank; -1 where there is none
    std::vector<Rank> ranks_;
    LargeBuffer<double> degrees_;
    LargeBuffer<float> inverse_degrees_;
    LargeBuffer<float> late_shares_;
    std::vector<Group> groups_;
    std::vector<std::int64_t> block_begins_;
    EdgeOffset num_entries_ = 0;
    EdgeOffset longest_row_ = 0;
    std::int64_t num_long_ = 0;
};

}  // namespace hippograph
