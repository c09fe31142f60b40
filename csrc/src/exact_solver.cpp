#include "hippograph/exact_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hippograph/sweep_schedule.hpp"

namespace hippograph {

namespace {

// Fewer entries are not worth waking a thread for each group of each sweep.
constexpr EdgeOffset kMinEntriesPerThread = 1'000'000;

constexpr double kUnitRoundoff = std::numeric_limits<double>::epsilon() / 2;
constexpr double kFloat32Roundoff = static_cast<double>(std::numeric_limits<float>::epsilon()) / 2;

// |x - y|_1 of any two probability vectors is at most this.
constexpr double kLargestError = 2.0;

// Residuals are sums of quantities that sum to about 1, each computed with one chain of additions.
double sum_rounding(const SellMatrix& matrix) {
    const EdgeOffset depth =
        SellRows::kLongRow + SellRows::kChunk / 16 + matrix.longest_row() / SellRows::kChunk + 16;
    return 4.0 * static_cast<double>(depth) * kUnitRoundoff;
}

}  // namespace

double proven_bound(const SellMatrix& matrix, double restart_probability, const SweepReport& report,
                    double& rounding) {
    rounding =
        (report.rounding + sum_rounding(matrix)) / restart_probability + 2.0 * kFloat32Roundoff;
    const double bound =
        rounding + report.change / restart_probability + std::abs(report.mass - 1.0);
    return std::isnan(bound) ? std::numeric_limits<double>::infinity() : bound;
}

int ExactSolver::threads_for_rows(const SellMatrix& matrix, int requested) {
    return resolve_num_threads(requested, matrix.num_entries() / kMinEntriesPerThread);
}

ExactSolver::ExactSolver(const SellMatrix& matrix, const PprOptions& options)
    : matrix_(&matrix),
      options_(options),
      num_threads_(threads_for_rows(matrix, options.num_threads)),
      sweeper_(matrix, 1, num_threads_),
      scores_(position(matrix.num_ranks())) {
    check_options(options);
}

PprOutcome ExactSolver::solve(std::span<const NodeId> seeds, std::span<const Score> weights,
                              const SparseStart* start, const CheckInterrupt& check) {
    load(seeds, weights);
    if (options_.restart_probability == 1.0 || connected_.empty()) {
        std::ranges::fill(scores_.view(), 0.0F);
        for (const auto& [rank, share] : connected_) {
            scores_[position(rank)] = static_cast<float>(connected_share_ * share);
        }
        for (const auto& [rank, share] : dangling_) {
            scores_[position(rank)] = static_cast<float>(dangling_scale_ * share);
        }
        return {.iterations = 0,
                .error_bound = kFloat32Roundoff,
                .converged = kFloat32Roundoff <= options_.tolerance};
    }
    start_from(start);
    return iterate(start == nullptr ? 1.0 : start->error, check);
}

// v, split into what the walk can leave and the rest. With a = v(connected) and b = v(dangling):
// the plain fixed point has mass a on the connected nodes and r b on the dangling ones; returning
// lost mass to v rescales the whole to sum 1.
void ExactSolver::load(std::span<const NodeId> seeds, std::span<const Score> weights) {
    const double largest = std::ranges::max(weights);  // no sum overflows
    for (const auto& [rank, share] : dangling_) scores_[position(rank)] = 0.0F;
    connected_.clear();
    dangling_.clear();
    double kept = 0.0;
    double lost = 0.0;
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
        const Rank rank = matrix_->ranks()[position(seeds[seed])];
        const double weight = weights[seed] / largest;
        const bool is_dangling = matrix_->degrees()[position(rank)] == 0.0;
        (is_dangling ? dangling_ : connected_).emplace_back(rank, weight);
        (is_dangling ? lost : kept) += weight;
    }
    const double r = options_.restart_probability;
    for (auto& [rank, share] : connected_) share /= kept;
    for (auto& [rank, share] : dangling_) share /= kept + lost;
    const double total = kept / (kept + lost) + r * (lost / (kept + lost));
    connected_share_ = r == 1.0 ? kept / (kept + lost) : kept / (kept + lost) / total;
    dangling_scale_ = r == 1.0 ? 1.0 : r / total;
    std::vector<SellSweeper::RestartTerm> terms;
    for (const auto& [rank, share] : connected_) {
        terms.push_back({.rank = rank, .vector = 0, .value = r * share});
    }
    sweeper_.set_restart(std::move(terms));
}

void ExactSolver::start_from(const SparseStart* start) {
    const std::span<float> unknowns = sweeper_.unknowns();
    const auto inverse_degrees = matrix_->inverse_degrees();
    std::ranges::fill(unknowns, 0.0F);
    if (start == nullptr) {
        for (const auto& [rank, share] : connected_) {
            unknowns[position(rank)] = static_cast<float>(share) * inverse_degrees[position(rank)];
        }
        return;
    }
    for (std::size_t place = 0; place < start->nodes.size(); ++place) {
        const std::size_t rank = position(matrix_->ranks()[position(start->nodes[place])]);
        unknowns[rank] = start->scores[place] * inverse_degrees[rank];
    }
}

PprOutcome ExactSolver::iterate(double start_error, const CheckInterrupt& check) {
    const double r = options_.restart_probability;
    SweepSchedule schedule(r, options_.tolerance / connected_share_, start_error,
                           options_.max_iterations);
    SweepReport report{};
    double bound = 0.0;
    double rounding = 0.0;
    do {
        for (std::int32_t sweep = 0; sweep < schedule.relax_sweeps(); ++sweep) {
            if (check) check();
            sweeper_.relax(1.0 - r, schedule.omega());
        }
        if (check) check();
        sweeper_.certify(1.0 - r, scores_.view(), {&report, 1});
        bound = proven_bound(*matrix_, r, report, rounding);
    } while (schedule.goes_on(bound, rounding));
    sweeper_.scale(connected_share_ / report.mass, scores_.view());
    for (const auto& [rank, share] : dangling_) {
        scores_[position(rank)] = static_cast<float>(dangling_scale_ * share);
    }
    bound = std::min(connected_share_ * bound + (dangling_.empty() ? 0.0 : kFloat32Roundoff),
                     kLargestError);
    return {.iterations = schedule.sweeps_done(),
            .error_bound = bound,
            .converged = bound <= options_.tolerance};
}

double ExactSolver::copy_scores(std::span<Score> by_node) const {
    const auto ranks = matrix_->ranks();
    double sum = 0.0;
    for (const float score : scores_.view()) sum += static_cast<double>(score);
    for (std::size_t node = 0; node < ranks.size(); ++node) {
        by_node[node] = static_cast<double>(scores_[position(ranks[node])]) / sum;
    }
    return std::abs(sum - 1.0);
}

}  // namespace hippograph
