#include "hippograph/graph_builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "hippograph/csr_matrix.hpp"

namespace hippograph {

namespace {

enum class Kind : std::uint8_t { relation, synonymy, context };

// One ordered pair's share of one input pair.
struct Contribution {
    NodeId row;
    NodeId column;
    Weight weight;
    Kind kind;
};

void check_pairs(NodeId num_nodes, const PairList& pairs, Kind kind, const std::string& name) {
    if (pairs.rows.size() != pairs.columns.size() ||
        (!pairs.weights.empty() && pairs.weights.size() != pairs.rows.size())) {
        throw std::invalid_argument(name + " lists have " + std::to_string(pairs.rows.size()) +
                                    ", " + std::to_string(pairs.columns.size()) + " and " +
                                    std::to_string(pairs.weights.size()) +
                                    " entries; each pair needs two nodes and one weight");
    }
    for (std::size_t pair = 0; pair < pairs.rows.size(); ++pair) {
        for (const NodeId node : {pairs.rows[pair], pairs.columns[pair]}) {
            if (node < 0 || node >= num_nodes) {
                throw std::out_of_range(name + " pair " + std::to_string(pair) + " names node " +
                                        std::to_string(node) + ", outside [0, " +
                                        std::to_string(num_nodes) + ")");
            }
        }
    }
    const bool may_be_negative = kind == Kind::synonymy;
    for (std::size_t pair = 0; pair < pairs.weights.size(); ++pair) {
        const Weight weight = pairs.weights[pair];
        if (!std::isfinite(weight) || (weight < 0.0F && !may_be_negative)) {
            throw std::invalid_argument(name + " pair " + std::to_string(pair) + " has weight " +
                                        std::to_string(weight) + "; weights must be finite" +
                                        (may_be_negative ? "" : " and not negative"));
        }
    }
}

// Both ordered pairs for every input pair, so that the structure is symmetric. The direction in
// which a synonymy pair was not found gets weight 0.
void append(std::vector<Contribution>& out, const PairList& pairs, Kind kind) {
    for (std::size_t pair = 0; pair < pairs.rows.size(); ++pair) {
        const NodeId row = pairs.rows[pair];
        const NodeId column = pairs.columns[pair];
        const Weight weight = pairs.weights.empty() ? 1.0F : pairs.weights[pair];
        if (row == column || weight <= 0.0F) continue;
        out.push_back({.row = row, .column = column, .weight = weight, .kind = kind});
        out.push_back({.row = column,
                       .column = row,
                       .weight = kind == Kind::synonymy ? 0.0F : weight,
                       .kind = kind});
    }
}

// Stable counting sort by one of the ends; returns where each node's stretch begins.
std::vector<EdgeOffset> sort_by(NodeId Contribution::* end, NodeId num_nodes,
                                std::vector<Contribution>& items) {
    std::vector<EdgeOffset> begins(position(num_nodes) + 1, 0);
    for (const Contribution& item : items) ++begins[position(item.*end) + 1];
    for (std::size_t node = 0; node < position(num_nodes); ++node) begins[node + 1] += begins[node];
    std::vector<EdgeOffset> cursors = begins;
    std::vector<Contribution> sorted(items.size());
    for (const Contribution& item : items) sorted[position(cursors[position(item.*end)]++)] = item;
    items = std::move(sorted);
    return begins;
}

// Sums of one ordered pair. Both directions meet their terms in input order: equal bits.
struct Merged {
    double relation = 0.0;
    Weight synonymy = 0.0F;
    double context = 0.0;

    void add(const Contribution& item) noexcept {
        switch (item.kind) {
            case Kind::relation:
                relation += static_cast<double>(item.weight);
                break;
            case Kind::synonymy:
                synonymy = std::max(synonymy, item.weight);
                break;
            case Kind::context:
                context += static_cast<double>(item.weight);
                break;
        }
    }
};

void append_row(std::span<const Contribution> row, EdgeTable& table) {
    for (std::size_t begin = 0; begin < row.size();) {
        const NodeId column = row[begin].column;
        Merged merged;
        std::size_t end = begin;
        for (; end < row.size() && row[end].column == column; ++end) merged.add(row[end]);
        table.columns.push_back(column);
        table.relation.push_back(to_weight(merged.relation));
        table.synonymy.push_back(merged.synonymy);
        table.context.push_back(to_weight(merged.context));
        begin = end;
    }
    table.offsets.push_back(std::ssize(table.columns));
}

}  // namespace

EdgeTable build_edge_table(NodeId num_nodes, const PairList& relation, const PairList& synonymy,
                           const PairList& context) {
    if (num_nodes < 0) {
        throw std::invalid_argument("num_nodes is " + std::to_string(num_nodes) +
                                    "; it must not be negative");
    }
    check_pairs(num_nodes, relation, Kind::relation, "relation");
    check_pairs(num_nodes, synonymy, Kind::synonymy, "synonymy");
    check_pairs(num_nodes, context, Kind::context, "context");
    std::vector<Contribution> items;
    items.reserve(2 * (relation.rows.size() + synonymy.rows.size() + context.rows.size()));
    append(items, relation, Kind::relation);
    append(items, synonymy, Kind::synonymy);
    append(items, context, Kind::context);

    // Least significant key first, both sorts stable: by row, then column, then input order.
    sort_by(&Contribution::column, num_nodes, items);
    const std::vector<EdgeOffset> begins = sort_by(&Contribution::row, num_nodes, items);
    EdgeTable table;
    table.offsets.reserve(position(num_nodes) + 1);
    table.offsets.push_back(0);
    for (std::size_t node = 0; node < position(num_nodes); ++node) {
        append_row(std::span(items).subspan(position(begins[node]),
                                            position(begins[node + 1] - begins[node])),
                   table);
    }
    return table;
}

}  // namespace hippograph
