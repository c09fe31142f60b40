// Sparse rows in SELL-C-sigma form (Kreutzer et al., SIAM J. Sci. Comput. 2014), C = 16: a slice of
// sixteen rows stores its first entries side by side, then its second ones, and so on, so that one
// vector instruction serves sixteen rows. Rows of a graph of phrases are short (6 entries on
// average) and of random length, which costs row-wise loops a misprediction each; here there is one
// loop per slice, and neighbouring slices have equal lengths.
//
// A row's place is its slot. Sorting rows by length inside windows of kWindow slots leaves 3 to 7%
// of padding and keeps neighbours near each other. Rows of more than kLongRow entries (hubs) would
// pad fifteen others: they have the first slots, their slices are empty, and their entries lie
// apart, in chunks of at most kChunk that threads may add up independently.
//
// Memory: 8 bytes an entry, padding included.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/large_buffer.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/sell_kernels.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

class SellRows {
   public:
    static constexpr std::size_t kWindow = 4096;
    static constexpr EdgeOffset kLongRow = 256;
    static constexpr EdgeOffset kChunk = 4096;

    struct Chunk {
        std::int64_t row;  // slot of the long row
        EdgeOffset begin;
        EdgeOffset end;
    };

    SellRows() = default;

    // Lengths of the rows by slot: `num_long` long ones first, then a multiple of 16 in all; slots
    // to fill up slices have length 0. Every place is empty: value 0, column 0.
    SellRows(std::span<const EdgeOffset> lengths, std::int64_t num_long);

    // Writes the rows. for_each(slot, put) calls put(column, value) for each entry of a row, as
    // many as its length, never with the value 0, from several threads for different slots.
    template <typename ForEachEntry>
    void fill(int num_threads, const ForEachEntry& for_each) {
        const std::int64_t num_tasks = (num_slots() + kSlotsPerTask - 1) / kSlotsPerTask;
        parallel_for(num_tasks, num_threads, [&](std::int64_t task, int) {
            const std::int64_t last = std::min(num_slots(), (task + 1) * kSlotsPerTask);
            for (std::int64_t slot = task * kSlotsPerTask; slot < last; ++slot) {
                Cursor at = begin_of(slot);
                for_each(slot, [&](NodeId column, Weight value) {
                    at.columns[position(at.place)] = column;
                    at.values[position(at.place)] = value;
                    at.place += at.step;
                });
            }
        });
    }

    [[nodiscard]] std::int64_t num_slots() const noexcept { return 16 * num_slices(); }
    [[nodiscard]] std::int64_t num_slices() const noexcept { return std::ssize(offsets_) - 1; }
    [[nodiscard]] std::int64_t num_long() const noexcept { return std::ssize(long_offsets_) - 1; }
    [[nodiscard]] std::span<const Chunk> chunks() const noexcept { return chunks_; }
    // Entry columns before each slice; the last is their number.
    [[nodiscard]] std::span<const std::int64_t> offsets() const noexcept { return offsets_; }
    [[nodiscard]] const std::int32_t* long_columns() const noexcept { return long_columns_.data(); }
    [[nodiscard]] const float* long_values() const noexcept { return long_values_.data(); }
    [[nodiscard]] SellSlices slices() const noexcept {
        return {.offsets = offsets_.data(), .columns = columns_.data(), .values = values_.data()};
    }
    [[nodiscard]] std::size_t num_bytes() const noexcept;

   private:
    static constexpr std::int64_t kSlotsPerTask = 16'384;

    struct Cursor {
        std::span<std::int32_t> columns;
        std::span<float> values;
        EdgeOffset place;
        EdgeOffset step;
    };

    [[nodiscard]] Cursor begin_of(std::int64_t slot) noexcept;

    std::vector<std::int64_t> offsets_{0};
    LargeBuffer<std::int32_t> columns_;
    LargeBuffer<float> values_;
    std::vector<EdgeOffset> long_offsets_{0};
    LargeBuffer<std::int32_t> long_columns_;
    LargeBuffer<float> long_values_;
    std::vector<Chunk> chunks_;
};

// Sorts each window of kWindow rows by falling length; equal lengths keep their order.
void sort_in_windows(std::span<NodeId> rows, std::span<const EdgeOffset> lengths);

}  // namespace hippograph
