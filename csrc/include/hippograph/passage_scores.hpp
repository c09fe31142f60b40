// Passage scores p = n' P (paper, online retrieval): each passage adds up the scores of its nodes,
// as often as they occur in it.
//
// The matrix is node-major, so this scatters. A passage receives its terms in rising node order,
// whichever thread owns it, and sums are therefore the same for any number of threads.
#pragma once

#include <span>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// `node_scores` has one entry per row, `scores` one per column and is overwritten.
// Throws std::invalid_argument when a length does not fit or num_threads is negative.
void passage_scores(const CsrMatrix& occurrences, std::span<const Score> node_scores,
                    int num_threads, std::span<Score> scores);

}  // namespace hippograph
