#include "hippograph/passage_ranker.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace hippograph {

namespace {

// Lists are added until so many occurrences of the next node come to less than kMostSlack of the
// k-th score. Less slack means more lists here and fewer in the walk; measured.
constexpr float kMostUnseenCounts = 20.0F;
constexpr float kMostSlack = 0.5F;
constexpr std::size_t kFirstCheck = 16;
constexpr std::size_t kListsAhead = 6;
constexpr std::size_t kRowsAhead = 4;
constexpr std::size_t kWalkStep = 64;
// Bounds are sums in another order than scores: they may differ in the last bits.
constexpr float kRounding = 1.0F + 1e-5F;

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
float PassageRanker<Word>::slack() const noexcept {
    return cut_ * kMostUnseenCounts;
}

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
    sort_by_magnitude<ScoredNode>(nodes_, sorted_);
    common_.start(layout_.count_values);
    kth_ = common_.kth_by_one_node(k) / kRounding;
    add_lists(k);
    score_candidates(push, k);
    walk_common_lists(push, k);
    std::ranges::sort(best_, [this](const auto& a, const auto& b) { return before(a, b); });
    return best_;
}

template <typename Word>
void PassageRanker<Word>::collect_nodes(const LocalPush<Word>& push) {
    for (const std::uint32_t rank : push.touched()) {
        const float score = usable(push.settled(rank));
        if (!(score > 0.0F) || rank >= layout_.num_nodes()) continue;
        if (rank >= position(layout_.num_common)) {
            nodes_.push_back({score, rank});
        } else {
            common_.add(score, layout_.node(rank).second);
        }
    }
}

template <typename Word>
void PassageRanker<Word>::add_lists(std::size_t k) {
    std::size_t next_check = kFirstCheck;
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
        if (i + 2 * kListsAhead < sorted_.size()) {
            __builtin_prefetch(layout_.node_begins.data() + sorted_[i + 2 * kListsAhead].rank);
        }
        if (i + kListsAhead < sorted_.size()) {
            prefetch_row(layout_.node_begins, layout_.node_words, sorted_[i + kListsAhead].rank);
        }
        if (i == next_check) {
            const float cut = sorted_[i].score * kMagnitudeWidth;
            if (cut * kMostUnseenCounts < kMostSlack * kth_so_far(k)) {
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
            __builtin_prefetch(layout_.passage_begins.data() + passage);
        }
        const float count = layout_.count_values[code_of(word)];
        state.score += score * count;
        state.counts += count;
    }
}

// Scores only grow, and so does the k-th: what was below it before needs no second look.
template <typename Word>
float PassageRanker<Word>::kth_so_far(std::size_t k) {
    scores_.clear();
    for (const std::uint32_t passage : seen_) {
        const float score = usable(states_[passage].score);
        if (score >= kth_) scores_.push_back(score);
    }
    raise_kth(k);
    return kth_;
}

template <typename Word>
void PassageRanker<Word>::raise_kth(std::size_t k) {
    if (scores_.size() < k) return;
    const auto kth = scores_.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::ranges::nth_element(scores_, kth, std::greater{});
    kth_ = std::max(kth_, *kth / kRounding);
}

