#include "hippograph/edge_weights.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/mirror.hpp"

namespace hippograph {

namespace {

void check_numbers(std::span<const Weight> numbers, std::size_t num_entries, const char* name) {
    if (numbers.size() != num_entries) {
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(numbers.size()) +
                                    " entries but columns has " + std::to_string(num_entries) +
                                    "; they must have one each");
    }
    for (std::size_t entry = 0; entry < numbers.size(); ++entry) {
        if (!(numbers[entry] >= 0.0F) || std::isinf(numbers[entry])) {
            throw std::invalid_argument(std::string(name) + "[" + std::to_string(entry) + "] is " +
                                        std::to_string(numbers[entry]) +
                                        "; it must be finite and not negative");
        }
    }
}

double combined(const PairValues& pair, EdgeCombination combination) noexcept {
    const double similarity = std::max(pair.forward, pair.back);
    switch (combination) {
        case EdgeCombination::sum:
            return pair.relation + similarity + pair.context;
        case EdgeCombination::max:
            return std::max(pair.relation, similarity) + pair.context;
        case EdgeCombination::overwrite:
            break;
    }
    const double forward = pair.forward > 0.0 ? pair.forward : pair.relation;
    const double back = pair.back > 0.0 ? pair.back : pair.relation;
    return (forward + back) + 2.0 * pair.context;
}

}  // namespace

void check_edge_table(const EdgeTableView& table) {
    if (table.offsets.empty()) throw std::invalid_argument("offsets is empty; it needs a 0");
    check_csr_structure(table.offsets, table.columns,
                        static_cast<NodeId>(table.offsets.size() - 1));
    check_numbers(table.relation, table.columns.size(), "relation");
    check_numbers(table.synonymy, table.columns.size(), "synonymy");
    check_numbers(table.context, table.columns.size(), "context");
}

void check_directions(const EdgeTableView& table, EdgeOffset entry, EdgeOffset mirror) {
    const std::size_t there = position(entry);
    const std::size_t back = position(mirror);
    if (table.relation[there] != table.relation[back] ||
        table.context[there] != table.context[back]) {
        throw std::invalid_argument("relation and context must be symmetric, but entries " +
                                    std::to_string(entry) + " and " + std::to_string(mirror) +
                                    ", the two directions of one pair, differ");
    }
}

Weight combine_pair(const PairValues& pair, EdgeCombination combination) {
    return to_weight(combined(pair, combination));
}

CsrArrays combine_weights(const EdgeTableView& table, const WeightRule& rule) {
    check_edge_table(table);
    if (std::isnan(rule.synonymy_threshold)) {
        throw std::invalid_argument("synonymy_threshold is NaN; it must be a number");
    }
    const auto similarity = [&](EdgeOffset entry) {
        const Weight found = table.synonymy[position(entry)];
        return rule.use_synonymy && found >= rule.synonymy_threshold ? static_cast<double>(found)
                                                                     : 0.0;
    };
    CsrArrays result;
    result.offsets.assign(table.offsets.size(), 0);
    for_each_mirrored(
        table.offsets, table.columns, [&](NodeId row, EdgeOffset entry, EdgeOffset mirror) {
            const PairValues pair{.relation = static_cast<double>(table.relation[position(entry)]),
                                  .forward = similarity(entry),
                                  .back = similarity(mirror),
                                  .context = static_cast<double>(table.context[position(entry)])};
            check_directions(table, entry, mirror);
            const Weight weight = combine_pair(pair, rule.combination);
            if (weight > 0.0F) {
                result.columns.push_back(table.columns[position(entry)]);
                result.values.push_back(weight);
            }
            result.offsets[position(row) + 1] = std::ssize(result.columns);
        });
    // Rows without entries end where the row before them does.
    for (std::size_t row = 1; row < result.offsets.size(); ++row) {
        result.offsets[row] = std::max(result.offsets[row], result.offsets[row - 1]);
    }
    return result;
}

}  // namespace hippograph
