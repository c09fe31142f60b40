// Edge table -> one weight per edge, under a synonymy threshold and a rule for pairs that are both
// related and synonymous. With s(a, b) = the similarity if it reaches the threshold, else 0:
//   sum        relation + max(s(a, b), s(b, a)) + context
//   max        max(relation, s(a, b), s(b, a)) + context
//   overwrite  g(a, b) + g(b, a) + 2 context, g(a, b) = s(a, b) if above 0, else relation:
//              the published code, where a similarity replaces the count in its own direction,
//              and both directions are parallel edges that add up.
// Every rule is symmetric in a and b, bit for bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/types.hpp"

namespace hippograph {

enum class EdgeCombination : std::uint8_t { sum, max, overwrite };

// Borrowed arrays of an EdgeTable.
struct EdgeTableView {
    std::span<const EdgeOffset> offsets;
    std::span<const NodeId> columns;
    std::span<const Weight> relation;
    std::span<const Weight> synonymy;
    std::span<const Weight> context;
};

struct WeightRule {
    EdgeCombination combination;
    bool use_synonymy;          // false: every s is 0
    Weight synonymy_threshold;  // inclusive, compared in float32 as similarities are stored
};

struct CsrArrays {
    std::vector<EdgeOffset> offsets;
    std::vector<NodeId> columns;
    std::vector<Weight> values;
};

// What a table says of one pair, seen from either end: forward = s(a, b), back = s(b, a).
struct PairValues {
    double relation;
    double forward;
    double back;
    double context;
};

// The weight of one pair; swapping forward and back changes no bit. Throws std::invalid_argument
// when float32 cannot hold it.
[[nodiscard]] Weight combine_pair(const PairValues& pair, EdgeCombination combination);

// Throws std::invalid_argument or std::out_of_range unless structure and numbers are those of a
// table; that the two directions of a pair agree is left to check_directions.
void check_edge_table(const EdgeTableView& table);

// Throws std::invalid_argument unless entries `entry` and `mirror`, the two directions of a pair,
// have one relation and one context.
void check_directions(const EdgeTableView& table, EdgeOffset entry, EdgeOffset mirror);

// Edges of weight 0 are left out. Throws std::invalid_argument unless the table is a symmetric
// structure with finite, non-negative numbers; std::out_of_range for a column that is no node.
[[nodiscard]] CsrArrays combine_weights(const EdgeTableView& table, const WeightRule& rule);

}  // namespace hippograph
