#include "hippograph/local_push.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace hippograph {

namespace {

// Thresholds fall by this factor from sweep to sweep.
constexpr float kThresholdStep = 0.25F;
// How far ahead the queue is looked at: row offsets, then the row, then the neighbours' states.
constexpr std::size_t kOffsetsAhead = 12;
constexpr std::size_t kRowAhead = 6;
constexpr std::size_t kStatesAhead = 2;
constexpr std::size_t kMostStatesPrefetched = 16;

}  // namespace

template <typename Word>
LocalPush<Word>::LocalPush(const LayoutView<Word>& layout)
    : layout_(layout),
      mask_(std::bit_ceil(std::max<std::size_t>(1, layout.num_nodes())) - 1),
      states_(mask_ + 1) {}

template <typename Word>
void LocalPush<Word>::start(float restart_probability) {
    touched_.clear();
    restart_ = restart_probability;
    highest_ = 0.0F;
    num_edges_ = 0;
    live_ += 2;
    if (live_ < 2) {  // all stamps were used once: forget them
        states_ = LargeBuffer<NodeState>(mask_ + 1);
        live_ = 3;
    }
}

template <typename Word>
void LocalPush<Word>::touch_new(std::size_t rank, NodeState& node) {
    if (node.stamp == 0) {
        // Never touched by this thread. Ids of damaged files are masked, not trusted.
        const float degree = rank < layout_.num_nodes() ? layout_.node(rank).head : 0.0F;
        node.degree = degree > 0.0F ? degree : std::numeric_limits<float>::infinity();
    }
    node.residual = 0.0F;
    node.score = 0.0F;
    node.stamp = live_ - 1;
    touched_.push_back(static_cast<std::uint32_t>(rank));
}

template <typename Word>
void LocalPush<Word>::add_residual(std::size_t rank, float residual) {
    touch(rank);
    NodeState& node = state(rank);
    node.residual += residual;
    // A degree near the smallest float overflows the quotient, and infinity never falls.
    highest_ = std::max(highest_,
                        std::min(node.residual / node.degree, std::numeric_limits<float>::max()));
}

template <typename Word>
void LocalPush<Word>::add_score(std::size_t rank, float score) {
    touch(rank);
    state(rank).score += score;
}

template <typename Word>
bool LocalPush<Word>::push_down_to(float threshold, std::int64_t budget) {
    while (highest_ > threshold) {
        const float next = std::max(threshold, highest_ * kThresholdStep);
        if (!sweep(next, budget)) return false;
        highest_ = next;
    }
    return true;
}

template <typename Word>
double LocalPush<Word>::missing() const noexcept {
    double sum = 0.0;
    for (const std::uint32_t rank : touched_) {
        const NodeState& node = states_[rank];
        if (!std::isinf(node.degree)) sum += double{node.residual};
    }
    return (1.0 - double{restart_}) * sum;
}

template <typename Word>
void LocalPush<Word>::queue_all_above(float threshold) {
    queue_.clear();
    for (const std::uint32_t rank : touched_) {
        NodeState& node = states_[rank];
        if (node.residual > threshold * node.degree) {
            node.stamp |= 1U;
            queue_.push_back(rank);
        }
    }
}

template <typename Word>
bool LocalPush<Word>::sweep(float threshold, std::int64_t budget) {
    queue_all_above(threshold);
    for (std::size_t next = 0; next < queue_.size(); ++next) {
        if (num_edges_ > budget) {
            for (; next < queue_.size(); ++next) states_[queue_[next]].stamp &= ~1U;
            return false;
        }
        prefetch_ahead(next);
        spread(queue_[next], threshold);
    }
    return true;
}

template <typename Word>
void LocalPush<Word>::prefetch_ahead(std::size_t next) const noexcept {
    const std::size_t size = queue_.size();
    if (next + kOffsetsAhead < size) {
        __builtin_prefetch(layout_.node_begins.data() + queue_[next + kOffsetsAhead]);
    }
    if (next + kRowAhead < size) {
        prefetch_row(layout_.node_begins, layout_.node_words, queue_[next + kRowAhead]);
    }
    if (next + kStatesAhead < size) {
        const auto neighbors = layout_.node(queue_[next + kStatesAhead]).first;
        for (const Word word : neighbors.first(std::min(neighbors.size(), kMostStatesPrefetched))) {
            prefetch(id_of(word));
        }
    }
}

template <typename Word>
void LocalPush<Word>::spread(std::size_t rank, float threshold) {
    NodeState& node = states_[rank];
    const float residual = node.residual;
    node.stamp = live_ - 1;
    node.residual = 0.0F;
    node.score += restart_ * residual;
    const float per_weight = (1.0F - restart_) * residual / node.degree;
    const std::span<const Word> neighbors = layout_.node(rank).first;
    const float* const weights = layout_.weight_values.data();
    num_edges_ += static_cast<std::int64_t>(neighbors.size());
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        if (i + kMostStatesPrefetched < neighbors.size()) {
            prefetch(id_of(neighbors[i + kMostStatesPrefetched]));
        }
        const std::size_t neighbor = id_of(neighbors[i]) & mask_;
        NodeState& other = states_[neighbor];
        if ((other.stamp | 1U) != live_) touch_new(neighbor, other);
        other.residual += per_weight * weights[code_of(neighbors[i])];
        if (other.stamp != live_ && other.residual > threshold * other.degree) {
            other.stamp = live_;
            queue_.push_back(static_cast<std::uint32_t>(neighbor));
        }
    }
}

template class LocalPush<std::uint32_t>;
template class LocalPush<std::uint64_t>;

}  // namespace hippograph
