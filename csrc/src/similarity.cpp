#include "hippograph/similarity.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

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

}  // namespace hippograph
