#include "hippograph/top_k.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace hippograph {

namespace {

struct Candidate {
    Score score;
    std::size_t turn;  // when it was met; ids are visited in tie order, so earlier wins a tie
};

bool is_better(const Candidate& a, const Candidate& b) noexcept {
    return a.score > b.score || (a.score == b.score && a.turn < b.turn);
}

// Keeps the k best of a stream: collects up to twice as many, then drops the worse half. Once full,
// most candidates cost one comparison.
class Selection {
   public:
    explicit Selection(std::size_t k, std::size_t most) : k_(k) {
        kept_.reserve(std::min(2 * k, most));
    }

    void offer(const Candidate& candidate) {
        if (is_full_ && !is_better(candidate, worst_)) return;
        kept_.push_back(candidate);
        if (kept_.size() == 2 * k_) halve();
    }

    // The k best, best first; all there were when fewer.
    std::span<const Candidate> finish() {
        if (kept_.size() > k_) halve();
        std::ranges::sort(kept_, is_better);
        return kept_;
    }

   private:
    void halve() {
        const auto last_kept = kept_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
        std::ranges::nth_element(kept_, last_kept, is_better);
        worst_ = *last_kept;
        kept_.resize(k_);
        is_full_ = true;
    }

    std::size_t k_;
    std::vector<Candidate> kept_;
    Candidate worst_{};
    bool is_full_ = false;
};

}  // namespace

void top_k(std::span<const Score> scores, TieOrder ties, std::span<PassageId> ids,
           std::span<Score> best) {
    const std::size_t k = ids.size();
    const std::size_t num_scores = scores.size();
    if (k > num_scores || best.size() != k) {
        throw std::invalid_argument("k is " + std::to_string(k) + " but there are only " +
                                    std::to_string(num_scores) + " scores");
    }
    const auto id_at = [&](std::size_t turn) {
        return ties == TieOrder::ascending ? turn : num_scores - 1 - turn;
    };
    Selection selection(k, num_scores);
    for (std::size_t turn = 0; turn < num_scores; ++turn) {
        const Score score = scores[id_at(turn)];
        if (std::isnan(score)) {
            throw std::invalid_argument("scores[" + std::to_string(id_at(turn)) +
                                        "] is NaN; scores must be numbers");
        }
        if (k > 0) selection.offer({.score = score, .turn = turn});
    }
    const auto winners = selection.finish();
    for (std::size_t rank = 0; rank < k; ++rank) {
        ids[rank] = static_cast<PassageId>(id_at(winners[rank].turn));
        best[rank] = winners[rank].score;
    }
}

}  // namespace hippograph
