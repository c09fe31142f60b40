#include "hippograph/nearest_rows.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>

#include "hippograph/simd.hpp"
#include "hippograph/similarity.hpp"
#include "simd/neighbors.hpp"

namespace hippograph {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// Rows whose codes stay in the second-level cache while a group of queries passes (100 KB at 384).
constexpr std::int64_t kBlockRows = 256;
// What one thread takes at a time: long enough to be worth it, short enough to share.
constexpr std::int64_t kItemRows = 64 * kBlockRows;
constexpr std::int64_t kItemQueries = 32;
// The wide loops read whole vectors of the query; it is padded with zeros.
constexpr std::int64_t kQueryPadding = 64;

// dots[i] = dot product of the query with row i; `query` is padded to kQueryPadding.
using MultiplyRows = void (*)(const std::int8_t* query, const std::int8_t* rows,
                              std::int64_t num_rows, std::int64_t dimension, std::int32_t* dots);

void multiply_rows_plain(const std::int8_t* query, const std::int8_t* rows, std::int64_t num_rows,
                         std::int64_t dimension, std::int32_t* dots) {
    for (std::int64_t row = 0; row < num_rows; ++row) {
        std::int32_t sum = 0;
        for (std::int64_t i = 0; i < dimension; ++i) sum += query[i] * rows[i];
        dots[row] = sum;
        rows += dimension;
    }
}

MultiplyRows multiply_rows_function() noexcept {
#if defined(HIPPOGRAPH_X86_KERNELS)
    if (has_vnni()) return simd::multiply_rows_vnni;
    if (simd_level() != SimdLevel::plain) return simd::multiply_rows_avx2;
#endif
    return multiply_rows_plain;
}

struct Candidate {
    float upper;  // its similarity is at most this
    NodeId id;
};

// The k best lower ends of one query so far, as a heap with the worst on top.
class LowerEnds {
   public:
    explicit LowerEnds(std::int32_t k) : k_(position(k)) { ends_.reserve(k_); }

    // No row whose upper end is below this can be among the k best.
    [[nodiscard]] float bar() const noexcept { return ends_.size() < k_ ? -kInfinity : ends_[0]; }

    void add(float lower) {
        if (ends_.size() == k_) {
            if (!(lower > ends_[0])) return;
            std::ranges::pop_heap(ends_, std::greater{});
            ends_.pop_back();
        }
        ends_.push_back(lower);
        std::ranges::push_heap(ends_, std::greater{});
    }

    void merge(const LowerEnds& other) {
        for (const float lower : other.ends_) add(lower);
    }

   private:
    std::size_t k_;
    std::vector<float> ends_;
};

// What a pass over some rows found for one query.
struct Found {
    LowerEnds ends;
    std::vector<Candidate> candidates;
};

class Search {
   public:
    Search(const FloatRows& rows, const Int8Rows& codes, const FloatRows& queries, std::int32_t k,
           int num_threads, const CheckInterrupt& check_interrupt)
        : rows_(rows),
          codes_(codes),
          queries_(queries),
          k_(k),
          quantized_(quantize_rows(queries, 1, check_interrupt)),
          padded_((rows.dimension + kQueryPadding - 1) / kQueryPadding * kQueryPadding),
          padded_queries_(position(queries.num_rows * padded_)),
          items_across_((rows.num_rows + kItemRows - 1) / kItemRows),
          items_down_((queries.num_rows + kItemQueries - 1) / kItemQueries) {
        for (std::int64_t q = 0; q < queries.num_rows; ++q) {
            std::copy_n(quantized_.codes.begin() + q * rows.dimension, rows.dimension,
                        padded_queries_.begin() + q * padded_);
        }
        found_.assign(position(queries.num_rows * items_across_), {LowerEnds(k), {}});
        const std::int64_t num_items = items_across_ * items_down_;
        parallel_for(num_items, resolve_num_threads(num_threads, num_items),
                     [&](std::int64_t item, int worker) {
                         if (worker == 0) check_interrupt();
                         scan(item / items_down_, item % items_down_);
                     });
    }

    // The best k rows for one query, best first; fewer when not enough rows have a direction.
    [[nodiscard]] std::vector<Neighbor> rank(std::int64_t query) const;

   private:
    void scan(std::int64_t across, std::int64_t down);
    void scan_block(std::int64_t begin, std::int64_t end, std::int64_t query, Found& found) const;
    [[nodiscard]] std::vector<Candidate> promising(std::int64_t query) const;

