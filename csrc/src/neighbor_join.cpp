#include "hippograph/neighbor_join.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace hippograph {

namespace {

// A step compares up to kStepRows rows with some columns, and then merges what it found: at most
// kPairsPerStep hits (150 MB), reached only by rows that are all alike. Its work is cut into items
// of kItemRows x kItemColumns pairs; those columns (1.6 MB at 384 dimensions) stay in the
// second-level cache from one item to the next.
constexpr std::int64_t kItemRows = 16 * kTileRows;
constexpr std::int64_t kItemColumns = 64 * kPanelColumns;
constexpr std::int64_t kStepRows = 32 * kItemRows;
constexpr std::int64_t kPairsPerStep = kStepRows * kItemColumns;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void check_flags(std::span<const std::uint8_t> flags, const FloatRows& rows, const char* name) {
    if (flags.empty() || std::ssize(flags) == rows.num_rows) return;
    throw std::invalid_argument(std::string(name) + " has " + std::to_string(flags.size()) +
                                " entries for " + std::to_string(rows.num_rows) + " rows");
}

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
    return (value + divisor - 1) / divisor;
}

bool is_set(std::span<const std::uint8_t> flags, std::int64_t i) {
    return flags.empty() || flags[position(i)] != 0;
}

// Checked before anything is computed, hence a function for the constructor's first member.
const FloatRows& checked(const FloatRows& rows, std::span<const std::uint8_t> listed,
                         std::span<const std::uint8_t> searched, const JoinOptions& options) {
    check_shape(rows);
    check_flags(listed, rows, "listed");
    check_flags(searched, rows, "searched");
    if (!(std::abs(options.floor) <= 1.0F)) {
        throw std::invalid_argument("floor is " + std::to_string(options.floor) +
                                    "; it must be between -1 and 1");
    }
    if (options.max_neighbors < 1) {
        throw std::invalid_argument("max_neighbors is " + std::to_string(options.max_neighbors) +
                                    "; it must be at least 1");
    }
    (void)resolve_num_threads(options.num_threads, 1);
    return rows;
}

std::vector<NodeId> searched_first(std::int64_t num_rows, std::span<const std::uint8_t> searched) {
    std::vector<NodeId> order;
    order.reserve(position(num_rows));
    for (NodeId row = 0; row < num_rows; ++row) {
        if (is_set(searched, row)) order.push_back(row);
    }
    for (NodeId row = 0; row < num_rows; ++row) {
        if (!is_set(searched, row)) order.push_back(row);
    }
    return order;
}

}  // namespace

NeighborJoin::NeighborJoin(const FloatRows& rows, std::span<const std::uint8_t> listed,
                           std::span<const std::uint8_t> searched, const JoinOptions& options,
                           const CheckInterrupt& check_interrupt)
    : rows_(checked(rows, listed, searched, options)),
      options_(options),
      kernel_(tile_kernel()),
      similarity_(similarity_function()),
      order_(searched_first(rows.num_rows, searched)),
      packed_(quantize_rows(rows, options.num_threads, check_interrupt).view(), rows.dimension,
              order_, options.num_threads, check_interrupt),
      lists_(position(rows.num_rows)) {
    for (std::int64_t place = 0; place < rows.num_rows; ++place) {
        const NodeId row = order_[position(place)];
        if (is_set(searched, row)) ++num_searched_;
        // Without a list a row never wants a pair; the other one may.
        packed_.bounds().floors[position(place)] = is_set(listed, row) ? options.floor : kInfinity;
    }
}

void NeighborJoin::advance(const CheckInterrupt& check_interrupt) {
    const std::int64_t row_end = std::min(num_done_ + kStepRows, num_searched_);
    if (row_end == num_done_) return;
    // Few rows take many columns at once, so that there is work for all threads.
    const std::int64_t step_columns =
        kPairsPerStep / (row_end - num_done_) / kItemColumns * kItemColumns;
    const std::int64_t first_column = num_done_ / kPanelColumns * kPanelColumns;
    for (std::int64_t begin = first_column; begin < rows_.num_rows; begin += step_columns) {
        const Block step{.row_begin = num_done_,
                         .row_end = row_end,
                         .column_begin = begin,
                         .column_end = std::min(begin + step_columns, rows_.num_rows)};
        run_step(step, check_interrupt);
    }
    num_done_ = row_end;
}

