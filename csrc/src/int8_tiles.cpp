#include "hippograph/int8_tiles.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "hippograph/simd.hpp"
#include "simd/neighbors.hpp"

namespace hippograph {

namespace {

constexpr std::int64_t kBytesPerStep = 4;
constexpr std::int32_t kUnsignedOffset = 128;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void multiply_plain(const std::uint8_t* rows, const std::int8_t* panel, std::int64_t num_steps,
                    const std::int32_t* starts, std::int32_t* dots) noexcept {
    for (std::int64_t r = 0; r < kTileRows; ++r) {
        const std::uint8_t* row = rows + r * num_steps * kBytesPerStep;
        std::array<std::int32_t, position(kPanelColumns)> sums{};
        for (std::int64_t step = 0; step < num_steps; ++step) {
            const std::int8_t* four = panel + step * kBytesPerStep * kPanelColumns;
            for (std::size_t c = 0; c < sums.size(); ++c) {
                sums[c] += row[0] * four[4 * c] + row[1] * four[4 * c + 1] +
                           row[2] * four[4 * c + 2] + row[3] * four[4 * c + 3];
            }
            row += kBytesPerStep;
        }
        for (std::size_t c = 0; c < sums.size(); ++c) *dots++ = sums[c] + starts[c];
    }
}

std::uint64_t mark_hits_plain(const std::int32_t* dots, float scale, float error, float floor,
                              const float* scales, const float* errors,
                              const float* floors) noexcept {
    std::uint64_t hits = 0;
    for (std::int64_t c = 0; c < kPanelColumns; ++c) {
        const float estimate = static_cast<float>(dots[c]) * scales[c] * scale;
        const bool hit = estimate + (errors[c] + error) >= std::min(floor, floors[c]);
        hits |= static_cast<std::uint64_t>(hit) << c;
    }
    return hits;
}

}  // namespace

TileKernel tile_kernel() noexcept {
#if defined(HIPPOGRAPH_X86_KERNELS)
    if (has_vnni()) return {simd::multiply_tile_vnni, simd::mark_hits_vnni};
    if (simd_level() != SimdLevel::plain) return {simd::multiply_tile_avx2, simd::mark_hits_avx2};
#endif
    return {multiply_plain, mark_hits_plain};
}

PackedRows::PackedRows(const Int8Rows& rows, std::int64_t dimension, std::span<const NodeId> order,
                       int num_threads, const CheckInterrupt& check_interrupt)
    : num_steps_((dimension + kBytesPerStep - 1) / kBytesPerStep),
      num_panels_((std::ssize(order) + kPanelColumns - 1) / kPanelColumns) {
    // A tile may begin at the last row: room for kTileRows - 1 rows more.
    const std::size_t row_bytes = position(num_steps_ * kBytesPerStep);
    const std::size_t num_places = position(num_panels_ * kPanelColumns);
    rows_.assign((num_places + position(kTileRows)) * row_bytes, kUnsignedOffset);
    panels_.assign(num_places * row_bytes, 0);
    starts_.assign(num_places, 0);
    bounds_.scales.assign(num_places + position(kTileRows), 0.0F);
    bounds_.errors.assign(num_places + position(kTileRows), -kInfinity);
    bounds_.floors.assign(num_places + position(kTileRows), kInfinity);
    parallel_for(num_panels_, resolve_num_threads(num_threads, num_panels_),
                 [&](std::int64_t panel, int worker) {
                     if (worker == 0) check_interrupt();
                     const std::int64_t begin = panel * kPanelColumns;
                     const std::int64_t end = std::min(std::ssize(order), begin + kPanelColumns);
                     for (std::int64_t place = begin; place < end; ++place) {
                         const std::size_t row = position(order[position(place)]);
                         if (!(rows.scales[row] > 0.0F)) continue;
                         bounds_.scales[position(place)] = rows.scales[row];
                         bounds_.errors[position(place)] = rows.errors[row];
                         pack_row(place, rows.codes.data() + row * position(dimension), dimension);
                     }
                 });
}

void PackedRows::pack_row(std::int64_t place, const std::int8_t* codes, std::int64_t dimension) {
    std::uint8_t* const row = rows_.data() + place * num_steps_ * kBytesPerStep;
    const std::int64_t p = place / kPanelColumns;
    std::int8_t* const column = panels_.data() + p * num_steps_ * kBytesPerStep * kPanelColumns +
                                place % kPanelColumns * kBytesPerStep;
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < dimension; ++i) {
        row[i] = static_cast<std::uint8_t>(codes[i] + kUnsignedOffset);
        column[i / kBytesPerStep * kBytesPerStep * kPanelColumns + i % kBytesPerStep] = codes[i];
        sum += codes[i];
    }
    starts_[position(place)] = -kUnsignedOffset * sum;
}

}  // namespace hippograph
