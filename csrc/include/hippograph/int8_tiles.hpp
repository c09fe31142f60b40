// Byte rows packed for multiplying many with many, and the loop over one tile of the product.
//
// A tile is 6 rows by a panel of 64 columns: its 384 sums fill the registers of the widest variant,
// and a panel (24 KiB at 384 dimensions) stays in the first-level cache while all rows of a block
// pass by. A panel holds four consecutive codes of column 0, then of column 1, ..., then the next
// four: what the 8-bit dot-product instructions multiply with four bytes of a row. They want one
// side unsigned, so rows are stored as code + 128, and the sums of a column start at -128 times the
// sum of its codes (`starts`). All variants give the same integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/int8_rows.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

inline constexpr std::int64_t kTileRows = 6;
inline constexpr std::int64_t kPanelColumns = 64;

// Estimates are scale * scale * dot; a pair is a hit when
// estimate + (sum of both errors) >= the smaller of both floors. One entry per row.
struct RowBounds {
    std::vector<float> scales;
    std::vector<float> errors;
    std::vector<float> floors;
};

struct TileKernel {
    // dots[r * 64 + c] = dot product of row r of the tile with column c of the panel.
    // `rows` has kTileRows rows of 4 * num_steps bytes, `panel` num_steps x 64 x 4 codes.
    void (*multiply)(const std::uint8_t* rows, const std::int8_t* panel, std::int64_t num_steps,
                     const std::int32_t* starts, std::int32_t* dots);
    // Bit c is set when (row, column c) is a hit; dots and the columns' bounds have 64 entries.
    std::uint64_t (*mark_hits)(const std::int32_t* dots, float scale, float error, float floor,
                               const float* scales, const float* errors, const float* floors);
};

[[nodiscard]] TileKernel tile_kernel() noexcept;

// Rows in a new order, padded to whole panels with rows that are never hits.
class PackedRows {
   public:
    // order[p] is the row stored at position p.
    PackedRows(const Int8Rows& rows, std::int64_t dimension, std::span<const NodeId> order,
               int num_threads, const CheckInterrupt& check_interrupt);

    [[nodiscard]] std::int64_t num_panels() const noexcept { return num_panels_; }
    [[nodiscard]] std::int64_t num_steps() const noexcept { return num_steps_; }
    [[nodiscard]] const std::uint8_t* row(std::int64_t place) const noexcept {
        return rows_.data() + place * num_steps_ * 4;
    }
    [[nodiscard]] const std::int8_t* panel(std::int64_t p) const noexcept {
        return panels_.data() + p * num_steps_ * 4 * kPanelColumns;
    }
    [[nodiscard]] const std::int32_t* starts(std::int64_t p) const noexcept {
        return starts_.data() + p * kPanelColumns;
    }
    [[nodiscard]] RowBounds& bounds() noexcept { return bounds_; }
    [[nodiscard]] const RowBounds& bounds() const noexcept { return bounds_; }

   private:
    void pack_row(std::int64_t place, const std::int8_t* codes, std::int64_t dimension);

    std::int64_t num_steps_;
    std::int64_t num_panels_;
    std::vector<std::uint8_t> rows_;
    std::vector<std::int8_t> panels_;
    std::vector<std::int32_t> starts_;
    RowBounds bounds_;
};

}  // namespace hippograph
