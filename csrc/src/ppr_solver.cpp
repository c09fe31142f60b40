#include "hippograph/ppr_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "hippograph/row_sum.hpp"
#include "hippograph/sweep.hpp"

namespace hippograph {

namespace {

// Starting a thread costs some tens of microseconds, once an iteration: the rows must be worth it.
constexpr EdgeOffset kMinEntriesPerThread = 250'000;

// Chebyshev gives way to power iteration when its residual exceeds its best by this factor, before
// the swelling costs digits, or has risen this often, which means that rounding drives it.
constexpr double kMaxSwelling = 8.0;
constexpr int kMaxRises = 64;

constexpr double kUnitRoundoff = std::numeric_limits<double>::epsilon() / 2;

// |x - y|_1 of any two probability vectors is at most this.
constexpr double kLargestError = 2.0;

// A residual is a difference of quantities that sum to about 1, each computed with one chain of
// additions; degrees and their inverses were rounded in the same way; the factor covers both.
double residual_rounding(const Transition& transition) {
    return 4.0 * static_cast<double>(row_sum_depth(transition.longest_row()) + 4) * kUnitRoundoff;
}

// Factor of the three-term recurrence, from step to step; 1 throughout is power iteration.
class Relaxation {
   public:
    explicit Relaxation(double contraction) : quarter_(contraction * contraction / 4.0) {}

    [[nodiscard]] double omega() const noexcept { return omega_; }

    // Chooses the next factor, given the residual of the iterate just used.
    void advance(double residual) noexcept {
        if (residual > previous_) ++rises_;
        previous_ = residual;
        best_ = std::min(best_, residual);
        if (residual > kMaxSwelling * best_ || rises_ > kMaxRises) accelerated_ = false;
        omega_ = accelerated_ ? 1.0 / (1.0 - quarter_ * (is_first_ ? 2.0 : omega_)) : 1.0;
        is_first_ = false;
    }

   private:
    double quarter_;
    double omega_ = 1.0;
    double previous_ = std::numeric_limits<double>::infinity();
    double best_ = std::numeric_limits<double>::infinity();
    int rises_ = 0;
    bool is_first_ = true;
    bool accelerated_ = true;
};

void check_weight(double weight, std::size_t place) {
    if (!(weight >= 0.0) || std::isinf(weight)) {
        throw std::invalid_argument("personalization[" + std::to_string(place) + "] is " +
                                    std::to_string(weight) +
                                    "; weights must be finite and not negative");
    }
}

}  // namespace

int PprSolver::threads_for_rows(const Transition& transition, int requested) {
    const std::int64_t worthwhile = transition.num_entries() / kMinEntriesPerThread;
    return resolve_num_threads(requested, std::min(worthwhile, transition.num_blocks()));
}

PprSolver::PprSolver(const Transition& transition, const PprOptions& options)
    : transition_(&transition),
      options_(options),
      num_threads_(threads_for_rows(transition, options.num_threads)),
      rounding_(residual_rounding(transition)) {
    check_options(options);
    const std::size_t num_nodes = position(transition.num_nodes());
    teleport_.resize(num_nodes);
    current_.resize(num_nodes);
    other_.resize(num_nodes);
    partials_.resize(position(transition.num_blocks()));
}

PprOutcome PprSolver::solve(std::span<const Score> personalization, std::span<Score> scores,
                            const CheckInterrupt& check) {
    for (std::size_t node = 0; node < personalization.size(); ++node) {
        check_weight(personalization[node], node);
    }
    const auto nodes = transition_->nodes();
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        teleport_[rank] = personalization[position(nodes[rank])];
    }
    return solve_loaded(scores, check);
}

PprOutcome PprSolver::solve(std::span<const NodeId> seeds, std::span<const Score> weights,
                            std::span<Score> scores, const CheckInterrupt& check) {
    std::ranges::fill(teleport_, 0.0);
    for (std::size_t seed = 0; seed < seeds.size(); ++seed) {
        teleport_[position(transition_->ranks()[position(seeds[seed])])] = weights[seed];
    }
    return solve_loaded(scores, check);
}

PprOutcome PprSolver::solve_loaded(std::span<Score> scores, const CheckInterrupt& check) {
    normalize();
    if (options_.restart_probability == 1.0) {
        const auto nodes = transition_->nodes();
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
            scores[position(nodes[rank])] = teleport_[rank];
        }
        return {.iterations = 0, .error_bound = 0.0, .converged = true};
    }
    split_off_dangling();
    Progress progress;
    if (connected_share_ > 0.0) {
        progress = iterate(check);
    } else {
        std::ranges::fill(current_, 0.0);
    }
    const double bound = finish(scores, progress.residual);
    return {.iterations = progress.iterations,
            .error_bound = bound,
            .converged = bound <= options_.tolerance};
}

