#include "hippograph/passage_rows.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "hippograph/parallel.hpp"

namespace hippograph {

namespace {

constexpr std::int64_t kSlicesPerTask = 1024;
constexpr std::int64_t kMinSlicesPerThread = 4096;
constexpr std::int64_t kRowsPerTask = 16'384;

void check_rows(const CsrView& occurrences, std::size_t num_nodes) {
    if (position(occurrences.num_rows()) != num_nodes) {
        throw std::invalid_argument("occurrences has " + std::to_string(occurrences.num_rows()) +
                                    " rows but the graph has " + std::to_string(num_nodes) +
                                    " nodes; there must be one row per node");
    }
}

// The same matrix by passage: entries (rank, count), ranks rising.
struct ByPassage {
    std::vector<EdgeOffset> offsets;
    std::vector<std::pair<Rank, Weight>> entries;
};

ByPassage transpose(const CsrView& occurrences, std::span<const Rank> ranks, int num_threads) {
    ByPassage result;
    result.offsets.assign(position(occurrences.num_columns) + 1, 0);
    for (std::size_t entry = 0; entry < occurrences.columns.size(); ++entry) {
        if (occurrences.values[entry] > 0.0F) {
            ++result.offsets[position(occurrences.columns[entry]) + 1];
        }
    }
    for (std::size_t passage = 1; passage < result.offsets.size(); ++passage) {
        result.offsets[passage] += result.offsets[passage - 1];
    }
    result.entries.resize(position(result.offsets.back()));
    std::vector<EdgeOffset> cursors(result.offsets.begin(), result.offsets.end() - 1);
    for (NodeId node = 0; node < occurrences.num_rows(); ++node) {
        for (EdgeOffset entry = occurrences.row_begin(node); entry < occurrences.row_end(node);
             ++entry) {
            const Weight count = occurrences.values[position(entry)];
            if (count == 0.0F) continue;
            EdgeOffset& cursor = cursors[position(occurrences.columns[position(entry)])];
            result.entries[position(cursor++)] = {ranks[position(node)], count};
        }
    }
    const std::int64_t num_passages = occurrences.num_columns;
    parallel_for((num_passages + kRowsPerTask - 1) / kRowsPerTask, num_threads,
                 [&](std::int64_t task, int) {
                     const std::int64_t last = std::min(num_passages, (task + 1) * kRowsPerTask);
                     for (std::int64_t row = task * kRowsPerTask; row < last; ++row) {
                         std::sort(result.entries.begin() + result.offsets[position(row)],
                                   result.entries.begin() + result.offsets[position(row) + 1]);
                     }
                 });
    return result;
}

}  // namespace

PassageRows::PassageRows(const CsrMatrix& occurrences, std::span<const Rank> ranks, int num_threads)
    : num_passages_(occurrences.view().num_columns) {
    check_rows(occurrences.view(), ranks.size());
    const ByPassage matrix = transpose(
        occurrences.view(), ranks, resolve_num_threads(num_threads, num_passages_ / kRowsPerTask));
    std::vector<EdgeOffset> lengths(position(num_passages_));
    std::vector<NodeId> others;
    for (PassageId passage = 0; passage < num_passages_; ++passage) {
        EdgeOffset& length = lengths[position(passage)];
        length = matrix.offsets[position(passage) + 1] - matrix.offsets[position(passage)];
        (length > SellRows::kLongRow ? passages_ : others).push_back(passage);
    }
    const auto num_long = std::ssize(passages_);
    while (passages_.size() % kLanes != 0) passages_.push_back(-1);
    sort_in_windows(others, lengths);
    passages_.insert(passages_.end(), others.begin(), others.end());
    while (passages_.size() % kLanes != 0) passages_.push_back(-1);
    std::vector<EdgeOffset> by_slot(passages_.size(), 0);
    for (std::size_t slot = 0; slot < passages_.size(); ++slot) {
        if (passages_[slot] >= 0) by_slot[slot] = lengths[position(passages_[slot])];
    }
    rows_ = SellRows(by_slot, num_long);
    rows_.fill(1, [&](std::int64_t slot, const auto& put) {
        const PassageId passage = passages_[position(slot)];
        if (passage < 0) return;
        for (EdgeOffset entry = matrix.offsets[position(passage)];
             entry < matrix.offsets[position(passage) + 1]; ++entry) {
            put(matrix.entries[position(entry)].first, matrix.entries[position(entry)].second);
        }
    });
}

void PassageRows::scores(std::span<const float> by_rank, int num_threads,
                         std::span<Score> scores) const {
    const std::int64_t num_slices = rows_.num_slices();
    const auto multiply = sell_kernels().multiply;
    const SellSlices slices = rows_.slices();
    // The slices of long rows are empty: those passages receive 0 here and their sums below.
    parallel_for((num_slices + kSlicesPerTask - 1) / kSlicesPerTask,
                 resolve_num_threads(num_threads, num_slices / kMinSlicesPerThread),
                 [&](std::int64_t task, int) {
                     std::array<double, kLanes> products{};
                     const std::int64_t last = std::min(num_slices, (task + 1) * kSlicesPerTask);
                     for (std::int64_t slice = task * kSlicesPerTask; slice < last; ++slice) {
                         multiply(slices, by_rank.data(), slice, slice + 1, products.data());
                         for (std::size_t lane = 0; lane < kLanes; ++lane) {
                             const PassageId passage = passages_[position(slice) * kLanes + lane];
                             if (passage >= 0) scores[position(passage)] = products[lane];
                         }
                     }
                 });
    long_scores(by_rank, scores);
}

void PassageRows::long_scores(std::span<const float> by_rank, std::span<Score> scores) const {
    const auto long_row = sell_kernels().long_row;
    for (const SellRows::Chunk& chunk : rows_.chunks()) {
        scores[position(passages_[position(chunk.row)])] += long_row(
            rows_.long_columns(), rows_.long_values(), by_rank.data(), chunk.begin, chunk.end);
    }
}

std::size_t PassageRows::num_bytes() const noexcept {
    return rows_.num_bytes() + passages_.size() * sizeof(PassageId);
}

}  // namespace hippograph