void NeighborJoin::run_step(const Block& step, const CheckInterrupt& check_interrupt) {
    const std::int64_t items_down = divide_up(step.row_end - step.row_begin, kItemRows);
    const std::int64_t items_across = divide_up(step.column_end - step.column_begin, kItemColumns);
    std::vector<std::vector<Hit>> hits(position(items_down * items_across));
    parallel_for(
        std::ssize(hits), resolve_num_threads(options_.num_threads, std::ssize(hits)),
        [&](std::int64_t item, int worker) {
            if (worker == 0) check_interrupt();
            const std::int64_t row = step.row_begin + item % items_down * kItemRows;
            const std::int64_t column = step.column_begin + item / items_down * kItemColumns;
            const Block block{.row_begin = row,
                              .row_end = std::min(row + kItemRows, step.row_end),
                              .column_begin = column,
                              .column_end = std::min(column + kItemColumns, step.column_end)};
            search_block(block, hits[position(item)]);
        });
    for (const std::vector<Hit>& found : hits) {
        for (const Hit& hit : found) {
            keep(hit.row, hit.column, hit.similarity);
            keep(hit.column, hit.row, hit.similarity);
        }
    }
}

void NeighborJoin::search_block(const Block& block, std::vector<Hit>& hits) const {
    const RowBounds& bounds = packed_.bounds();
    std::int32_t dots[kTileRows * kPanelColumns];
    for (std::int64_t column = block.column_begin; column < block.column_end;
         column += kPanelColumns) {
        if (column + kPanelColumns <= block.row_begin + 1) continue;  // all before the rows
        const std::int64_t panel = column / kPanelColumns;
        const float* const scales = bounds.scales.data() + column;
        const float* const errors = bounds.errors.data() + column;
        const float* const floors = bounds.floors.data() + column;
        for (std::int64_t first = block.row_begin; first < block.row_end; first += kTileRows) {
            kernel_.multiply(packed_.row(first), packed_.panel(panel), packed_.num_steps(),
                             packed_.starts(panel), dots);
            const std::int64_t end = std::min(first + kTileRows, block.row_end);
            for (std::int64_t row = first; row < end; ++row) {
                const std::size_t r = position(row);
                const std::uint64_t mask =
                    kernel_.mark_hits(dots + (row - first) * kPanelColumns, bounds.scales[r],
                                      bounds.errors[r], bounds.floors[r], scales, errors, floors);
                if (mask != 0) collect_hits(row, column, mask, hits);
            }
        }
    }
}

void NeighborJoin::collect_hits(std::int64_t row, std::int64_t column, std::uint64_t mask,
                                std::vector<Hit>& hits) const {
    const RowBounds& bounds = packed_.bounds();
    const float* const left = rows_.row(order_[position(row)]);
    for (; mask != 0; mask &= mask - 1) {
        const std::int64_t other = column + std::countr_zero(mask);
        if (other <= row) continue;  // that pair has been seen from the other side
        const float similarity =
            similarity_(left, rows_.row(order_[position(other)]), rows_.dimension);
        if (similarity >= std::min(bounds.floors[position(row)], bounds.floors[position(other)])) {
            hits.push_back(
                {static_cast<std::int32_t>(row), static_cast<std::int32_t>(other), similarity});
        }
    }
}

void NeighborJoin::keep(std::int32_t row, std::int32_t column, float similarity) {
    if (!(similarity >= packed_.bounds().floors[position(row)])) return;
    std::vector<Neighbor>& list = lists_[position(row)];
    list.push_back({similarity, order_[position(column)]});
    // Half as long again before it is cut: cutting then costs a constant per neighbour kept.
    const std::int64_t limit = std::int64_t{options_.max_neighbors} * 3 / 2 + 16;
    if (std::ssize(list) >= limit) cut(row);
}

// Leaves the best max_neighbors, in no order; the worst of them becomes the row's floor.
void NeighborJoin::cut(std::int64_t place) {
    std::vector<Neighbor>& list = lists_[position(place)];
    const std::int64_t length = options_.max_neighbors;
    if (std::ssize(list) <= length) return;
    const auto worst = list.begin() + (length - 1);
    std::nth_element(list.begin(), worst, list.end());
    packed_.bounds().floors[position(place)] = worst->similarity;
    list.resize(position(length));
}

NeighborPairs NeighborJoin::finish() {
    std::vector<std::int32_t> places(order_.size());
    std::size_t num_pairs = 0;
    for (std::size_t place = 0; place < order_.size(); ++place) {
        places[position(order_[place])] = static_cast<std::int32_t>(place);
        cut(static_cast<std::int64_t>(place));
        num_pairs += lists_[place].size();
    }
    NeighborPairs pairs;
    pairs.rows.reserve(num_pairs);
    pairs.columns.reserve(num_pairs);
    pairs.similarities.reserve(num_pairs);
    for (std::size_t row = 0; row < places.size(); ++row) {
        std::vector<Neighbor> list = std::move(lists_[position(places[row])]);
        std::sort(list.begin(), list.end());
        for (const Neighbor& neighbor : list) {
            pairs.rows.push_back(static_cast<NodeId>(row));
            pairs.columns.push_back(neighbor.id);
            pairs.similarities.push_back(neighbor.similarity);
        }
    }
    return pairs;
}

}  // namespace hippograph
