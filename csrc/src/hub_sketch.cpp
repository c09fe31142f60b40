#include "hippograph/hub_sketch.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "hippograph/parallel.hpp"
#include "hippograph/simd.hpp"

namespace hippograph {

namespace simd {
// Arguments as add_shares, by pointer.
void add_shares_avx2(const std::uint32_t* rows, const float* residuals, std::size_t num_rows,
                     const std::uint16_t* shares, float* sums, std::size_t width) noexcept;
void add_shares_avx512(const std::uint32_t* rows, const float* residuals, std::size_t num_rows,
                       const std::uint16_t* shares, float* sums, std::size_t width) noexcept;
}  // namespace simd

namespace {

float from_bfloat16(std::uint16_t bits) noexcept {
    return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

void add_shares_plain(std::span<const std::uint32_t> rows, std::span<const float> residuals,
                      std::span<const std::uint16_t> shares, std::span<float> sums) noexcept {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = shares.subspan(rows[i] * sums.size(), sums.size());
        for (std::size_t hub = 0; hub < sums.size(); ++hub) {
            sums[hub] += residuals[i] * from_bfloat16(row[hub]);
        }
    }
}

}  // namespace

std::uint16_t to_bfloat16(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
}

void add_shares(std::span<const std::uint32_t> rows, std::span<const float> residuals,
                std::span<const std::uint16_t> shares, std::span<float> sums) noexcept {
#if defined(HIPPOGRAPH_X86_KERNELS)
    if (simd_level() == SimdLevel::avx512) {
        return simd::add_shares_avx512(rows.data(), residuals.data(), rows.size(), shares.data(),
                                       sums.data(), sums.size());
    }
    if (simd_level() == SimdLevel::avx2) {
        return simd::add_shares_avx2(rows.data(), residuals.data(), rows.size(), shares.data(),
                                     sums.data(), sums.size());
    }
#endif
    add_shares_plain(rows, residuals, shares, sums);
}

template <typename Word>
std::vector<Rank> highest_degrees(const LayoutView<Word>& layout, std::size_t num_hubs) {
    std::vector<std::pair<float, Rank>> nodes;
    nodes.reserve(layout.num_nodes());
    for (std::size_t rank = 0; rank < layout.num_nodes(); ++rank) {
        const float degree = layout.node(rank).head;  // what is no number would break sorting
        nodes.emplace_back(degree > 0.0F ? degree : 0.0F, static_cast<Rank>(rank));
    }
    const auto better = [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    };
    const std::size_t count = std::min(num_hubs, nodes.size());
    std::ranges::partial_sort(nodes, nodes.begin() + static_cast<std::ptrdiff_t>(count), better);
    std::vector<Rank> hubs;
    for (const auto& [degree, rank] : std::span(nodes).first(count)) hubs.push_back(rank);
    return hubs;
}

template <typename Word>
void fill_shares(const LayoutView<Word>& layout, std::span<const Rank> hubs, std::size_t first,
                 std::span<const float> vectors, std::span<std::uint16_t> shares, int num_threads) {
    const std::size_t num_nodes = layout.num_nodes();
    const std::size_t num_vectors = num_nodes == 0 ? 0 : vectors.size() / num_nodes;
    if (vectors.size() != num_vectors * num_nodes || first + num_vectors > hubs.size() ||
        shares.size() != hubs.size() * num_nodes) {
        throw std::invalid_argument("the hub vectors do not fit the sketch");
    }
    const auto is_node = [num_nodes](Rank rank) { return rank >= 0 && position(rank) < num_nodes; };
    if (!std::ranges::all_of(hubs, is_node) || !std::ranges::all_of(layout.ranks, is_node)) {
        throw std::invalid_argument("the serving layout is damaged: a rank names no node");
    }
    constexpr std::size_t kNodesPerTask = 1U << 14U;
    const std::size_t num_tasks = (num_nodes + kNodesPerTask - 1) / kNodesPerTask;
    const int threads = resolve_num_threads(num_threads, static_cast<std::int64_t>(num_tasks));
    parallel_for(static_cast<std::int64_t>(num_tasks), threads, [&](std::int64_t task, int) {
        const std::size_t begin = position(task) * kNodesPerTask;
        for (std::size_t node = begin; node < std::min(num_nodes, begin + kNodesPerTask); ++node) {
            const auto rank = static_cast<std::size_t>(layout.ranks[node]);
            const float degree = layout.node(rank).head;
            if (!(degree > 0.0F)) continue;
            for (std::size_t vector = 0; vector < num_vectors; ++vector) {
                const auto hub = static_cast<std::size_t>(hubs[first + vector]);
                const float share =
                    vectors[vector * num_nodes + node] * (layout.node(hub).head / degree);
                shares[rank * hubs.size() + first + vector] = to_bfloat16(share);
            }
        }
    });
}

template std::vector<Rank> highest_degrees(const LayoutView<std::uint32_t>&, std::size_t);
template std::vector<Rank> highest_degrees(const LayoutView<std::uint64_t>&, std::size_t);
template void fill_shares(const LayoutView<std::uint32_t>&, std::span<const Rank>, std::size_t,
                          std::span<const float>, std::span<std::uint16_t>, int);
template void fill_shares(const LayoutView<std::uint64_t>&, std::span<const Rank>, std::size_t,
                          std::span<const float>, std::span<std::uint16_t>, int);

template <typename Word>
void HubCorrection<Word>::apply(const SketchView& sketch, float restart_probability,
                                LocalPush<Word>& push) {
    sums_.clear();
    if (sketch.hubs.empty()) return;
    const std::size_t num_rows = sketch.shares.size() / sketch.hubs.size();
    rows_.clear();
    residuals_.clear();
    for (const std::uint32_t rank : push.touched()) {
        const float residual = push.state(rank).residual;
        if (residual > 0.0F && rank < num_rows) {
            rows_.push_back(rank);
            residuals_.push_back(residual);
        }
    }
    sums_.assign(sketch.hubs.size(), 0.0F);
    add_shares(rows_, residuals_, sketch.shares, sums_);
    for (std::size_t hub = 0; hub < sketch.hubs.size(); ++hub) {
        if (!(sums_[hub] > 0.0F)) {
            sums_[hub] = 0.0F;
            continue;
        }
        const auto rank = static_cast<std::size_t>(sketch.hubs[hub]);
        push.touch(rank);
        // What restarts at the hub itself is among the shares; settled() adds it once more.
        NodeState& state = push.state(rank);
        sums_[hub] -= restart_probability * state.residual;
        state.score += sums_[hub];
    }
}

template <typename Word>
void HubCorrection<Word>::undo(const SketchView& sketch, LocalPush<Word>& push) noexcept {
    for (std::size_t hub = 0; hub < sums_.size(); ++hub) {
        push.state(static_cast<std::size_t>(sketch.hubs[hub])).score -= sums_[hub];
    }
}

template class HubCorrection<std::uint32_t>;
template class HubCorrection<std::uint64_t>;

}  // namespace hippograph
