#include "hippograph/exact_graph.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "hippograph/passage_scores.hpp"
#include "hippograph/ppr_solver.hpp"
#include "hippograph/seeds.hpp"

namespace hippograph {

namespace {

// What writing scores in float32 leaves of any residual, about; see exact_solver.hpp.
constexpr double kFloat32Residual = static_cast<double>(std::numeric_limits<float>::epsilon()) / 8;

[[nodiscard]] bool float32_may_reach(const PprOptions& options) {
    return options.tolerance * options.restart_probability > kFloat32Residual;
}

void check_start_shape(const StartView& starts, std::int64_t num_queries) {
    if (std::ssize(starts.offsets) != num_queries + 1 || starts.offsets.front() != 0 ||
        starts.offsets.back() != std::ssize(starts.nodes) ||
        starts.scores.size() != starts.nodes.size() || std::ssize(starts.errors) != num_queries) {
        throw std::invalid_argument(
            "starts do not fit: they need an offset more than there are queries, from 0 to the "
            "number of nodes, a score per node and an error per query");
    }
    if (!std::ranges::is_sorted(starts.offsets)) {
        throw std::invalid_argument("start offsets fall; they must never fall");
    }
}

void check_starts(const StartView& starts, std::int64_t num_queries, NodeId num_nodes) {
    check_start_shape(starts, num_queries);
    for (std::size_t place = 0; place < starts.nodes.size(); ++place) {
        if (starts.nodes[place] < 0 || starts.nodes[place] >= num_nodes) {
            throw std::out_of_range("start node " + std::to_string(starts.nodes[place]) +
                                    " is outside [0, " + std::to_string(num_nodes) + ")");
        }
        if (!(starts.scores[place] >= 0.0F) || std::isinf(starts.scores[place])) {
            throw std::invalid_argument("start score " + std::to_string(starts.scores[place]) +
                                        " of node " + std::to_string(starts.nodes[place]) +
                                        " is not a finite number of at least 0");
        }
    }
    for (const double error : starts.errors) {
        if (!(error > 0.0) || std::isinf(error)) {
            throw std::invalid_argument("start error is " + std::to_string(error) +
                                        "; it must be a finite number above 0");
        }
    }
}

}  // namespace

// One call, and where its answers go.
struct ExactGraph::Batch {
    const SeedView& seeds;
    const StartView* starts;
    Precision precision;
    const PprOptions& options;
    const CheckInterrupt& check;
    PprOutcomes& outcomes;
    std::function<void(std::int64_t query, int worker, const ExactSolver& solver)> accept;
    std::function<void(std::int64_t query, int worker, int threads, std::span<const Score> scores)>
        accept_float64;

