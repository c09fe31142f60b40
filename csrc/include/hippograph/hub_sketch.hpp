// What push gets wrong, and cannot cure by pushing on: the scores of hubs. The residual that push
// may leave at a node is proportional to its degree, and thousands of neighbours each keep a little
// that belongs to the hub; passages that mention hubs often are then misplaced.
//
// By the symmetry of an undirected graph, pi_v(h) deg(v) = pi_h(v) deg(h), the PageRank vectors of
// a few hubs tell for every node v what share of a residual at v ends at hub h. The sketch holds
// pi_v(h) for the highest-degree nodes h, a row per node v, in bfloat16; after a push,
//     x_h = p_h + sum_v r_v pi_v(h)
// is right up to rounding. It belongs to one restart probability.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/local_push.hpp"
#include "hippograph/serving_layout.hpp"

namespace hippograph {

// Borrowed arrays.
struct SketchView {
    std::span<const Rank> hubs;             // ranks of the hubs
    std::span<const std::uint16_t> shares;  // num_nodes rows of hubs.size(), by rank
};

// 8 leading bits of the fraction: a relative error of 2^-9.
[[nodiscard]] std::uint16_t to_bfloat16(float value) noexcept;

// sums[h] += residuals[i] * row rows[i] of shares [h], i rising. `rows` are below the number of
// rows; sums.size() is the length of a row, a multiple of 16. The same bytes at every level of
// simd.hpp.
void add_shares(std::span<const std::uint32_t> rows, std::span<const float> residuals,
                std::span<const std::uint16_t> shares, std::span<float> sums) noexcept;

// The `num_hubs` nodes with the largest degrees, by falling degree, as ranks.
template <typename Word>
[[nodiscard]] std::vector<Rank> highest_degrees(const LayoutView<Word>& layout,
                                                std::size_t num_hubs);

// Writes columns [first, first + vectors.size() / num_nodes) of the sketch for `hubs`: `vectors`
// holds the PageRank vectors of those hubs, a row of num_nodes each, in node order.
template <typename Word>
void fill_shares(const LayoutView<Word>& layout, std::span<const Rank> hubs, std::size_t first,
                 std::span<const float> vectors, std::span<std::uint16_t> shares, int num_threads);

// Sets the scores of the sketch's hubs from the residuals that `push` has left.
template <typename Word>
class HubCorrection {
   public:
    void apply(const SketchView& sketch, float restart_probability, LocalPush<Word>& push);

    // Takes the last correction back, so that the push can go on.
    void undo(const SketchView& sketch, LocalPush<Word>& push) noexcept;

   private:
    std::vector<std::uint32_t> rows_;
    std::vector<float> residuals_;
    std::vector<float> sums_;  // after apply(): what was added to the hubs
};

extern template std::vector<Rank> highest_degrees(const LayoutView<std::uint32_t>&, std::size_t);
extern template std::vector<Rank> highest_degrees(const LayoutView<std::uint64_t>&, std::size_t);
extern template void fill_shares(const LayoutView<std::uint32_t>&, std::span<const Rank>,
                                 std::size_t, std::span<const float>, std::span<std::uint16_t>,
                                 int);
extern template void fill_shares(const LayoutView<std::uint64_t>&, std::span<const Rank>,
                                 std::size_t, std::span<const float>, std::span<std::uint16_t>,
                                 int);
extern template class HubCorrection<std::uint32_t>;
extern template class HubCorrection<std::uint64_t>;

}  // namespace hippograph
