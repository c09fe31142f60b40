// Node specificity s_i = 1 / |P_i| (paper, section 2), |P_i| = number of passages with node i.
#pragma once

#include <vector>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// `occurrences`: num_nodes x num_passages counts. A node in no passage gets 0.
[[nodiscard]] std::vector<Score> node_specificity(const CsrMatrix& occurrences);

}  // namespace hippograph
