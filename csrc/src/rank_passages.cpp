#include "hippograph/rank_passages.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hippograph/passage_scores.hpp"
#include "hippograph/ppr_solver.hpp"

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

PprOutcome seeds_alone(std::span<const NodeId> nodes, std::span<const Score> weights,
                       std::span<Score> node_scores) {
    std::ranges::fill(node_scores, 0.0);
    const double largest = std::ranges::max(weights);
    double sum = 0.0;
    for (const double weight : weights) sum += weight / largest;
    for (std::size_t seed = 0; seed < nodes.size(); ++seed) {
        node_scores[position(nodes[seed])] = weights[seed] / largest / sum;
    }
    return {.iterations = 0, .error_bound = 0.0, .converged = true};
}

// What one worker reuses from query to query.
struct Workspace {
    std::vector<Score> node_scores;
    std::vector<Score> passage_scores;
};

}  // namespace

void check_seeds(const SeedView& seeds, NodeId num_nodes) {
    check_seed_offsets(seeds);
    std::vector<std::int64_t> last_query(position(num_nodes), -1);
    for (std::size_t query = 0; query + 1 < seeds.offsets.size(); ++query) {
        for (std::size_t seed = position(seeds.offsets[query]);
             seed < position(seeds.offsets[query + 1]); ++seed) {
            const NodeId node = seeds.nodes[seed];
            if (node < 0 || node >= num_nodes) {
                throw std::out_of_range(seed_of(query, node) + ", outside [0, " +
                                        std::to_string(num_nodes) + ")");
            }
            if (!(seeds.weights[seed] > 0.0) || std::isinf(seeds.weights[seed])) {
                throw std::invalid_argument(seed_of(query, node) + " with weight " +
                                            std::to_string(seeds.weights[seed]) +
                                            "; weights must be finite and above 0");
            }
            std::int64_t& last = last_query[position(node)];
            if (last == static_cast<std::int64_t>(query)) {
                throw std::invalid_argument(seed_of(query, node) +
                                            " twice; add its weights up first");
            }
            last = static_cast<std::int64_t>(query);
        }
    }
}

void check_read_out(const CsrView& occurrences, NodeId num_nodes, PassageId k) {
    if (occurrences.num_rows() != num_nodes) {
        throw std::invalid_argument("occurrences has " + std::to_string(occurrences.num_rows()) +
                                    " rows but the graph has " +
                                    std::to_string(num_nodes) +
                                    " nodes; there must be one row per node");
    }
    if (k < 1 || k > occurrences.num_columns) {
        throw std::invalid_argument("k is " + std::to_string(k) + "; it must be between 1 and " +
                                    std::to_string(occurrences.num_columns) +
                                    ", the number of passages");
    }
}

RankedPassages rank_passages(const Transition& transition, const CsrMatrix& occurrences,
                             const SeedView& seeds, const RankOptions& options,
                             const CheckInterrupt& check) {
    const PassageId num_passages = occurrences.view().num_columns;
    check_read_out(occurrences.view(), transition.num_nodes(), options.k);
    check_seeds(seeds, transition.num_nodes());
    const std::int64_t num_queries = seeds.num_queries();
    const std::size_t k = position(options.k);
    RankedPassages ranked;
    ranked.passages.resize(position(num_queries) * k);
    ranked.scores.resize(position(num_queries) * k);
    ranked.num_reached.resize(position(num_queries));
    ranked.outcomes = PprOutcomes(num_queries);
    std::vector<Workspace> workspaces(
        position(resolve_num_threads(options.ppr.num_threads, num_queries)));

    const auto rank_one = [&](PprSolver& solver, std::int64_t query, int worker,
                              const CheckInterrupt& poll) {
        Workspace& work = workspaces[position(worker)];
        work.node_scores.resize(position(transition.num_nodes()));
        work.passage_scores.resize(position(num_passages));
        const std::size_t q = position(query);
        const std::size_t begin = position(seeds.offsets[q]);
        const std::size_t count = position(seeds.offsets[q + 1]) - begin;
        const auto nodes = seeds.nodes.subspan(begin, count);
        const auto weights = seeds.weights.subspan(begin, count);
        ranked.outcomes.set(q, options.propagation == Propagation::pagerank
                                   ? solver.solve(nodes, weights, work.node_scores, poll)
                                   : seeds_alone(nodes, weights, work.node_scores));
        passage_scores(occurrences, work.node_scores, solver.num_threads(), work.passage_scores);
        top_k(work.passage_scores, options.ties, std::span(ranked.passages).subspan(q * k, k),
              std::span(ranked.scores).subspan(q * k, k));
        ranked.num_reached[q] = static_cast<std::int32_t>(
            std::ranges::count_if(work.passage_scores, [](Score score) { return score > 0.0; }));
    };
    solve_batch(transition, num_queries, options.ppr, check, rank_one);
    return ranked;
}

}  // namespace hippograph
