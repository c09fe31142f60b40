// The lists of the common nodes that a query has touched, read from their tops (largest counts
// first) as far as they can still matter: the bookkeeping of passage_ranker.hpp's walk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hippograph/serving_layout.hpp"

namespace hippograph {

template <typename Word>
class CommonLists {
   public:
    void clear() noexcept {
        lists_.clear();
        most_.clear();
    }

    void add(float node_score, std::span<const Word> passages) {
        if (!passages.empty()) lists_.push_back({node_score, passages});
    }

    // Call once, after the last add().
    void start(std::span<const float> count_values) {
        count_values_ = count_values;
        std::ranges::sort(lists_, std::greater{}, [this](const List& list) { return next(list); });
        for (const List& list : lists_) most_.push_back(next(list));
    }

    // k passages have at least this score, by one of the nodes alone.
    [[nodiscard]] float kth_by_one_node(std::size_t k) const noexcept {
        float best = 0.0F;
        for (const List& list : lists_) {
            if (list.passages.size() < k) continue;
            const float count = count_values_[code_of(list.passages[k - 1])];
            best = std::max(best, list.node_score * count);
        }
        return best;
    }

    // Turns to the list whose next entry adds most; false when none adds anything.
    bool choose() noexcept {
        bound_ = 0.0;
        float most = 0.0F;
        for (std::size_t i = 0; i < lists_.size(); ++i) {
            const float added = next(lists_[i]);
            bound_ += static_cast<double>(added);
            if (added > most) {
                most = added;
                chosen_ = i;
            }
        }
        return most > 0.0F;
    }

    // As of choose(): what all next entries add up to, and no unread passage gets more.
    [[nodiscard]] double bound() const noexcept { return bound_; }

    // Of the chosen list:
    [[nodiscard]] std::span<const Word> unread() const noexcept { return lists_[chosen_].passages; }
    [[nodiscard]] float next_of_chosen() const noexcept { return next(lists_[chosen_]); }
    void read(std::size_t num_entries) noexcept {
        lists_[chosen_].passages = lists_[chosen_].passages.subspan(num_entries);
    }
    // Passes over the entries with the count of the next one.
    void skip_equal_counts() noexcept {
        const auto passages = unread();
        const std::size_t code = code_of(passages.front());
        const auto end = std::ranges::partition_point(
            passages, [code](Word word) { return code_of(word) >= code; });
        read(static_cast<std::size_t>(end - passages.begin()));
    }

    // What num_common - 1 other common nodes can add at most.
    [[nodiscard]] float most_of_others(std::size_t num_common) const noexcept {
        float sum = 0.0F;
        std::size_t others = 0;
        for (std::size_t i = 0; i < most_.size() && others + 1 < num_common; ++i) {
            if (i == chosen_) continue;
            sum += most_[i];
            ++others;
        }
        return sum;
    }

   private:
    struct List {
        float node_score;
        std::span<const Word> passages;  // not read yet
    };

    [[nodiscard]] float next(const List& list) const noexcept {
        return list.passages.empty()
                   ? 0.0F
                   : list.node_score * count_values_[code_of(list.passages.front())];
    }

    std::vector<List> lists_;  // by falling contribution
    std::vector<float> most_;  // by list: its largest contribution
    std::span<const float> count_values_;
    std::size_t chosen_ = 0;
    double bound_ = 0.0;
};

}  // namespace hippograph