    FloatRows rows_;
    Int8Rows codes_;
    FloatRows queries_;
    std::int32_t k_;
    Int8Arrays quantized_;
    std::int64_t padded_;
    std::vector<std::int8_t> padded_queries_;
    std::int64_t items_across_;  // over the rows
    std::int64_t items_down_;    // over the queries
    std::vector<Found> found_;   // num_queries x items_across_
    MultiplyRows multiply_ = multiply_rows_function();
    Similarity similarity_ = similarity_function();
};

void Search::scan(std::int64_t across, std::int64_t down) {
    const std::int64_t rows_end = std::min((across + 1) * kItemRows, rows_.num_rows);
    const std::int64_t queries_end = std::min((down + 1) * kItemQueries, queries_.num_rows);
    for (std::int64_t begin = across * kItemRows; begin < rows_end; begin += kBlockRows) {
        const std::int64_t end = std::min(begin + kBlockRows, rows_end);
        for (std::int64_t query = down * kItemQueries; query < queries_end; ++query) {
            if (quantized_.scales[position(query)] == 0.0F) continue;
            scan_block(begin, end, query, found_[position(query * items_across_ + across)]);
        }
    }
}

void Search::scan_block(std::int64_t begin, std::int64_t end, std::int64_t query,
                        Found& found) const {
    std::array<std::int32_t, position(kBlockRows)> dots;
    std::array<float, position(kBlockRows)> uppers;
    multiply_(padded_queries_.data() + query * padded_,
              codes_.codes.data() + begin * rows_.dimension, end - begin, rows_.dimension,
              dots.data());
    const float scale = quantized_.scales[position(query)];
    const float error = quantized_.errors[position(query)];
    const float* const scales = codes_.scales.data() + begin;
    const float* const errors = codes_.errors.data() + begin;
    const std::size_t size = position(end - begin);
    for (std::size_t i = 0; i < size; ++i) {
        const float upper = static_cast<float>(dots[i]) * scales[i] * scale + (errors[i] + error);
        uppers[i] = scales[i] > 0.0F ? upper : -kInfinity;
    }
    float bar = found.ends.bar();
    for (std::size_t i = 0; i < size; ++i) {
        if (!(uppers[i] >= bar) || uppers[i] == -kInfinity) continue;
        found.candidates.push_back(
            {uppers[i], static_cast<NodeId>(begin) + static_cast<NodeId>(i)});
        found.ends.add(static_cast<float>(dots[i]) * scales[i] * scale - (errors[i] + error));
        bar = found.ends.bar();
    }
}

// All rows that may be among the k best, most promising first.
std::vector<Candidate> Search::promising(std::int64_t query) const {
    const auto parts =
        std::span(found_).subspan(position(query * items_across_), position(items_across_));
    LowerEnds ends(k_);
    for (const Found& part : parts) ends.merge(part.ends);
    std::vector<Candidate> candidates;
    for (const Found& part : parts) {
        for (const Candidate& candidate : part.candidates) {
            if (candidate.upper >= ends.bar()) candidates.push_back(candidate);
        }
    }
    std::ranges::sort(candidates, [](const Candidate& left, const Candidate& right) {
        if (left.upper != right.upper) return left.upper > right.upper;
        return left.id < right.id;
    });
    return candidates;
}

std::vector<Neighbor> Search::rank(std::int64_t query) const {
    std::vector<Neighbor> best;  // a heap with the worst on top
    for (const Candidate& candidate : promising(query)) {
        const bool full = std::ssize(best) == k_;
        if (full && candidate.upper < best.front().similarity) break;
        const float similarity =
            similarity_(queries_.row(query), rows_.row(candidate.id), rows_.dimension);
        const Neighbor neighbor{similarity, candidate.id};
        if (full) {
            if (!(neighbor < best.front())) continue;
            std::pop_heap(best.begin(), best.end());
            best.pop_back();
        }
        best.push_back(neighbor);
        std::push_heap(best.begin(), best.end());
    }
    std::sort_heap(best.begin(), best.end());
    return best;
}

void check(const FloatRows& rows, const Int8Rows& codes, const FloatRows& queries, std::int32_t k) {
    check_shape(rows);
    check_shape(queries);
    if (queries.dimension != rows.dimension) {
        throw std::invalid_argument("queries have " + std::to_string(queries.dimension) +
                                    " elements, rows " + std::to_string(rows.dimension));
    }
    if (codes.codes.size() != rows.values.size() || std::ssize(codes.scales) != rows.num_rows ||
        std::ssize(codes.errors) != rows.num_rows) {
        throw std::invalid_argument("there are " + std::to_string(codes.codes.size()) + " codes, " +
                                    std::to_string(codes.scales.size()) + " scales and " +
                                    std::to_string(codes.errors.size()) + " errors for " +
                                    std::to_string(rows.num_rows) + " rows of " +
                                    std::to_string(rows.dimension));
    }
    if (k < 1 || k > std::max<std::int64_t>(rows.num_rows, 1)) {
        throw std::invalid_argument("k is " + std::to_string(k) + "; it must be between 1 and " +
                                    std::to_string(rows.num_rows));
    }
}

}  // namespace

NearestRows nearest_rows(const FloatRows& rows, const Int8Rows& codes, const FloatRows& queries,
                         std::int32_t k, int num_threads, const CheckInterrupt& check_interrupt) {
    check(rows, codes, queries, k);
    const std::size_t num_places = position(queries.num_rows) * position(k);
    NearestRows result{.ids = std::vector<NodeId>(num_places, -1),
                       .similarities = std::vector<float>(num_places, 0.0F),
                       .num_found = std::vector<std::int32_t>(position(queries.num_rows), 0)};
    const Search search(rows, codes, queries, k, num_threads, check_interrupt);
    parallel_for(queries.num_rows, resolve_num_threads(num_threads, queries.num_rows),
                 [&](std::int64_t query, int worker) {
                     if (worker == 0) check_interrupt();
                     const std::vector<Neighbor> best = search.rank(query);
                     std::size_t place = position(query) * position(k);
                     for (const Neighbor& neighbor : best) {
                         result.ids[place] = neighbor.id;
                         result.similarities[place++] = neighbor.similarity;
                     }
                     result.num_found[position(query)] = static_cast<std::int32_t>(best.size());
                 });
    return result;
}

}  // namespace hippograph
