#include "hippograph/similarity.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "hippograph/simd.hpp"
#include "hippograph/types.hpp"
#include "simd/neighbors.hpp"

namespace hippograph {

namespace {

constexpr std::size_t kNumLanes = 16;
using Lanes = std::array<double, kNumLanes>;

void add_products_plain(const float* left, const float* right, std::int64_t num_blocks,
                        double* lanes) noexcept {
    for (std::int64_t block = 0; block < num_blocks; ++block) {
        for (std::size_t lane = 0; lane < kNumLanes; ++lane) {
            lanes[lane] += double{left[lane]} * double{right[lane]};
        }
        left += kNumLanes;
        right += kNumLanes;
    }
}

template <auto add_products>
float similarity(const float* left, const float* right, std::int64_t dimension) {
    Lanes lanes{};
    const std::size_t size = position(dimension);
    const std::size_t whole = size - size % kNumLanes;
    add_products(left, right, static_cast<std::int64_t>(whole / kNumLanes), lanes.data());
    for (std::size_t i = whole; i < size; ++i) {
        lanes[i - whole] += double{left[i]} * double{right[i]};
    }
    for (std::size_t width = kNumLanes / 2; width > 0; width /= 2) {
        for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    return static_cast<float>(std::clamp(lanes[0], -1.0, 1.0));
}

constexpr std::int64_t kPairsPerItem = 4096;

void check_ids(std::span<const NodeId> ids, std::int64_t num_rows, const char* name) {
    const auto bad =
        std::ranges::find_if(ids, [num_rows](NodeId id) { return id < 0 || id >= num_rows; });
    if (bad == ids.end()) return;
    throw std::invalid_argument(std::string(name) + "[" + std::to_string(bad - ids.begin()) +
                                "] is " + std::to_string(*bad) + ", but there are " +
                                std::to_string(num_rows) + " rows");
}

}  // namespace

Similarity similarity_function() noexcept {
#if defined(HIPPOGRAPH_X86_KERNELS)
    switch (simd_level()) {
        case SimdLevel::avx512:
            return similarity<simd::add_products_avx512>;
        case SimdLevel::avx2:
            return similarity<simd::add_products_avx2>;
        case SimdLevel::plain:
            break;
    }
#endif
    return similarity<add_products_plain>;
}

std::vector<float> pair_similarities(const FloatRows& rows, std::span<const NodeId> first,
                                     std::span<const NodeId> second, int num_threads,
                                     const CheckInterrupt& check_interrupt) {
    check_shape(rows);
    if (first.size() != second.size()) {
        throw std::invalid_argument("first has " + std::to_string(first.size()) + " ids, second " +
                                    std::to_string(second.size()));
    }
    check_ids(first, rows.num_rows, "first");
    check_ids(second, rows.num_rows, "second");
    std::vector<float> result(first.size());
    const Similarity compute = similarity_function();
    const std::int64_t num_pairs = std::ssize(first);
    const std::int64_t num_items = (num_pairs + kPairsPerItem - 1) / kPairsPerItem;
    parallel_for(
        num_items, resolve_num_threads(num_threads, num_items), [&](std::int64_t item, int worker) {
            if (worker == 0) check_interrupt();
            const std::int64_t end = std::min(num_pairs, (item + 1) * kPairsPerItem);
            for (std::int64_t pair = item * kPairsPerItem; pair < end; ++pair) {
                const std::size_t i = position(pair);
                result[i] = compute(rows.row(first[i]), rows.row(second[i]), rows.dimension);
            }
        });
    return result;
}

}  // namespace hippograph
