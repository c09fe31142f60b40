// Walks a matrix of symmetric structure together with its transpose, in linear time and without
// building the transpose: rows are visited in rising order, so the partners (b, a) of the entries
// of row b are met in the order in which row b stores them, and one cursor per row finds each.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hippograph/types.hpp"

namespace hippograph {

// Calls visit(row, entry, mirror) for each entry (row, column), where `mirror` is the position of
// entry (column, row). The structure must have passed check_csr_structure as a square matrix.
// Throws std::invalid_argument when an entry has no partner.
template <typename Visit>
void for_each_mirrored(std::span<const EdgeOffset> offsets, std::span<const NodeId> columns,
                       Visit&& visit) {
    std::vector<EdgeOffset> cursors(offsets.begin(), offsets.end() - 1);
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        for (EdgeOffset entry = offsets[row]; entry < offsets[row + 1]; ++entry) {
            const std::size_t column = position(columns[position(entry)]);
            const EdgeOffset mirror = cursors[column];
            if (mirror == offsets[column + 1] || position(columns[position(mirror)]) != row) {
                throw std::invalid_argument("the graph is not symmetric near (" +
                                            std::to_string(row) + ", " + std::to_string(column) +
                                            "): for each entry (a, b) there must be one (b, a)");
            }
            ++cursors[column];
            visit(static_cast<NodeId>(row), entry, mirror);
        }
    }
}

}  // namespace hippograph