// teleport_ = v. Divides by the largest weight first, so that no sum overflows.
void PprSolver::normalize() {
    const double largest = teleport_.empty() ? 0.0 : std::ranges::max(teleport_);
    if (!(largest > 0.0)) {
        throw std::invalid_argument(
            "personalization is zero everywhere; at least one node needs a weight above 0");
    }
    double sum = 0.0;
    for (double& weight : teleport_) sum += weight /= largest;
    for (double& weight : teleport_) weight /= sum;
}

// With a = v(connected) and b = v(dangling): the plain fixed point has mass a on the connected
// nodes and r b on the dangling ones; returning lost mass to v rescales the whole to sum 1.
void PprSolver::split_off_dangling() {
    dangling_.clear();
    double lost = 0.0;
    if (transition_->num_dangling() > 0) {
        for (Rank rank = 0; rank < transition_->num_nodes(); ++rank) {
            double& weight = teleport_[position(rank)];
            if (weight == 0.0 || transition_->degrees()[position(rank)] > 0.0) continue;
            dangling_.emplace_back(rank, weight);
            lost += weight;
            weight = 0.0;
        }
    }
    double kept = 0.0;
    for (const double weight : teleport_) kept += weight;
    for (double& weight : teleport_) weight = kept > 0.0 ? weight / kept : 0.0;
    const double total = kept + options_.restart_probability * lost;
    connected_share_ = kept / total;
    dangling_scale_ = options_.restart_probability / total;
}

// x_0 = v. other_ may hold anything finite: the first step, with omega 1, does not use it.
void PprSolver::start() {
    const auto inverse_degrees = transition_->inverse_degrees();
    for (std::size_t rank = 0; rank < current_.size(); ++rank) {
        current_[rank] = teleport_[rank] * inverse_degrees[rank];
    }
}

// Leaves the answer, divided by degrees, in current_, with a bound on its residual.
PprSolver::Progress PprSolver::iterate(const CheckInterrupt& check) {
    const double r = options_.restart_probability;
    const double c = 1.0 - r;
    const double wanted = r * options_.tolerance / connected_share_ - 2.0 * rounding_;
    const double floor = 2.0 * rounding_ / r;  // rounding keeps residuals from falling far below
    Relaxation relaxation(c);
    double previous = 0.0;
    Progress progress;
    start();
    while (true) {
        if (check) check();
        const double omega = relaxation.omega();
        const double residual = step(omega);
        ++progress.iterations;
        // Residuals obey the recurrence of the iterates: a bound on the next one comes for free.
        const double next = omega * c * residual + (omega - 1.0) * previous;
        progress.residual = std::min(next, residual);
        const bool is_stuck = progress.iterations > 1 && residual <= floor && residual >= previous;
        const bool is_last = progress.iterations == options_.max_iterations;
        if (progress.residual <= wanted || is_stuck || is_last) {
            if (next < residual) std::swap(current_, other_);
            return progress;
        }
        std::swap(current_, other_);
        previous = residual;
        relaxation.advance(residual);
    }
}

// current_ -> its residual (returned) and the next iterate (in other_).
double PprSolver::step(double omega) {
    const double r = options_.restart_probability;
    const SweepFactors factors{.pull = 1.0 - r, .restart = r, .omega = omega};
    const auto begins = transition_->block_begins();
    parallel_for(std::ssize(partials_), num_threads_, [&](std::int64_t block, int) {
        partials_[position(block)] = sweep(
            *transition_, factors, {.teleport = teleport_, .current = current_, .next = other_},
            begins[position(block)], begins[position(block) + 1]);
    });
    double residual = 0.0;
    for (const double partial : partials_) residual += partial;
    return residual;
}

// scores = the answer, by node, non-negative and summing to 1; returns the bound on its error.
double PprSolver::finish(std::span<Score> scores, double residual) {
    const auto degrees = transition_->degrees();
    const auto nodes = transition_->nodes();
    double sum = 0.0;
    double clamped = 0.0;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        const double signed_score = degrees[rank] * current_[rank];
        const double score = std::max(signed_score, 0.0);
        scores[position(nodes[rank])] = score;
        sum += score;
        clamped += score - signed_score;
    }
    double bound = 0.0;
    if (connected_share_ > 0.0) {
        for (Score& score : scores) score *= connected_share_ / sum;
        const double error = (residual + rounding_) / options_.restart_probability;
        bound = connected_share_ * (std::max(error - clamped, 0.0) + std::abs(sum - 1.0));
    }
    for (const auto& [rank, weight] : dangling_) {
        scores[position(nodes[position(rank)])] = dangling_scale_ * weight;
    }
    return std::min(bound + 4.0 * kUnitRoundoff, kLargestError);
}

}  // namespace hippograph
