#include "hippograph/sell_rows.hpp"

namespace hippograph {

SellRows::SellRows(std::span<const EdgeOffset> lengths, std::int64_t num_long) {
    const std::size_t num_long_rows = position(num_long);
    for (std::size_t slot = 0; slot < num_long_rows; ++slot) {
        const EdgeOffset begin = long_offsets_.back();
        const EdgeOffset end = begin + lengths[slot];
        for (EdgeOffset chunk = begin; chunk < end; chunk += kChunk) {
            chunks_.push_back({.row = static_cast<std::int64_t>(slot),
                               .begin = chunk,
                               .end = std::min(end, chunk + kChunk)});
        }
        long_offsets_.push_back(end);
    }
    offsets_.reserve(lengths.size() / kLanes + 1);
    for (std::size_t first = 0; first < lengths.size(); first += kLanes) {
        EdgeOffset longest = 0;
        for (std::size_t slot = std::max(first, num_long_rows); slot < first + kLanes; ++slot) {
            longest = std::max(longest, lengths[slot]);
        }
        offsets_.push_back(offsets_.back() + longest);
    }
    columns_ = LargeBuffer<std::int32_t>(kLanes * (position(offsets_.back()) + kColumnsAhead));
    values_ = LargeBuffer<float>(columns_.size());
    long_columns_ = LargeBuffer<std::int32_t>(position(long_offsets_.back()));
    long_values_ = LargeBuffer<float>(long_columns_.size());
}

SellRows::Cursor SellRows::begin_of(std::int64_t slot) noexcept {
    if (slot < num_long()) {
        return {.columns = long_columns_.view(),
                .values = long_values_.view(),
                .place = long_offsets_[position(slot)],
                .step = 1};
    }
    return {.columns = columns_.view(),
            .values = values_.view(),
            .place = 16 * offsets_[position(slot / 16)] + slot % 16,
            .step = 16};
}

std::size_t SellRows::num_bytes() const noexcept {
    return columns_.num_bytes() + values_.num_bytes() + long_columns_.num_bytes() +
           long_values_.num_bytes() + offsets_.size() * sizeof(std::int64_t) +
           long_offsets_.size() * sizeof(EdgeOffset) + chunks_.size() * sizeof(Chunk);
}

void sort_in_windows(std::span<NodeId> rows, std::span<const EdgeOffset> lengths) {
    for (std::size_t first = 0; first < rows.size(); first += SellRows::kWindow) {
        const auto window = rows.subspan(first, std::min(SellRows::kWindow, rows.size() - first));
        std::ranges::stable_sort(window, [&](NodeId a, NodeId b) {
            return lengths[position(a)] > lengths[position(b)];
        });
    }
}

}  // namespace hippograph
