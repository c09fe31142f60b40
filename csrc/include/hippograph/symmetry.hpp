// The condition on which the walk's solvers rest: an undirected graph.
#pragma once

#include "hippograph/csr_matrix.hpp"

namespace hippograph {

// Throws std::invalid_argument, with two nodes, unless the matrix is square and exactly symmetric.
void check_symmetric(const CsrView& weights);

}  // namespace hippograph
