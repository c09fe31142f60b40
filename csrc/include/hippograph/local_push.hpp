// Local push: Personalized PageRank that touches only the neighbourhood of the seeds, so that its
// work depends on the accuracy and not on the size of the graph (Andersen, Chung, Lang 2006).
//
// Every node has a score p and a residual r, both 0 at first but for the seeds' residuals. Pushing
// a node moves restart * r into its score and spreads the rest over its neighbours by weight. At
// any moment x* = p + sum_v r_v pi_v, where pi_v is the PageRank vector of node v; the total of the
// residuals is what is missing. Nodes with r above threshold * degree are pushed until none is
// left, for thresholds that fall by a constant factor: pushing large residuals first saves a sixth
// of the work against first in, first out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/large_buffer.hpp"
#include "hippograph/serving_layout.hpp"

namespace hippograph {

struct NodeState {
    float residual;
    float score;
    float degree;         // of the node, once it was ever touched
    std::uint32_t stamp;  // 2 * query + (1 if queued); another query's: residual and score are void
};

template <typename Word>
class LocalPush {
   public:
    // `layout` must outlive the object. Takes 16 bytes of address space a node, touched on demand.
    explicit LocalPush(const LayoutView<Word>& layout);

    // Forgets the last query.
    void start(float restart_probability);

    // The seed's mass, to be spread.
    void add_residual(std::size_t rank, float residual);
    // Mass that has arrived.
    void add_score(std::size_t rank, float score);

    // Pushes until no node has more than threshold * degree, or until `budget` edges were followed
    // since start(). Returns whether the threshold was reached.
    bool push_down_to(float threshold, std::int64_t budget);

    // Ranks touched by this query, each once, in the order of their first touch.
    [[nodiscard]] std::span<const std::uint32_t> touched() const noexcept { return touched_; }
    [[nodiscard]] std::int64_t num_edges_followed() const noexcept { return num_edges_; }
    // L1 distance of the settled scores to the exact ones: what the residuals have yet to bring to
    // other nodes. A node without edges keeps its residual, which then lacks nothing.
    [[nodiscard]] double missing() const noexcept;

    [[nodiscard]] NodeState& state(std::size_t rank) noexcept { return states_[rank & mask_]; }
    // Score once the residual at the node itself has restarted there; 0 if not touched.
    [[nodiscard]] float settled(std::size_t rank) const noexcept {
        const NodeState& node = states_[rank & mask_];
        return (node.stamp | 1U) == live_ ? node.score + restart_ * node.residual : 0.0F;
    }
    [[nodiscard]] bool is_touched(std::size_t rank) const noexcept {
        return (states_[rank & mask_].stamp | 1U) == live_;
    }
    void touch(std::size_t rank) {
        if (!is_touched(rank)) touch_new(rank & mask_, states_[rank & mask_]);
    }
    void prefetch(std::size_t rank) const noexcept {
        __builtin_prefetch(states_.data() + (rank & mask_));
    }

   private:
    void touch_new(std::size_t rank, NodeState& node);
    bool sweep(float threshold, std::int64_t budget);
    void queue_all_above(float threshold);
    void spread(std::size_t rank, float threshold);
    void prefetch_ahead(std::size_t next) const noexcept;

    LayoutView<Word> layout_;
    std::size_t mask_;
    LargeBuffer<NodeState> states_;
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> queue_;
    std::uint32_t live_ = 1;  // stamp of this query's nodes, with the queued bit
    float restart_ = 0.0F;
    float highest_ = 0.0F;  // largest residual / degree among the seeds
    std::int64_t num_edges_ = 0;
};

extern template class LocalPush<std::uint32_t>;
extern template class LocalPush<std::uint64_t>;

}  // namespace hippograph