template <typename Word>
void PassageRanker<Word>::score_candidates(const LocalPush<Word>& push, std::size_t k) {
    scores_.clear();
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        if (i + kRowsAhead < seen_.size()) {
            const std::size_t ahead =
                std::min<std::size_t>(seen_[i + kRowsAhead], layout_.num_passages());
            prefetch_row(layout_.passage_begins, layout_.passage_words, ahead);
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
        if (score >= kth_) scores_.push_back(score);
    }
    raise_kth(k);
    std::erase_if(candidates_, [this](const Candidate& c) { return c.bound < kth_; });
    for (const Candidate& candidate : candidates_) {
        (void)offer(full_score(push, candidate.passage), candidate.passage, k);
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

// Its other nodes are in no list that was added, so they score at most cut_ each.
template <typename Word>
float PassageRanker<Word>::bound_of_unseen(const LocalPush<Word>& push,
                                           std::size_t passage) const noexcept {
    const RowView<Word> row = layout_.passage(passage);
    float score = 0.0F;
    float counts = 0.0F;
    for (const Word word : row.first) {
        const float count = layout_.count_values[code_of(word)];
        score += push.settled(id_of(word)) * count;
        counts += count;
    }
    return (score + cut_ * std::max(0.0F, row.head - counts)) * kRounding;
}

template <typename Word>
void PassageRanker<Word>::walk_common_lists(const LocalPush<Word>& push, std::size_t k) {
    std::int64_t num_entries = 0;
    while (num_entries < kMostListEntries && common_.choose()) {
        const double bound = (common_.bound() + static_cast<double>(slack())) * kRounding;
        if (best_.size() == k && bound < static_cast<double>(kth_)) return;
        num_entries += walk_equal_counts(push, k);
    }
}

// Reads a few entries of the chosen list, all of one count; returns how many.
template <typename Word>
std::int64_t PassageRanker<Word>::walk_equal_counts(const LocalPush<Word>& push, std::size_t k) {
    const std::span<const Word> passages = common_.unread();
    const std::size_t code = code_of(passages.front());
    const float own = common_.next_of_chosen();
    const std::size_t size = std::min(kWalkStep, passages.size());
    std::size_t next = 0;
    for (; next < size && code_of(passages[next]) == code; ++next) {
        prefetch_passages(passages, next);
        const std::size_t passage = id_of(passages[next]) & mask_;
        PassageState& state = states_[passage];
        if (state.stamp == live_ || passage >= layout_.num_passages()) continue;
        const std::size_t num_common = layout_.passage(passage).first.size();
        bool rest_is_lost = false;
        if (best_.size() == k) {
            // What follows with this count has as many common nodes, or fewer.
            const float others = common_.most_of_others(num_common) + slack();
            rest_is_lost = own + others * kRounding < kth_;
            if (!rest_is_lost && bound_of_unseen(push, passage) < kth_) continue;
        }
        if (!rest_is_lost) {
            state.stamp = live_;
            const bool is_in = offer(full_score(push, passage), passage, k);
            // What follows then differs by its id alone, and the ids that win have come first.
            rest_is_lost =
                !is_in && num_common == 1 && cut_ == 0.0F && ties_ == TieOrder::ascending;
        }
        if (rest_is_lost) {
            common_.skip_equal_counts();
            return static_cast<std::int64_t>(next) + 1;
        }
    }
    common_.read(next);
    return static_cast<std::int64_t>(next);
}

template <typename Word>
void PassageRanker<Word>::prefetch_passages(std::span<const Word> passages,
                                            std::size_t next) const noexcept {
    if (next + 2 * kRowsAhead < passages.size()) {
        const std::size_t passage = id_of(passages[next + 2 * kRowsAhead]) & mask_;
        __builtin_prefetch(layout_.passage_begins.data() + passage);
        __builtin_prefetch(states_.data() + passage);
    }
    if (next + kRowsAhead < passages.size()) {
        const std::size_t passage =
            std::min<std::size_t>(id_of(passages[next + kRowsAhead]), layout_.num_passages());
        prefetch_row(layout_.passage_begins, layout_.passage_words, passage);
    }
}

template <typename Word>
bool PassageRanker<Word>::before(const RankedPassage& a, const RankedPassage& b) const noexcept {
    if (a.score != b.score) return a.score > b.score;
    return ties_ == TieOrder::ascending ? a.passage < b.passage : a.passage > b.passage;
}

template <typename Word>
bool PassageRanker<Word>::offer(float score, std::size_t passage, std::size_t k) {
    if (!(score > 0.0F)) return false;
    const auto worse = [this](const auto& a, const auto& b) { return before(a, b); };
    const RankedPassage offered{.score = score, .passage = layout_.passage_ids[passage]};
    if (best_.size() == k) {
        if (!before(offered, best_.front())) return false;
        std::ranges::pop_heap(best_, worse);
        best_.back() = offered;
    } else {
        best_.push_back(offered);
    }
    std::ranges::push_heap(best_, worse);
    if (best_.size() == k) kth_ = std::max(kth_, best_.front().score);
    return true;
}

template class PassageRanker<std::uint32_t>;
template class PassageRanker<std::uint64_t>;

}  // namespace hippograph
