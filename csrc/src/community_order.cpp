#include "hippograph/community_order.hpp"

#include <algorithm>
#include <numeric>

namespace hippograph {

namespace {

constexpr int kSweeps = 3;
constexpr std::int32_t kLargestCommunity = 4096;
// Hubs belong to no community and would glue all of them together.
constexpr EdgeOffset kLongestRow = 256;

// Each node takes the label with the most weight among its neighbours, while there is room.
class LabelPropagation {
   public:
    LabelPropagation(const CsrView& weights, std::span<const std::uint8_t> is_apart)
        : weights_(weights),
          is_apart_(is_apart),
          labels_(position(weights.num_rows())),
          sizes_(labels_.size(), 1),
          votes_(labels_.size(), 0.0F) {
        std::iota(labels_.begin(), labels_.end(), 0);
    }

    std::vector<NodeId> run() {
        for (int sweep = 0; sweep < kSweeps; ++sweep) {
            for (NodeId node = 0; node < weights_.num_rows(); ++node) {
                if (takes_part(node)) move(node);
            }
        }
        return std::move(labels_);
    }

   private:
    [[nodiscard]] bool takes_part(NodeId node) const noexcept {
        return is_apart_[position(node)] == 0 &&
               weights_.row_end(node) - weights_.row_begin(node) <= kLongestRow;
    }

    void move(NodeId node) {
        candidates_.clear();
        for (EdgeOffset entry = weights_.row_begin(node); entry < weights_.row_end(node); ++entry) {
            const NodeId neighbor = weights_.columns[position(entry)];
            if (!takes_part(neighbor)) continue;
            const NodeId label = labels_[position(neighbor)];
            if (votes_[position(label)] == 0.0F) candidates_.push_back(label);
            votes_[position(label)] += weights_.values[position(entry)];
        }
        NodeId& own = labels_[position(node)];
        NodeId best = own;
        float most = votes_[position(own)];
        for (const NodeId label : candidates_) {
            const float vote = votes_[position(label)];
            const bool better = vote > most || (vote == most && label < best);
            if (better && sizes_[position(label)] < kLargestCommunity) {
                best = label;
                most = vote;
            }
        }
        for (const NodeId label : candidates_) votes_[position(label)] = 0.0F;
        --sizes_[position(own)];
        ++sizes_[position(best)];
        own = best;
    }

    CsrView weights_;
    std::span<const std::uint8_t> is_apart_;
    std::vector<NodeId> labels_;
    std::vector<std::int32_t> sizes_;
    std::vector<float> votes_;  // by label; all zero between nodes
    std::vector<NodeId> candidates_;
};

// Breadth first over the whole graph, but whoever is met first brings its community along.
class Layout {
   public:
    Layout(const CsrView& weights, std::span<const std::uint8_t> is_apart,
           std::span<const NodeId> labels)
        : weights_(weights), labels_(labels), placed_(is_apart.begin(), is_apart.end()) {
        order_.reserve(placed_.size());
    }

    std::vector<NodeId> run() {
        std::vector<NodeId> outside;  // met from communities already laid out
        for (NodeId start = 0; start < weights_.num_rows(); ++start) {
            outside.assign(1, start);
            for (std::size_t next = 0; next < outside.size(); ++next) {
                if (placed_[position(outside[next])] == 0) place_community(outside[next], outside);
            }
        }
        return std::move(order_);
    }

   private:
    void place_community(NodeId start, std::vector<NodeId>& outside) {
        const std::size_t first = order_.size();
        place(start);
        for (std::size_t next = first; next < order_.size(); ++next) {
            const NodeId node = order_[next];
            const EdgeOffset begin = weights_.row_begin(node);
            if (weights_.row_end(node) - begin > kLongestRow) continue;
            for (EdgeOffset entry = begin; entry < weights_.row_end(node); ++entry) {
                const NodeId neighbor = weights_.columns[position(entry)];
                if (placed_[position(neighbor)] != 0) continue;
                if (labels_[position(neighbor)] == labels_[position(node)]) {
                    place(neighbor);
                } else {
                    outside.push_back(neighbor);
                }
            }
        }
    }

    void place(NodeId node) {
        placed_[position(node)] = 1;
        order_.push_back(node);
    }

    CsrView weights_;
    std::span<const NodeId> labels_;
    std::vector<std::uint8_t> placed_;
    std::vector<NodeId> order_;
};

}  // namespace

std::vector<NodeId> community_order(const CsrView& weights,
                                    std::span<const std::uint8_t> is_apart) {
    const std::vector<NodeId> labels = LabelPropagation(weights, is_apart).run();
    return Layout(weights, is_apart, labels).run();
}

}  // namespace hippograph
