#include "hippograph/sell_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "hippograph/row_sum.hpp"
#include "hippograph/symmetry.hpp"

namespace hippograph {

namespace {

// Colours that are groups of their own; what comes after them is small.
constexpr unsigned kNumColours = 11;
constexpr std::uint8_t kLastGroup = kNumColours;
constexpr std::uint8_t kEmptyRow = kNumColours + 1;
constexpr std::uint8_t kLongRowColour = kNumColours + 2;
constexpr std::uint8_t kUncoloured = kNumColours + 3;

// A block is worth some tens of microseconds: much more than handing it to a thread.
constexpr std::int64_t kBlockCost = 1024;  // entry columns

constexpr std::int64_t kRowsPerTask = 16'384;

void check_order(std::span<const NodeId> order, NodeId num_nodes) {
    if (std::ssize(order) != num_nodes) {
        throw std::invalid_argument("order has " + std::to_string(order.size()) +
                                    " entries; it needs " + std::to_string(num_nodes) +
                                    ", each node once");
    }
    std::vector<bool> is_listed(order.size(), false);
    for (const NodeId node : order) {
        if (node < 0 || node >= num_nodes || is_listed[position(node)]) {
            throw std::invalid_argument("order has node " + std::to_string(node) +
                                        " twice or outside the graph; it must list each node once");
        }
        is_listed[position(node)] = true;
    }
}

// Entries above 0 of each row.
std::vector<EdgeOffset> row_lengths(const CsrView& weights) {
    std::vector<EdgeOffset> lengths;
    lengths.reserve(position(weights.num_rows()));
    for (NodeId node = 0; node < weights.num_rows(); ++node) {
        const auto row =
            weights.values.subspan(position(weights.row_begin(node)),
                                   position(weights.row_end(node) - weights.row_begin(node)));
        lengths.push_back(std::ranges::count_if(row, [](Weight value) { return value > 0.0F; }));
    }
    return lengths;
}

// `order` sorted by falling length; equal lengths keep their order. A counting sort.
std::vector<NodeId> longest_first(std::span<const NodeId> order,
                                  std::span<const EdgeOffset> lengths) {
    const EdgeOffset longest = lengths.empty() ? 0 : std::ranges::max(lengths);
    std::vector<std::size_t> begins(position(longest) + 2, 0);
    for (const NodeId node : order) ++begins[position(longest - lengths[position(node)]) + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    std::vector<NodeId> sorted(order.size());
    for (const NodeId node : order) {
        sorted[begins[position(longest - lengths[position(node)])]++] = node;
    }
    return sorted;
}

// Each row takes the first colour that no neighbour has. Neighbours that are long rows do not
// matter: those change before all others.
std::vector<std::uint8_t> colour_rows(const CsrView& weights, std::span<const NodeId> by_length,
                                      std::span<const EdgeOffset> lengths) {
    std::vector<std::uint8_t> colours(by_length.size(), kUncoloured);
    for (const NodeId node : by_length) {
        std::uint8_t& colour = colours[position(node)];
        if (lengths[position(node)] > SellRows::kLongRow) {
            colour = kLongRowColour;
            continue;
        }
        if (lengths[position(node)] == 0) {
            colour = kEmptyRow;
            continue;
        }
        std::uint32_t taken = 0;
        for (EdgeOffset entry = weights.row_begin(node); entry < weights.row_end(node); ++entry) {
            if (weights.values[position(entry)] > 0.0F) {
                taken |= 1U << colours[position(weights.columns[position(entry)])];
            }
        }
        colour = static_cast<std::uint8_t>(
            std::min(static_cast<unsigned>(std::countr_one(taken)), kNumColours));
    }
    return colours;
}

}  // namespace

SellMatrix::SellMatrix(const CsrMatrix& weights, std::span<const NodeId> order, int num_threads) {
    const CsrView& view = weights.view();
    check_symmetric(view);
    std::vector<NodeId> own_order(position(view.num_rows()));
    const std::vector<EdgeOffset> lengths = row_lengths(view);
    if (order.empty()) {
        for (NodeId node = 0; node < view.num_rows(); ++node) own_order[position(node)] = node;
        own_order = longest_first(own_order, lengths);
    } else {
        check_order(order, view.num_rows());
        std::ranges::copy(order, own_order.begin());
    }
    const int threads = resolve_num_threads(num_threads, view.num_rows() / kRowsPerTask);
    place_rows(own_order, lengths, colour_rows(view, longest_first(own_order, lengths), lengths));
    copy_rows(view, lengths, threads);
    find_late_shares(view, threads);
}

// Decides all ranks, and with them groups and blocks.
void SellMatrix::place_rows(std::span<const NodeId> order, std::span<const EdgeOffset> lengths,
                            std::span<const std::uint8_t> colours) {
    std::vector<std::vector<NodeId>> rows(kUncoloured);
    for (const NodeId node : order) rows[colours[position(node)]].push_back(node);
    ranks_.resize(order.size());
    num_long_ = std::ssize(rows[kLongRowColour]);
    append(rows[kLongRowColour], lengths);
    std::vector<std::int64_t> group_ends{std::ssize(nodes_) / 16};
    for (std::uint8_t group = 0; group <= kLastGroup; ++group) {
        append(rows[group], lengths);
        group_ends.push_back(std::ssize(nodes_) / 16);
    }
    append(rows[kEmptyRow], lengths);
    std::vector<EdgeOffset> by_rank(nodes_.size(), 0);
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        if (nodes_[rank] >= 0) by_rank[rank] = lengths[position(nodes_[rank])];
    }
    rows_ = SellRows(by_rank, num_long_);
    divide_slices(group_ends);
}

void SellMatrix::append(std::vector<NodeId>& rows, std::span<const EdgeOffset> lengths) {
    sort_in_windows(rows, lengths);
    for (const NodeId node : rows) {
        ranks_[position(node)] = static_cast<Rank>(nodes_.size());
        nodes_.push_back(node);
        num_entries_ += lengths[position(node)];
        longest_row_ = std::max(longest_row_, lengths[position(node)]);
    }
    while (nodes_.size() % kLanes != 0) nodes_.push_back(-1);
    if (nodes_.size() > position(std::numeric_limits<Rank>::max())) {
        throw std::invalid_argument("the graph has too many nodes; ids and ranks are 32-bit");
    }
}

void SellMatrix::divide_slices(std::span<const std::int64_t> group_ends) {
    const auto offsets = rows_.offsets();
    block_begins_.push_back(group_ends.front());
    for (std::size_t group = 0; group + 1 < group_ends.size(); ++group) {
        const std::int64_t first_block = std::ssize(block_begins_) - 1;
        const std::int64_t begin = group_ends[group];
        const std::int64_t end = group_ends[group + 1];
        std::int64_t cost = 0;
        for (std::int64_t slice = begin; slice < end; ++slice) {
            cost += offsets[position(slice) + 1] - offsets[position(slice)] + 1;
            if (cost < kBlockCost && slice + 1 < end) continue;
            block_begins_.push_back(slice + 1);
            cost = 0;
        }
        const std::int64_t last_block = std::ssize(block_begins_) - 1;
        if (first_block == last_block) continue;
        groups_.push_back({.first_block = first_block,
                           .last_block = last_block,
                           .num_entries = 16 * (offsets[position(end)] - offsets[position(begin)]),
                           .is_independent = group < kLastGroup});
    }
}

void SellMatrix::copy_rows(const CsrView& weights, std::span<const EdgeOffset> lengths,
                           int num_threads) {
    degrees_ = LargeBuffer<double>(nodes_.size());
    inverse_degrees_ = LargeBuffer<float>(nodes_.size());
    rows_.fill(num_threads, [&](std::int64_t rank, const auto& put) {
        const NodeId node = nodes_[position(rank)];
        if (node < 0 || lengths[position(node)] == 0) return;
        const double degree = row_sum(
            weights.row_begin(node), weights.row_end(node),
            [&](EdgeOffset entry) { return static_cast<double>(weights.values[position(entry)]); });
        degrees_[position(rank)] = degree;
        inverse_degrees_[position(rank)] = static_cast<float>(1.0 / degree);
        for (EdgeOffset entry = weights.row_begin(node); entry < weights.row_end(node); ++entry) {
            const Weight value = weights.values[position(entry)];
            if (value > 0.0F) put(ranks_[position(weights.columns[position(entry)])], value);
        }
    });
}

void SellMatrix::find_late_shares(const CsrView& weights, int num_threads) {
    // When a rank is updated: long rows together, before the slices.
    const auto turn = [&](std::int64_t rank) { return rank < num_long_ ? -1 : rank / 16; };
    late_shares_ = LargeBuffer<float>(nodes_.size());
    const std::int64_t num_ranks = std::ssize(nodes_);
    parallel_for(
        (num_ranks + kRowsPerTask - 1) / kRowsPerTask, num_threads, [&](std::int64_t task, int) {
            const std::int64_t last = std::min(num_ranks, (task + 1) * kRowsPerTask);
            for (std::int64_t rank = task * kRowsPerTask; rank < last; ++rank) {
                const NodeId node = nodes_[position(rank)];
                if (node < 0 || degrees_[position(rank)] == 0.0) continue;
                double late = 0.0;
                for (EdgeOffset entry = weights.row_begin(node); entry < weights.row_end(node);
                     ++entry) {
                    const std::int64_t other = ranks_[position(weights.columns[position(entry)])];
                    if (turn(other) > turn(rank)) continue;
                    late += static_cast<double>(weights.values[position(entry)]);
                }
                // Rounded up: the proof needs a bound.
                late_shares_[position(rank)] =
                    std::nextafter(static_cast<float>(late / degrees_[position(rank)]),
                                   std::numeric_limits<float>::infinity());
            }
        });
}

std::size_t SellMatrix::num_bytes() const noexcept {
    return rows_.num_bytes() + nodes_.size() * sizeof(NodeId) + ranks_.size() * sizeof(Rank) +
           degrees_.num_bytes() + inverse_degrees_.num_bytes() + late_shares_.num_bytes() +
           groups_.size() * sizeof(Group) + block_begins_.size() * sizeof(std::int64_t);
}

}  // namespace hippograph
