#include "hippograph/sweep_group.hpp"

#include <algorithm>
#include <limits>

namespace hippograph {

namespace {

// Norms are sums of rounded numbers; their bounds must not be too small.
constexpr double kNormSlack = 1.0 + 1e-4;

// Rounding of a term and of the vectors before it, in units of the term's own rounding. Measured:
// the tests hold errors to it on graphs with degrees from 1e-3 to 1e3.
constexpr double kRoundingsPerTerm = 4.0;

}  // namespace

template <typename Real>
double SweepGroup<Real>::Series::error_bound() const noexcept {
    constexpr double kUnitRoundoff = std::numeric_limits<Real>::epsilon() / Real{2};
    return share * (tail + kRoundingsPerTerm * kUnitRoundoff * rounding);
}

template <typename Real>
SweepGroup<Real>::SweepGroup(const SweepGraph& graph, std::span<const ChebyshevSeries> restarts,
                             const SeriesOptions& options)
    : graph_(&graph), restarts_(restarts), options_(options), kernels_(basis_kernels<Real>()) {
    const std::size_t num_passages = position(graph.num_passages());
    current_.resize(position(graph.num_nodes()));
    other_.resize(current_.size());
    slots_.resize(num_passages * kNumSlots);
    coefficients_.resize(restarts.size() * kNumSlots);
    sums_.resize(restarts.size() * num_passages);
    series_.resize(restarts.size() * kLanes);
}

template <typename Real>
void SweepGroup<Real>::solve(const ThresholdedGraph<Real>& graph, const SeedView& seeds,
                             std::int64_t first, std::int64_t count, const CheckInterrupt& check) {
    std::ranges::fill(current_, Lanes<Real>{});
    std::ranges::fill(other_, Lanes<Real>{});
    std::ranges::fill(sums_, Lanes<Real>{});
    connected_.fill(0.0);
    for (auto& seeds_of_lane : dangling_) seeds_of_lane.clear();
    for (std::int64_t place = 0; place < count; ++place) {
        load(graph, seeds, first + place, position(place));
    }
    start_series();
    sum_passages(graph, 0);
    for (std::int32_t last_term = 0;; ++last_term) {
        if (check) check();
        step(graph, last_term);
        const std::int64_t slot = (last_term + 1) % kNumSlots;
        if (slot == 0) sum_slots();
        if (!extend_series(last_term, slot)) break;
        sum_passages(graph, slot);
    }
    sum_slots();
}

// v = weights / sum, divided by the largest first so that no sum overflows. The connected part,
// scaled to sum 1, starts the vectors; what its scores are worth is settled in start_series.
template <typename Real>
void SweepGroup<Real>::load(const ThresholdedGraph<Real>& graph, const SeedView& seeds,
                            std::int64_t query, std::size_t lane) {
    const std::size_t begin = position(seeds.offsets[position(query)]);
    const std::size_t end = position(seeds.offsets[position(query) + 1]);
    const auto weights = seeds.weights.subspan(begin, end - begin);
    const double largest = std::ranges::max(weights);
    double sum = 0.0;
    for (const double weight : weights) sum += weight / largest;
    const auto share_of = [&](std::size_t seed) { return seeds.weights[seed] / largest / sum; };
    for (std::size_t seed = begin; seed < end; ++seed) {
        const Rank rank = graph_->ranks()[position(seeds.nodes[seed])];
        if (graph.inverse_degrees[position(rank)] > Real{0}) {
            connected_[lane] += share_of(seed);
        } else {
            dangling_[lane].emplace_back(seeds.nodes[seed], share_of(seed));
        }
    }
    for (std::size_t seed = begin; seed < end; ++seed) {
        const std::size_t rank = position(graph_->ranks()[position(seeds.nodes[seed])]);
        if (!(graph.inverse_degrees[rank] > Real{0})) continue;
        current_[rank].at[lane] =
            static_cast<Real>(share_of(seed) / connected_[lane]) * graph.inverse_degrees[rank];
    }
}

// The fixed point has mass a = v(connected) on the connected nodes and r (1 - a) on the dangling
// ones; returning the lost mass to v rescales the whole to sum 1.
template <typename Real>
void SweepGroup<Real>::start_series() {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        norms_[lane] = connected_[lane] > 0.0 ? 1.0 : 0.0;
    }
    std::ranges::fill(coefficients_, Lanes<Real>{});
    for (std::size_t restart = 0; restart < restarts_.size(); ++restart) {
        const double first = restarts_[restart].first();
        const double r = restarts_[restart].restart_probability();
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const double a = connected_[lane];
            series_[restart * kLanes + lane] = {.share = a > 0.0 ? a / (a + r * (1.0 - a)) : 0.0,
                                                .coefficient = 2.0 * first,
                                                .rounding = first * norms_[lane],
                                                .tail = 0.0,
                                                .num_terms = 1,
                                                .is_done = false,
                                                .converged = false};
            coefficients_[restart * kNumSlots].at[lane] = static_cast<Real>(first);
        }
    }
}

