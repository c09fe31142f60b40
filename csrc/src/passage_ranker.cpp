#include "hippograph/passage_ranker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>

namespace hippograph {

namespace {

// Nodes are sorted by the top bits of their scores: by half octaves, which is fine enough here.
constexpr unsigned kBucketShift = 22;
constexpr std::size_t kNumBuckets = 512;
constexpr float kBucketWidth = 1.5F;  // no bucket spans a larger factor
// Lists are added until the next node scores less than this share of the k-th passage.
constexpr float kNegligibleShare = 0.004F;
constexpr std::size_t kFirstCheck = 16;
constexpr std::size_t kListsAhead = 6;
constexpr std::size_t kRowsAhead = 4;
constexpr std::size_t kWalkStep = 64;
// Bounds are sums in another order than scores: they may differ in the last bits.
constexpr float kRounding = 1.0F + 1e-5F;

std::size_t bucket_of(float score) noexcept {
    return std::min<std::size_t>(std::bit_cast<std::uint32_t>(score) >> kBucketShift,
                                 kNumBuckets - 1);
}

// Damaged files can bring forth anything; what is no score would break sorting.
float usable(float score) noexcept {
    return score <= std::numeric_limits<float>::max() ? score : 0.0F;
}

}  // namespace

template <typename Word>
PassageRanker<Word>::PassageRanker(const LayoutView<Word>& layout)
    : layout_(layout),
      mask_(std::bit_ceil(std::max<std::size_t>(1, layout.num_passages())) - 1),
      states_(mask_ + 1) {}

template <typename Word>
void PassageRanker<Word>::start() {
    nodes_.clear();
    common_.clear();
    seen_.clear();
    candidates_.clear();
    best_.clear();
    cut_ = 0.0F;
    kth_ = 0.0F;
    if (++live_ == 0) {  // all stamps were used once: forget them
        states_ = LargeBuffer<PassageState>(mask_ + 1);
        live_ = 1;
    }
}

template <typename Word>
std::span<const RankedPassage> PassageRanker<Word>::rank(const LocalPush<Word>& push, std::size_t k,
                                                         TieOrder ties) {
    start();
    ties_ = ties;
    collect_nodes(push);
    sort_nodes();
    add_lists(k);
    score_candidates(push, k);
    walk_common_lists(push, k);
    std::ranges::sort(best_, [this](const auto& a, const auto& b) { return before(a, b); });
    return best_;
}

template <typename Word>
void PassageRanker<Word>::collect_nodes(const LocalPush<Word>& push) {
    for (const std::uint32_t rank : push.touched()) {
        const float score = push.settled(rank);
        if (!(score > 0.0F) || rank >= layout_.num_nodes()) continue;
        if (rank >= position(layout_.num_common)) {
            nodes_.push_back({score, rank});
        } else if (const auto passages = layout_.node(rank).second; !passages.empty()) {
            common_.push_back({score, passages});
        }
    }
}

template <typename Word>
void PassageRanker<Word>::sort_nodes() {
    std::array<std::uint32_t, kNumBuckets> ends{};
    for (const ScoredNode& node : nodes_) ++ends[bucket_of(node.score)];
    std::uint32_t begin = 0;
    for (std::size_t bucket = kNumBuckets; bucket-- > 0;) {
        begin += std::exchange(ends[bucket], begin);
    }
    sorted_.resize(nodes_.size());
    for (const ScoredNode& node : nodes_) sorted_[ends[bucket_of(node.score)]++] = node;
}

template <typename Word>
void PassageRanker<Word>::add_lists(std::size_t k) {
    std::size_t next_check = kFirstCheck;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
        if (i + 2 * kListsAhead < sorted_.size()) {
            __builtin_prefetch(layout_.node_begins.data() + sorted_[i + 2 * kListsAhead].rank);
        }
        if (i + kListsAhead < sorted_.size()) {
            const auto begin =
                static_cast<std::size_t>(layout_.node_begins[sorted_[i + kListsAhead].rank]);
            __builtin_prefetch(layout_.node_words.data() + begin);
        }
        if (i == next_check) {
            const float cut = sorted_[i].score * kBucketWidth;
            if (cut < kNegligibleShare * kth_so_far(k)) {
                cut_ = cut;
                return;
            }
            next_check = i + std::max(kFirstCheck, i / 2);
        }
        add_list(sorted_[i].score, layout_.node(sorted_[i].rank).second);
    }
}

template <typename Word>
void PassageRanker<Word>::add_list(float score, std::span<const Word> passages) {
    for (const Word word : passages) {
        const std::size_t passage = id_of(word) & mask_;
        PassageState& state = states_[passage];
        if (state.stamp != live_) {
            state = {.score = 0.0F, .counts = 0.0F, .stamp = live_, .unused = 0};
            seen_.push_back(static_cast<std::uint32_t>(passage));
        }
        const float count = layout_.count_values[code_of(word)];
        state.score += score * count;
        state.counts += count;
    }
}

