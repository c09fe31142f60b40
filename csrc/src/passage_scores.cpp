#include "hippograph/passage_scores.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "hippograph/parallel.hpp"

namespace hippograph {

namespace {

// Each further thread searches its range of passages in every row, which must pay.
constexpr EdgeOffset kMinEntriesPerThread = 500'000;

void check_length(std::size_t length, NodeId wanted, const char* name, const char* per) {
    if (length != position(wanted)) {
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(length) +
                                    " entries; it needs " + std::to_string(wanted) + ", one per " +
                                    per);
    }
}

void scatter(const CsrView& occurrences, std::span<const Score> node_scores,
             std::span<Score> scores) noexcept {
    for (NodeId node = 0; node < occurrences.num_rows(); ++node) {
        const Score score = node_scores[position(node)];
        if (score == 0.0) continue;
        for (EdgeOffset entry = occurrences.row_begin(node); entry < occurrences.row_end(node);
             ++entry) {
            const std::size_t place = position(entry);
            scores[position(occurrences.columns[place])] +=
                score * static_cast<Score>(occurrences.values[place]);
        }
    }
}

// The same for the passages in [first, last) only; columns of a row rise.
void scatter_range(const CsrView& occurrences, std::span<const Score> node_scores, NodeId first,
                   NodeId last, std::span<Score> scores) noexcept {
    for (NodeId node = 0; node < occurrences.num_rows(); ++node) {
        const Score score = node_scores[position(node)];
        if (score == 0.0) continue;
        const std::size_t begin = position(occurrences.row_begin(node));
        const auto row =
            occurrences.columns.subspan(begin, position(occurrences.row_end(node)) - begin);
        auto place = position(std::ranges::lower_bound(row, first) - row.begin());
        for (; place < row.size() && row[place] < last; ++place) {
            scores[position(row[place])] +=
                score * static_cast<Score>(occurrences.values[begin + place]);
        }
    }
}

}  // namespace

void passage_scores(const CsrMatrix& occurrences, std::span<const Score> node_scores,
                    int num_threads, std::span<Score> scores) {
    const CsrView& view = occurrences.view();
    check_length(node_scores.size(), view.num_rows(), "node_scores", "row of occurrences");
    check_length(scores.size(), view.num_columns, "scores", "column of occurrences");
    std::ranges::fill(scores, 0.0);
    const int threads = resolve_num_threads(num_threads, view.num_entries() / kMinEntriesPerThread);
    if (threads == 1) {
        scatter(view, node_scores, scores);
        return;
    }
    const NodeId num_passages = view.num_columns;
    const NodeId per_range = num_passages / threads + 1;
    parallel_for(threads, threads, [&](std::int64_t range, int) {
        const auto first =
            static_cast<NodeId>(std::min<std::int64_t>(range * per_range, num_passages));
        const NodeId last = first + std::min(per_range, num_passages - first);
        scatter_range(view, node_scores, first, last, scores);
    });
}

}  // namespace hippograph
