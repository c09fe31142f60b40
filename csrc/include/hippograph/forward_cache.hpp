// PageRank vectors of the nodes with the most neighbours, cut to their largest entries.
//
// A query that starts from a hub is the slow one: its mass reaches thousands of neighbours at once.
// PageRank is linear in the personalization, so the share of a hub is taken from here and only the
// rest is pushed. What the cut leaves out is spread thinly over thousands of nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/hub_sketch.hpp"
#include "hippograph/local_push.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/serving_layout.hpp"

namespace hippograph {

// Borrowed arrays. Node i has the entries [begins[i], begins[i + 1]), by falling score.
struct ForwardView {
    std::span<const Rank> nodes;  // rising
    std::span<const std::uint32_t> begins;
    std::span<const std::uint32_t> ranks;
    std::span<const float> scores;

    // Position of the node, or -1.
    [[nodiscard]] std::ptrdiff_t find(std::size_t rank) const noexcept;
};

struct ForwardArrays {
    std::vector<Rank> nodes;
    std::vector<std::uint32_t> begins;
    std::vector<std::uint32_t> ranks;
    std::vector<float> scores;
};

struct ForwardOptions {
    std::size_t from_neighbors;  // nodes with at least as many neighbours
    std::size_t most_nodes;      // and no more than these, those with the most neighbours
    std::size_t num_entries;     // kept per node
    float restart_probability;
    float threshold;  // of the push that computes them
    int num_threads;
};

template <typename Word>
[[nodiscard]] ForwardArrays build_forward_cache(const LayoutView<Word>& layout,
                                                const SketchView& sketch,
                                                const ForwardOptions& options,
                                                const CheckInterrupt& check);

extern template ForwardArrays build_forward_cache(const LayoutView<std::uint32_t>&,
                                                  const SketchView&, const ForwardOptions&,
                                                  const CheckInterrupt&);
extern template ForwardArrays build_forward_cache(const LayoutView<std::uint64_t>&,
                                                  const SketchView&, const ForwardOptions&,
                                                  const CheckInterrupt&);

}  // namespace hippograph
