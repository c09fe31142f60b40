#include "hippograph/sweep_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hippograph {

namespace {

// A certify sweep that proves no less than this share of the best bound so far has disappointed.
constexpr double kLittleProgress = 0.9;
// Then sweeps go on without over-relaxation, which always converges; after this many it is over.
constexpr std::int32_t kMaxDisappointments = 3;

// Plans end a little below the tolerance: one sweep more costs less than a second certify sweep.
constexpr double kMargin = 0.8;

}  // namespace

SweepSchedule::SweepSchedule(double restart_probability, double tolerance, double start_error,
                             std::int32_t max_sweeps)
    : tolerance_(tolerance),
      best_(std::numeric_limits<double>::infinity()),
      max_sweeps_(max_sweeps) {
    const double c = 1.0 - restart_probability;
    omega_ = 2.0 / (1.0 + std::sqrt(1.0 - c * c));
    rate_ = std::clamp(std::pow(omega_ - 1.0, 0.6), 1e-3, 0.999);
    // A certify sweep proves about half of c / r of the error it starts from.
    plan(kMargin * tolerance * 2.0 * restart_probability / (c * start_error));
}

void SweepSchedule::plan(double shrink_to) {
    const double wanted = shrink_to < 1.0 ? std::log(shrink_to) / std::log(rate_) : 0.0;
    const double room = static_cast<double>(max_sweeps_ - sweeps_done_ - 1);
    relax_sweeps_ = static_cast<std::int32_t>(std::clamp(std::ceil(wanted), 0.0, room));
}

bool SweepSchedule::goes_on(double bound, double rounding) {
    sweeps_done_ += relax_sweeps_ + 1;
    if (bound <= tolerance_ || sweeps_done_ >= max_sweeps_) return false;
    if (!std::isfinite(bound) || rounding >= tolerance_) return false;
    if (bound > kLittleProgress * best_) {
        omega_ = 1.0;
        if (++disappointments_ == kMaxDisappointments) return false;
    }
    best_ = std::min(best_, bound);
    // The certify sweep to come shrinks the error as well.
    plan(kMargin * tolerance_ / (bound * rate_));
    return true;
}

}  // namespace hippograph