template <typename Word>
float PassageRanker<Word>::kth_so_far(std::size_t k) {
    if (seen_.size() < k) return 0.0F;
    scores_.resize(seen_.size());
    std::ranges::transform(seen_, scores_.begin(), [this](std::uint32_t passage) {
        return usable(states_[passage].score);
    });
    const auto kth = scores_.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::ranges::nth_element(scores_, kth, std::greater{});
    return *kth;
}

template <typename Word>
void PassageRanker<Word>::score_candidates(const LocalPush<Word>& push, std::size_t k) {
    scores_.clear();
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        if (i + 2 * kRowsAhead < seen_.size()) {
            __builtin_prefetch(layout_.passage_begins.data() + seen_[i + 2 * kRowsAhead]);
        }
        if (i + kRowsAhead < seen_.size()) {
            const auto begin =
                static_cast<std::size_t>(layout_.passage_begins[std::min<std::size_t>(
                    seen_[i + kRowsAhead], layout_.num_passages())]);
            __builtin_prefetch(layout_.passage_words.data() + begin);
        }
        const std::uint32_t passage = seen_[i];
        if (passage >= layout_.num_passages()) continue;
        const PassageState& state = states_[passage];
        const RowView<Word> row = layout_.passage(passage);
        float score = state.score;
        float counts = state.counts;
        for (const Word word : row.first) {
            const float count = layout_.count_values[code_of(word)];
            score += push.settled(id_of(word)) * count;
            counts += count;
        }
        score = usable(score);
        const float bound = score + cut_ * std::max(0.0F, row.head - counts);
        candidates_.push_back({.score = score, .bound = bound * kRounding, .passage = passage});
        scores_.push_back(score);
    }
    if (scores_.size() >= k) {
        const auto kth = scores_.begin() + static_cast<std::ptrdiff_t>(k - 1);
        std::ranges::nth_element(scores_, kth, std::greater{});
        kth_ = *kth / kRounding;
    }
    std::erase_if(candidates_, [this](const Candidate& c) { return c.bound < kth_; });
    for (const Candidate& candidate : candidates_) {
        offer(full_score(push, candidate.passage), candidate.passage, k);
    }
}

template <typename Word>
float PassageRanker<Word>::full_score(const LocalPush<Word>& push,
                                      std::size_t passage) const noexcept {
    const RowView<Word> row = layout_.passage(passage);
    float score = 0.0F;
    for (const Word word : row.second) push.prefetch(id_of(word));
    for (const Word word : row.first) {
        score += push.settled(id_of(word)) * layout_.count_values[code_of(word)];
    }
    for (const Word word : row.second) {
        score += push.settled(id_of(word)) * layout_.count_values[code_of(word)];
    }
    return usable(score);
}

template <typename Word>
float PassageRanker<Word>::next_of(const CommonNode& node) const noexcept {
    return node.passages.empty()
               ? 0.0F
               : node.score * layout_.count_values[code_of(node.passages.front())];
}

template <typename Word>
void PassageRanker<Word>::walk_common_lists(const LocalPush<Word>& push, std::size_t k) {
    std::int64_t num_entries = 0;
    while (num_entries < kMostListEntries) {
        double bound = 0.0;  // of a passage that no list has led to yet
        std::size_t richest = 0;
        float most = 0.0F;
        for (std::size_t i = 0; i < common_.size(); ++i) {
            const float next = next_of(common_[i]);
            bound += static_cast<double>(next);
            if (next > most) {
                most = next;
                richest = i;
            }
        }
        if (!(most > 0.0F) || (best_.size() == k && bound * kRounding < static_cast<double>(kth_)))
            return;
        CommonNode& node = common_[richest];
        const auto code = code_of(node.passages.front());
        std::size_t taken = 0;
        for (; taken < std::min(kWalkStep, node.passages.size()); ++taken) {
            if (code_of(node.passages[taken]) != code) break;
            const std::size_t passage = id_of(node.passages[taken]) & mask_;
            PassageState& state = states_[passage];
            if (state.stamp == live_ || passage >= layout_.num_passages()) continue;
            state.stamp = live_;
            offer(full_score(push, passage), static_cast<std::uint32_t>(passage), k);
        }
        num_entries += static_cast<std::int64_t>(taken);
        node.passages = node.passages.subspan(taken);
    }
}

template <typename Word>
bool PassageRanker<Word>::before(const RankedPassage& a, const RankedPassage& b) const noexcept {
    if (a.score != b.score) return a.score > b.score;
    return ties_ == TieOrder::ascending ? a.passage < b.passage : a.passage > b.passage;
}

template <typename Word>
void PassageRanker<Word>::offer(float score, std::uint32_t passage, std::size_t k) {
    if (!(score > 0.0F)) return;
    const auto worse = [this](const auto& a, const auto& b) { return before(a, b); };
    const RankedPassage offered{.score = score, .passage = layout_.passage_ids[passage]};
    if (best_.size() == k) {
        if (!before(offered, best_.front())) return;
        std::ranges::pop_heap(best_, worse);
        best_.back() = offered;
    } else {
        best_.push_back(offered);
    }
    std::ranges::push_heap(best_, worse);
    if (best_.size() == k) kth_ = std::max(kth_, best_.front().score);
}

template class PassageRanker<std::uint32_t>;
template class PassageRanker<std::uint64_t>;

}  // namespace hippograph
