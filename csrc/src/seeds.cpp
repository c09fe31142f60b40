#include "hippograph/seeds.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace hippograph {

namespace {

std::string seed_of(std::size_t query, NodeId node) {
    return "query " + std::to_string(query) + " has seed node " + std::to_string(node);
}

void check_seed_offsets(const SeedView& seeds) {
    if (seeds.offsets.empty() || seeds.offsets.front() != 0 ||
        seeds.offsets.back() != std::ssize(seeds.nodes)) {
        throw std::invalid_argument(
            "seed offsets must start at 0 and end at the number of seeds, " +
            std::to_string(seeds.nodes.size()));
    }
    if (seeds.weights.size() != seeds.nodes.size()) {
        throw std::invalid_argument("there are " + std::to_string(seeds.nodes.size()) +
                                    " seed nodes but " + std::to_string(seeds.weights.size()) +
                                    " seed weights; each seed needs one");
    }
    for (std::size_t query = 0; query + 1 < seeds.offsets.size(); ++query) {
        if (seeds.offsets[query + 1] <= seeds.offsets[query]) {
            throw std::invalid_argument("query " + std::to_string(query) +
                                        " has no seeds; every query needs at least one");
        }
    }
}

void check_seed(std::size_t query, NodeId node, Score weight, NodeId num_nodes) {
    if (node < 0 || node >= num_nodes) {
        throw std::out_of_range(seed_of(query, node) + ", outside [0, " +
                                std::to_string(num_nodes) + ")");
    }
    if (!(weight > 0.0) || std::isinf(weight)) {
        throw std::invalid_argument(seed_of(query, node) + " with weight " +
                                    std::to_string(weight) +
                                    "; weights must be finite and above 0");
    }
}

}  // namespace

void check_seeds(const SeedView& seeds, NodeId num_nodes) {
    check_seed_offsets(seeds);
    std::vector<NodeId> sorted;
    for (std::size_t query = 0; query + 1 < seeds.offsets.size(); ++query) {
        const auto begin = position(seeds.offsets[query]);
        const auto nodes = seeds.nodes.subspan(begin, position(seeds.offsets[query + 1]) - begin);
        for (std::size_t seed = 0; seed < nodes.size(); ++seed) {
            check_seed(query, nodes[seed], seeds.weights[begin + seed], num_nodes);
        }
        sorted.assign(nodes.begin(), nodes.end());
        std::ranges::sort(sorted);
        const auto twice = std::ranges::adjacent_find(sorted);
        if (twice != sorted.end()) {
            throw std::invalid_argument(seed_of(query, *twice) +
                                        " twice; add its weights up first");
        }
    }
}

void check_num_passages(PassageId k, PassageId num_passages) {
    if (k < 1 || k > num_passages) {
        throw std::invalid_argument("k is " + std::to_string(k) + "; it must be between 1 and " +
                                    std::to_string(num_passages) + ", the number of passages");
    }
}

void check_read_out(const CsrView& occurrences, NodeId num_nodes, PassageId k) {
    if (occurrences.num_rows() != num_nodes) {
        throw std::invalid_argument("occurrences has " + std::to_string(occurrences.num_rows()) +
                                    " rows but the graph has " + std::to_string(num_nodes) +
                                    " nodes; there must be one row per node");
    }
    check_num_passages(k, occurrences.num_columns);
}

void fill_with_others(std::span<PassageId> passages, std::size_t num_filled, TieOrder ties,
                      PassageId num_passages) {
    std::vector<PassageId> taken(passages.begin(),
                                 passages.begin() + static_cast<std::ptrdiff_t>(num_filled));
    std::ranges::sort(taken);
    const bool rising = ties == TieOrder::ascending;
    PassageId candidate = rising ? 0 : num_passages - 1;
    for (PassageId& passage : passages.subspan(num_filled)) {
        while (std::ranges::binary_search(taken, candidate)) candidate += rising ? 1 : -1;
        passage = candidate;
        candidate += rising ? 1 : -1;
    }
}

}  // namespace hippograph