// T_(k+1) s = 2 P T_k s - T_(k-1) s, and T_1 s = P s; divided by degrees throughout.
template <typename Real>
void SweepGroup<Real>::step(const ThresholdedGraph<Real>& graph, std::int32_t last_term) {
    last_norms_ = norms_;
    norms_.fill(0.0);
    kernels_.step({.num_rows = graph.num_rows,
                   .row_begins = graph_->row_begins().data(),
                   .row_ends = graph.row_ends.data(),
                   .columns = graph_->columns().data(),
                   .weights = graph.weights.data(),
                   .degrees = graph.degrees.data(),
                   .inverse_degrees = graph.inverse_degrees.data(),
                   .factor = last_term == 0 ? Real{1} : Real{2},
                   .keep = last_term == 0 ? Real{0} : Real{1},
                   .current = current_.data(),
                   .next = other_.data(),
                   .norms = norms_.data()});
    std::swap(current_, other_);
}

template <typename Real>
void SweepGroup<Real>::sum_passages(const ThresholdedGraph<Real>& graph, std::int64_t slot) {
    kernels_.sum_passages({.num_passages = graph_->num_passages(),
                           .offsets = graph_->mention_offsets().data(),
                           .nodes = graph_->mention_ranks().data(),
                           .weights = graph.mention_weights.data(),
                           .vector = current_.data(),
                           .slot = slot,
                           .slots = slots_.data()});
}

// Ends the series that are good enough without the vector just made, and gives the others its
// coefficient; false when none is left.
template <typename Real>
bool SweepGroup<Real>::extend_series(std::int32_t last_term, std::int64_t slot) {
    bool is_any_left = false;
    for (std::size_t restart = 0; restart < restarts_.size(); ++restart) {
        const ChebyshevSeries& rule = restarts_[restart];
        Lanes<Real>& coefficients = coefficients_[restart * kNumSlots + position(slot)];
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            Series& series = series_[restart * kLanes + lane];
            if (series.is_done) continue;
            series.tail =
                kNormSlack * rule.tail_bound(series.coefficient, last_norms_[lane], norms_[lane]);
            series.converged = series.share * series.tail <= options_.tolerance;
            series.is_done = series.converged || last_term + 1 == options_.max_terms;
            if (series.is_done) continue;
            series.coefficient *= rule.ratio();
            series.rounding += series.coefficient * norms_[lane];
            ++series.num_terms;
            coefficients.at[lane] = static_cast<Real>(series.coefficient);
            is_any_left = true;
        }
    }
    return is_any_left;
}

// Adds the waiting slots into the sums of the restart probabilities that still have terms.
template <typename Real>
void SweepGroup<Real>::sum_slots() {
    active_.clear();
    for (std::size_t restart = 0; restart < restarts_.size(); ++restart) {
        const auto slots = std::span(coefficients_).subspan(restart * kNumSlots, kNumSlots);
        const bool has_terms = std::ranges::any_of(slots, [](const Lanes<Real>& lanes) {
            return std::ranges::any_of(lanes.at, [](Real value) { return value != Real{0}; });
        });
        if (has_terms) active_.push_back(static_cast<std::int32_t>(restart));
    }
    kernels_.sum_slots({.num_passages = graph_->num_passages(),
                        .slots = slots_.data(),
                        .coefficients = coefficients_.data(),
                        .active = active_.data(),
                        .num_active = std::ssize(active_),
                        .sums = sums_.data()});
    std::ranges::fill(coefficients_, Lanes<Real>{});
}

// Scores are not negative; an ended series may fall below 0 by less than its bound.
template <typename Real>
void SweepGroup<Real>::copy_scores(std::size_t restart, std::size_t lane,
                                   std::span<Score> scores) const {
    const auto sums = std::span(sums_).subspan(restart * scores.size(), scores.size());
    const double share = series(restart, lane).share;
    for (std::size_t passage = 0; passage < scores.size(); ++passage) {
        scores[passage] = share * std::max(static_cast<Score>(sums[passage].at[lane]), 0.0);
    }
    const double r = restarts_[restart].restart_probability();
    const double a = connected_[lane];
    const CsrView& occurrences = graph_->occurrences();
    for (const auto& [node, weight] : dangling_[lane]) {
        const double score = r * weight / (a + r * (1.0 - a));
        for (EdgeOffset entry = occurrences.row_begin(node); entry < occurrences.row_end(node);
             ++entry) {
            scores[position(occurrences.columns[position(entry)])] +=
                score * static_cast<Score>(occurrences.values[position(entry)]);
        }
    }
}

template class SweepGroup<float>;
template class SweepGroup<double>;

}  // namespace hippograph
