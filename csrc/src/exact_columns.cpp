#include "hippograph/exact_columns.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "hippograph/exact_solver.hpp"
#include "hippograph/sell_sweeper.hpp"
#include "hippograph/sweep_schedule.hpp"

namespace hippograph {

namespace {

constexpr EdgeOffset kMinEntriesPerThread = 60'000;

void check_sources(std::span<const NodeId> sources, NodeId num_nodes) {
    for (std::size_t place = 0; place < sources.size(); ++place) {
        if (sources[place] < 0 || sources[place] >= num_nodes) {
            throw std::out_of_range("nodes[" + std::to_string(place) + "] is " +
                                    std::to_string(sources[place]) + ", outside [0, " +
                                    std::to_string(num_nodes) + ")");
        }
    }
}

class BlockSolver {
   public:
    BlockSolver(const SellMatrix& matrix, const PprOptions& options)
        : matrix_(matrix),
          options_(options),
          sweeper_(matrix, kLanes,
                   resolve_num_threads(options.num_threads,
                                       matrix.num_entries() / kMinEntriesPerThread)) {}

    // Leaves scores in the place of the unknowns.
    void solve(std::span<const NodeId> sources, std::span<PprOutcome> outcomes,
               const CheckInterrupt& check) {
        load(sources);
        const std::int32_t sweeps =
            options_.restart_probability < 1.0 ? iterate(outcomes, check) : 0;
        std::array<double, kLanes> scales{};
        for (std::size_t column = 0; column < sources.size(); ++column) {
            const double mass = reports_[column].mass;
            scales[column] = mass > 0.0 ? 1.0 / mass : 0.0;
        }
        sweeper_.unknowns_to_scores(scales);
        for (std::size_t column = 0; column < sources.size(); ++column) {
            finish(sources[column], column, sweeps, outcomes[column]);
        }
    }

    [[nodiscard]] std::span<const float> scores() const { return sweeper_.unknowns(); }

   private:
    [[nodiscard]] bool keeps_all(NodeId source) const {
        return options_.restart_probability == 1.0 ||
               matrix_.degrees()[position(matrix_.ranks()[position(source)])] == 0.0;
    }

    void load(std::span<const NodeId> sources) {
        std::ranges::fill(sweeper_.unknowns(), 0.0F);
        reports_ = {};
        is_active_ = {};
        std::vector<SellSweeper::RestartTerm> terms;
        for (std::size_t column = 0; column < sources.size(); ++column) {
            if (keeps_all(sources[column])) continue;
            const Rank rank = matrix_.ranks()[position(sources[column])];
            is_active_[column] = true;
            terms.push_back(
                {.rank = rank, .vector = column, .value = options_.restart_probability});
            sweeper_.unknowns()[position(rank) * kLanes + column] =
                matrix_.inverse_degrees()[position(rank)];
        }
        sweeper_.set_restart(std::move(terms));
    }

    std::int32_t iterate(std::span<PprOutcome> outcomes, const CheckInterrupt& check) {
        const double r = options_.restart_probability;
        SweepSchedule schedule(r, options_.tolerance, 1.0, options_.max_iterations);
        double worst = 0.0;
        double worst_rounding = 0.0;
        do {
            for (std::int32_t sweep = 0; sweep < schedule.relax_sweeps(); ++sweep) {
                if (check) check();
                sweeper_.relax(1.0 - r, schedule.omega());
            }
            if (check) check();
            sweeper_.certify(1.0 - r, {}, reports_);
            worst = worst_rounding = 0.0;
            for (std::size_t column = 0; column < outcomes.size(); ++column) {
                if (!is_active_[column]) continue;
                double rounding = 0.0;
                const double bound = proven_bound(matrix_, r, reports_[column], rounding);
                outcomes[column].error_bound = bound;
                worst = std::max(worst, bound);
                worst_rounding = std::max(worst_rounding, rounding);
            }
        } while (schedule.goes_on(worst, worst_rounding));
        return schedule.sweeps_done();
    }

    void finish(NodeId source, std::size_t column, std::int32_t sweeps, PprOutcome& outcome) {
        if (keeps_all(source)) {
            const std::size_t rank = position(matrix_.ranks()[position(source)]);
            sweeper_.unknowns()[rank * kLanes + column] = 1.0F;
            outcome = {.iterations = 0, .error_bound = 0.0, .converged = true};
            return;
        }
        outcome.iterations = sweeps;
        outcome.error_bound = std::min(outcome.error_bound, 2.0);
        outcome.converged = outcome.error_bound <= options_.tolerance;
    }

    const SellMatrix& matrix_;
    PprOptions options_;
    SellSweeper sweeper_;
    std::array<SweepReport, kLanes> reports_{};
    std::array<bool, kLanes> is_active_{};
};

}  // namespace

PprOutcomes solve_columns(const SellMatrix& matrix, std::span<const NodeId> sources,
                          const PprOptions& options, const ColumnSink& sink,
                          const CheckInterrupt& check) {
    check_options(options);
    check_sources(sources, matrix.num_nodes());
    PprOutcomes outcomes(std::ssize(sources));
    if (sources.empty()) return outcomes;
    BlockSolver solver(matrix, options);
    std::array<PprOutcome, kLanes> found{};
    for (std::size_t first = 0; first < sources.size(); first += kLanes) {
        const std::size_t count = std::min(kLanes, sources.size() - first);
        solver.solve(sources.subspan(first, count), std::span(found).first(count), check);
        for (std::size_t i = 0; i < count; ++i) outcomes.set(first + i, found[i]);
        sink({.first = first, .count = count, .scores = solver.scores(), .ranks = matrix.ranks()});
    }
    return outcomes;
}

ColumnRows column_rows(const SellMatrix& matrix, std::span<const NodeId> sources,
                       const PprOptions& options, const CheckInterrupt& check) {
    const std::size_t num_nodes = position(matrix.num_nodes());
    ColumnRows result;
    result.scores.resize(sources.size() * num_nodes);
    const ColumnSink keep = [&](const ColumnBlock& block) {
        for (std::size_t node = 0; node < num_nodes; ++node) {
            for (std::size_t column = 0; column < block.count; ++column) {
                result.scores[(block.first + column) * num_nodes + node] =
                    block.score(static_cast<NodeId>(node), column);
            }
        }
    };
    result.outcomes = solve_columns(matrix, sources, options, keep, check);
    return result;
}

}  // namespace hippograph
