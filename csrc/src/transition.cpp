#include "hippograph/transition.hpp"

#include <algorithm>
#include <utility>

#include "hippograph/row_sum.hpp"
#include "hippograph/symmetry.hpp"

namespace hippograph {

namespace {

// A block is worth some tens of microseconds: much more than handing it to a thread.
constexpr EdgeOffset kBlockCost = 16'384;

// What a row costs beside its entries, in entries.
constexpr EdgeOffset kRowCost = 4;

}  // namespace

Transition::Transition(const CsrMatrix& weights) {
    check_symmetric(weights.view());
    sort_rows(weights.view());
    copy_rows(weights.view());
    find_blocks();
}

// Stable counting sort by row length, falling.
void Transition::sort_rows(const CsrView& weights) {
    const NodeId count = weights.num_rows();
    const auto length = [&](NodeId node) {
        return weights.row_end(node) - weights.row_begin(node);
    };
    for (NodeId node = 0; node < count; ++node) longest_row_ = std::max(longest_row_, length(node));
    // begins[i] = first rank of the rows of length longest_row_ - i.
    std::vector<Rank> begins(position(longest_row_) + 2, 0);
    for (NodeId node = 0; node < count; ++node) {
        ++begins[position(longest_row_ - length(node)) + 1];
    }
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    for (std::size_t n = 0; n <= kMaxEqualLength; ++n) {
        // The first rank of length n or less; a graph of shorter rows has none that are longer.
        if (std::cmp_less(n, longest_row_)) longer_[n] = begins[position(longest_row_) - n];
    }
    nodes_.resize(position(count));
    ranks_.resize(position(count));
    for (NodeId node = 0; node < count; ++node) {
        const Rank rank = begins[position(longest_row_ - length(node))]++;
        ranks_[position(node)] = rank;
        nodes_[position(rank)] = node;
    }
}

void Transition::copy_rows(const CsrView& weights) {
    offsets_.reserve(nodes_.size() + 1);
    offsets_.push_back(0);
    columns_.reserve(weights.columns.size());
    values_.reserve(weights.values.size());
    for (const NodeId node : nodes_) {
        for (EdgeOffset entry = weights.row_begin(node); entry < weights.row_end(node); ++entry) {
            columns_.push_back(ranks_[position(weights.columns[position(entry)])]);
            values_.push_back(weights.values[position(entry)]);
        }
        const Score degree = row_sum(offsets_.back(), std::ssize(values_), [&](EdgeOffset entry) {
            return static_cast<Score>(values_[position(entry)]);
        });
        offsets_.push_back(std::ssize(values_));
        degrees_.push_back(degree);
        inverse_degrees_.push_back(degree > 0.0 ? 1.0 / degree : 0.0);
        num_dangling_ += degree > 0.0 ? 0 : 1;
    }
}

void Transition::find_blocks() {
    block_begins_.push_back(0);
    EdgeOffset cost = 0;
    for (Rank rank = 0; rank < num_longer(0); ++rank) {
        cost += offsets_[position(rank) + 1] - offsets_[position(rank)] + kRowCost;
        if (cost >= kBlockCost || rank + 1 == num_longer(0)) {
            block_begins_.push_back(rank + 1);
            cost = 0;
        }
    }
}

std::vector<Score> Transition::degrees_by_node() const {
    std::vector<Score> degrees;
    degrees.reserve(ranks_.size());
    for (const Rank rank : ranks_) degrees.push_back(degrees_[position(rank)]);
    return degrees;
}

}  // namespace hippograph
