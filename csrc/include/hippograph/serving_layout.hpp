// The graph and its occurrences as the serving kernel reads them: few cache lines per node.
//
// Nodes are numbered by rank: first the nodes that occur in many passages ("common" nodes), most
// passages first, then all others in community order (community_order.hpp). Passages are numbered
// by rank too, next to the passages that share their rarer nodes. A word holds an id and a code
// (value_codes.hpp), id in all but the lowest 8 bits. Word = 32 bits up to 2^24 nodes and passages,
// else 64. Offsets count words.
//
//   node row      degree (float bits), num_neighbors,
//                 neighbours by rank: rank, weight code;
//                 occurrences by falling count, then number of common nodes in the passage, then
//                 rising passage id: passage rank, count code
//   passage row   sum of counts (float bits), num_common, occurrences: common nodes by rank, then
//   the
//                 others by rank: rank, count code
//
// Degrees are sums of coded weights, so that the walk loses no mass to the coding. Each list is
// there once; nothing in it depends on the restart probability.
//
// Files may hold anything. Every row is clipped to the array it lies in, and ids are masked or
// checked where they are used, so that damaged files give wrong answers, never a wild read.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/types.hpp"
#include "hippograph/value_codes.hpp"

namespace hippograph {

using Rank = std::int32_t;

inline constexpr unsigned kCodeBits = 8;
inline constexpr std::size_t kRowHead = 2;
inline constexpr std::int64_t kMostNarrowIds = std::int64_t{1} << 24U;

template <typename Word>
[[nodiscard]] constexpr std::size_t id_of(Word word) noexcept {
    return static_cast<std::size_t>(word >> kCodeBits);
}

template <typename Word>
[[nodiscard]] constexpr std::size_t code_of(Word word) noexcept {
    return static_cast<std::size_t>(word & Word{0xFF});
}

// One node's or passage's words after the head: `listed` of them in `first`, the rest in `second`.
template <typename Word>
struct RowView {
    float head = 0.0F;  // degree, or sum of counts
    std::span<const Word> first;
    std::span<const Word> second;
};

// Inlined everywhere: as a call it took an eighth of a query's time.
template <typename Word>
[[nodiscard, gnu::always_inline]] inline RowView<Word> read_row(std::span<const Word> begins,
                                                                std::span<const Word> words,
                                                                std::size_t row) noexcept {
    const std::size_t end = std::min<std::size_t>(begins[row + 1], words.size());
    const std::size_t begin = std::min<std::size_t>(begins[row], end);
    if (end - begin < kRowHead) return {};
    const std::size_t listed = std::min<std::size_t>(words[begin + 1], end - begin - kRowHead);
    const auto entries = words.subspan(begin + kRowHead, end - begin - kRowHead);
    return {.head = std::bit_cast<float>(static_cast<std::uint32_t>(words[begin])),
            .first = entries.first(listed),
            .second = entries.subspan(listed)};
}

// Asks for the start of a row, clipped as above.
template <typename Word>
void prefetch_row(std::span<const Word> begins, std::span<const Word> words,
                  std::size_t row) noexcept {
    __builtin_prefetch(words.data() + std::min<std::size_t>(begins[row], words.size()));
}

// Borrowed arrays.
template <typename Word>
struct LayoutView {
    std::span<const Word> node_begins;  // num_nodes + 1
    std::span<const Word> node_words;
    std::span<const Word> passage_begins;  // num_passages + 1
    std::span<const Word> passage_words;
    std::span<const float> weight_values;    // kNumCodes
    std::span<const float> count_values;     // kNumCodes
    std::span<const Rank> ranks;             // by node
    std::span<const PassageId> passage_ids;  // by passage rank
    Rank num_common = 0;

    [[nodiscard]] std::size_t num_nodes() const noexcept { return node_begins.size() - 1; }
    [[nodiscard]] std::size_t num_passages() const noexcept { return passage_begins.size() - 1; }
    [[nodiscard]] RowView<Word> node(std::size_t rank) const noexcept {
        return read_row(node_begins, node_words, rank);
    }
    [[nodiscard]] RowView<Word> passage(std::size_t rank) const noexcept {
        return read_row(passage_begins, passage_words, rank);
    }
};

template <typename Word>
struct LayoutArrays {
    std::vector<Word> node_begins;
    std::vector<Word> node_words;
    std::vector<Word> passage_begins;
    std::vector<Word> passage_words;
    std::vector<float> weight_values;
    std::vector<float> count_values;
    std::vector<Rank> ranks;
    std::vector<PassageId> passage_ids;
    Rank num_common = 0;
    double weight_error = 0.0;  // largest relative error of a coded weight

    [[nodiscard]] LayoutView<Word> view() const noexcept {
        return {node_begins,  node_words, passage_begins, passage_words, weight_values,
                count_values, ranks,      passage_ids,    num_common};
    }
};

// True when 32-bit words are enough.
[[nodiscard]] bool fits_narrow_words(const CsrView& weights, const CsrView& occurrences) noexcept;

// Throws std::invalid_argument unless `weights` is square and exactly symmetric and `occurrences`
// has a row per node.
template <typename Word>
[[nodiscard]] LayoutArrays<Word> build_layout(const CsrMatrix& weights,
                                              const CsrMatrix& occurrences, int num_threads);

extern template LayoutArrays<std::uint32_t> build_layout(const CsrMatrix&, const CsrMatrix&, int);
extern template LayoutArrays<std::uint64_t> build_layout(const CsrMatrix&, const CsrMatrix&, int);

}  // namespace hippograph
