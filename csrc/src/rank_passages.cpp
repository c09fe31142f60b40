#include "hippograph/rank_passages.hpp"

#include <algorithm>
#include <cmath>

#include "hippograph/passage_scores.hpp"
#include "hippograph/ppr_solver.hpp"
#include "hippograph/seeds.hpp"

namespace hippograph {

namespace {

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
