// Passage scores p = n' P for node scores that lie by rank: the occurrence matrix passage by
// passage, in SELL form. Each passage gathers its nodes, in rising rank; sums are float64, so that
// passages with the same nodes tie exactly. Memory: 8 bytes an occurrence and 4 a passage.
#pragma once

#include <span>
#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/sell_rows.hpp"
#include "hippograph/transition.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

class PassageRows {
   public:
    // `occurrences` is num_nodes x num_passages, borrowed for the call; `ranks` is by node.
    // Throws std::invalid_argument unless there is a row per node.
    PassageRows(const CsrMatrix& occurrences, std::span<const Rank> ranks, int num_threads);

    [[nodiscard]] PassageId num_passages() const noexcept { return num_passages_; }
    [[nodiscard]] std::size_t num_bytes() const noexcept;

    // scores[passage] = sum of count times node score. The same for any number of threads.
    void scores(std::span<const float> by_rank, int num_threads, std::span<Score> scores) const;

   private:
    void long_scores(std::span<const float> by_rank, std::span<Score> scores) const;

    SellRows rows_;
    std::vector<PassageId> passages_;  // by slot; -1 where there is none
    PassageId num_passages_;
};

}  // namespace hippograph
