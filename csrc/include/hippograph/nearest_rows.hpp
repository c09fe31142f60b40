// The k stored rows most similar to a query, exactly, reading a quarter of the bytes.
//
// One pass over the byte codes gives each row an interval that holds its similarity
// (int8_rows.hpp). Rows whose upper end is below the k-th best lower end cannot be among the k
// best; the few others are computed from the float rows (similarity.hpp), most promising first,
// until the rest cannot reach the k-th best either. Equal similarities go to the smaller id. Zero
// rows are never found.
//
// Codes, scales and errors may come from a damaged file: whatever they hold, only memory of the
// arrays is read, and every similarity returned is a true one.
#pragma once

#include <cstdint>
#include <vector>

#include "hippograph/int8_rows.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

struct NearestRows {
    // num_queries x k, best first; the places after num_found[q] hold id -1 and similarity 0.
    std::vector<NodeId> ids;
    std::vector<float> similarities;
    std::vector<std::int32_t> num_found;
};

// Throws std::invalid_argument when shapes do not fit together, when k < 0 or k > rows.num_rows,
// or when a query's length is neither 1 nor 0 (a zero query finds nothing).
[[nodiscard]] NearestRows nearest_rows(const FloatRows& rows, const Int8Rows& codes,
                                       const FloatRows& queries, std::int32_t k, int num_threads,
                                       const CheckInterrupt& check_interrupt);

}  // namespace hippograph
