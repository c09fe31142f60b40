#include "hippograph/symmetry.hpp"

#include <stdexcept>
#include <string>

#include "hippograph/mirror.hpp"

namespace hippograph {

void check_symmetric(const CsrView& weights) {
    if (weights.num_columns != weights.num_rows()) {
        throw std::invalid_argument("a graph's matrix must be square, but this one has " +
                                    std::to_string(weights.num_rows()) + " rows and " +
                                    std::to_string(weights.num_columns) + " columns");
    }
    for_each_mirrored(
        weights.offsets, weights.columns, [&](NodeId row, EdgeOffset entry, EdgeOffset mirror) {
            if (weights.values[position(entry)] != weights.values[position(mirror)]) {
                throw std::invalid_argument("the graph is not symmetric: the edge between nodes " +
                                            std::to_string(row) + " and " +
                                            std::to_string(weights.columns[position(entry)]) +
                                            " has another weight in each direction");
            }
        });
}

}  // namespace hippograph