    [[nodiscard]] std::size_t begin(std::int64_t query) const {
        return position(seeds.offsets[position(query)]);
    }
    [[nodiscard]] std::size_t count(std::int64_t query) const {
        return position(seeds.offsets[position(query) + 1]) - begin(query);
    }
    [[nodiscard]] std::span<const NodeId> nodes(std::int64_t query) const {
        return seeds.nodes.subspan(begin(query), count(query));
    }
    [[nodiscard]] std::span<const Score> weights(std::int64_t query) const {
        return seeds.weights.subspan(begin(query), count(query));
    }
    [[nodiscard]] std::optional<SparseStart> start(std::int64_t query) const {
        if (starts == nullptr) return std::nullopt;
        const std::size_t q = position(query);
        const std::size_t first = position(starts->offsets[q]);
        const std::size_t size = position(starts->offsets[q + 1]) - first;
        if (size == 0) return std::nullopt;
        return SparseStart{.nodes = starts->nodes.subspan(first, size),
                           .scores = starts->scores.subspan(first, size),
                           .error = starts->errors[q]};
    }
};

ExactGraph::ExactGraph(const CsrMatrix& weights, const CsrMatrix& occurrences,
                       std::span<const NodeId> order, int num_threads)
    : weights_(&weights),
      occurrences_(&occurrences),
      matrix_(weights, order, num_threads),
      passages_(occurrences, matrix_.ranks(), num_threads) {}

const Transition& ExactGraph::transition() const {
    std::call_once(transition_built_,
                   [&] { transition_ = std::make_unique<const Transition>(*weights_); });
    return *transition_;
}

void ExactGraph::solve_all(const Batch& batch) const {
    check_options(batch.options);
    check_seeds(batch.seeds, matrix_.num_nodes());
    if (batch.starts != nullptr) {
        check_starts(*batch.starts, batch.seeds.num_queries(), matrix_.num_nodes());
    }
    if (batch.precision == Precision::float32 && float32_may_reach(batch.options)) {
        solve_in_float64(batch, solve_in_float32(batch));
        return;
    }
    std::vector<std::int64_t> all(position(batch.seeds.num_queries()));
    for (std::size_t query = 0; query < all.size(); ++query) {
        all[query] = static_cast<std::int64_t>(query);
    }
    solve_in_float64(batch, all);
}

// Returns the queries that float32 could not prove although iterations were left.
std::vector<std::int64_t> ExactGraph::solve_in_float32(const Batch& batch) const {
    const std::int64_t num_queries = batch.seeds.num_queries();
    int across = resolve_num_threads(batch.options.num_threads, num_queries);
    PprOptions each = batch.options;
    if (across >= ExactSolver::threads_for_rows(matrix_, batch.options.num_threads)) {
        each.num_threads = 1;
    } else {
        across = 1;
    }
    std::vector<std::unique_ptr<ExactSolver>> solvers(position(across));
    const CheckInterrupt never;
    parallel_for(num_queries, across, [&](std::int64_t query, int worker) {
        auto& solver = solvers[position(worker)];
        if (!solver) solver = std::make_unique<ExactSolver>(matrix_, each);
        const std::optional<SparseStart> start = batch.start(query);
        batch.outcomes.set(position(query), solver->solve(batch.nodes(query), batch.weights(query),
                                                          start ? &*start : nullptr,
                                                          worker == 0 ? batch.check : never));
        batch.accept(query, worker, *solver);
    });
    std::vector<std::int64_t> unproven;
    for (std::int64_t query = 0; query < num_queries; ++query) {
        if (batch.outcomes.converged[position(query)] == 0 &&
            batch.outcomes.iterations[position(query)] < batch.options.max_iterations) {
            unproven.push_back(query);
        }
    }
    return unproven;
}

void ExactGraph::solve_in_float64(const Batch& batch, std::span<const std::int64_t> queries) const {
    if (queries.empty()) return;
    std::vector<std::vector<Score>> scores(
        position(resolve_num_threads(batch.options.num_threads, std::ssize(queries))));
    solve_batch(transition(), std::ssize(queries), batch.options, batch.check,
                [&](PprSolver& solver, std::int64_t item, int worker, const CheckInterrupt& poll) {
                    const std::int64_t query = queries[position(item)];
                    auto& own = scores[position(worker)];
                    own.resize(position(matrix_.num_nodes()));
                    batch.outcomes.set(
                        position(query),
                        solver.solve(batch.nodes(query), batch.weights(query), own, poll));
                    batch.accept_float64(query, worker, solver.num_threads(), own);
                });
}

RankedPassages ExactGraph::rank(const SeedView& seeds, const ExactRankOptions& options,
                                const StartView* starts, const CheckInterrupt& check) const {
    check_read_out(occurrences_->view(), matrix_.num_nodes(), options.k);
    check_options(options.ppr);
    const std::size_t num_queries = seeds.offsets.empty() ? 0 : position(seeds.num_queries());
    const std::size_t k = position(options.k);
    RankedPassages ranked;
    ranked.passages.resize(num_queries * k);
    ranked.scores.resize(num_queries * k);
    ranked.num_reached.resize(num_queries);
    ranked.outcomes = PprOutcomes(static_cast<std::int64_t>(num_queries));
    std::vector<std::vector<Score>> workspaces(position(
        resolve_num_threads(options.ppr.num_threads, static_cast<std::int64_t>(num_queries))));
    const auto workspace = [&](int worker) -> std::vector<Score>& {
        auto& work = workspaces[position(worker)];
        work.resize(position(passages_.num_passages()));
        return work;
    };
    const auto choose = [&](std::int64_t query, std::span<const Score> scores) {
        const std::size_t q = position(query);
        top_k(scores, options.ties, std::span(ranked.passages).subspan(q * k, k),
              std::span(ranked.scores).subspan(q * k, k));
        ranked.num_reached[q] = static_cast<std::int32_t>(
            std::ranges::count_if(scores, [](Score score) { return score > 0.0; }));
    };
    solve_all({.seeds = seeds,
               .starts = starts,
               .precision = options.precision,
               .options = options.ppr,
               .check = check,
               .outcomes = ranked.outcomes,
               .accept =
                   [&](std::int64_t query, int worker, const ExactSolver& solver) {
                       passages_.scores(solver.scores(), solver.num_threads(), workspace(worker));
                       choose(query, workspace(worker));
                   },
               .accept_float64 =
                   [&](std::int64_t query, int worker, int threads, std::span<const Score> scores) {
                       passage_scores(*occurrences_, scores, threads, workspace(worker));
                       choose(query, workspace(worker));
                   }});
    return ranked;
}

PprResult ExactGraph::scores(const SeedView& seeds, Precision precision, const PprOptions& options,
                             const StartView* starts, const CheckInterrupt& check) const {
    check_options(options);
    const std::size_t num_nodes = position(matrix_.num_nodes());
    const std::int64_t num_queries = seeds.offsets.empty() ? 0 : seeds.num_queries();
    PprResult result;
    result.scores.resize(position(num_queries) * num_nodes);
    result.outcomes = PprOutcomes(num_queries);
    const auto row = [&](std::int64_t query) {
        return std::span(result.scores).subspan(position(query) * num_nodes, num_nodes);
    };
    solve_all({.seeds = seeds,
               .starts = starts,
               .precision = precision,
               .options = options,
               .check = check,
               .outcomes = result.outcomes,
               .accept =
                   [&](std::int64_t query, int, const ExactSolver& solver) {
                       const std::size_t q = position(query);
                       double& bound = result.outcomes.error_bounds[q];
                       bound += solver.copy_scores(row(query));
                       if (bound > options.tolerance) result.outcomes.converged[q] = 0;
                   },
               .accept_float64 =
                   [&](std::int64_t query, int, int, std::span<const Score> scores) {
                       std::ranges::copy(scores, row(query).begin());
                   }});
    return result;
}

}  // namespace hippograph
