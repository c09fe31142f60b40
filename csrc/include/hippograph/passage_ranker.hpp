// The best passages for the node scores that a push has left, without looking at most of them.
//
// A passage's score is the sum over its nodes of node score times count. With x_1 >= x_2 >= ... the
// scores of the touched nodes that are not common (serving_layout.hpp), lists are added up from the
// top; when x_i is small against the k-th best passage so far, the rest can only matter for a few
// passages, those whose upper bound
//     sum so far + exact share of the common nodes + x_i * (counts not seen yet)
// still reaches the k-th score. They are scored from their own rows. Passages that only common
// nodes lead to are met by walking those nodes' lists, largest counts first, for as long as what
// the next entries could add up to reaches the k-th score (Fagin's threshold algorithm).
//
// The result is exact for the node scores given, unless the walk through the lists of common nodes
// ends at its limit of kMostListEntries: then a passage whose only merit is one of many equal
// entries of such a list may be passed over for another.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "hippograph/common_lists.hpp"
#include "hippograph/large_buffer.hpp"
#include "hippograph/local_push.hpp"
#include "hippograph/magnitude_sort.hpp"
#include "hippograph/serving_layout.hpp"
#include "hippograph/top_k.hpp"

namespace hippograph {

struct RankedPassage {
    float score;
    PassageId passage;
};

template <typename Word>
class PassageRanker {
   public:
    explicit PassageRanker(const LayoutView<Word>& layout);

    // Best first, at most k, all with a score above 0. The span is valid until the next call.
    std::span<const RankedPassage> rank(const LocalPush<Word>& push, std::size_t k, TieOrder ties);

    static constexpr std::int64_t kMostListEntries = 20'000;

   private:
    struct PassageState {
        float score;          // of the nodes added so far
        float counts;         // of the nodes added so far
        std::uint32_t stamp;  // the query's
        std::uint32_t unused;
    };
    struct ScoredNode {
        float score;
        std::uint32_t rank;
    };
    struct Candidate {
        float score;  // lower bound
        float bound;  // upper bound
        std::uint32_t passage;
    };

    void start();
    void collect_nodes(const LocalPush<Word>& push);
    void add_lists(std::size_t k);
    void add_list(float score, std::span<const Word> passages);
    void score_candidates(const LocalPush<Word>& push, std::size_t k);
    void walk_common_lists(const LocalPush<Word>& push, std::size_t k);
    std::int64_t walk_equal_counts(const LocalPush<Word>& push, std::size_t k);
    [[nodiscard]] float slack() const noexcept;
    void prefetch_passages(std::span<const Word> passages, std::size_t next) const noexcept;
    bool offer(float score, std::size_t passage, std::size_t k);
    void raise_kth(std::size_t k);
    [[nodiscard]] float full_score(const LocalPush<Word>& push, std::size_t passage) const noexcept;
    [[nodiscard]] float bound_of_unseen(const LocalPush<Word>& push,
                                        std::size_t passage) const noexcept;
    [[nodiscard]] float kth_so_far(std::size_t k);
    [[nodiscard]] bool before(const RankedPassage& a, const RankedPassage& b) const noexcept;

    LayoutView<Word> layout_;
    std::size_t mask_;
    LargeBuffer<PassageState> states_;
    std::uint32_t live_ = 0;
    TieOrder ties_ = TieOrder::ascending;
    float cut_ = 0.0F;  // no node that was not added scores more
    float kth_ = 0.0F;  // the k-th best of the scores proven so far; 0 while there are fewer
    std::vector<ScoredNode> nodes_;
    std::vector<ScoredNode> sorted_;
    CommonLists<Word> common_;
    std::vector<std::uint32_t> seen_;
    std::vector<Candidate> candidates_;
    std::vector<float> scores_;
    std::vector<RankedPassage> best_;  // a heap while ranking, worst on top
};

extern template class PassageRanker<std::uint32_t>;
extern template class PassageRanker<std::uint64_t>;

}  // namespace hippograph
