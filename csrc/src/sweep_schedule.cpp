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

// A relax sweep shrinks the error by about (omega - 1) to this power; measured from r = 0.05 to
// 0.95.
constexpr double kRateExponent = 0.72;

// The bound after k relax sweeps and a certify sweep is about rate^k (c / 2r) times this and the
// error of the start; nine queries in ten stay below.
constexpr double kStartFactor = 3.0;

// Float32 sums leave errors that a certify sweep sees as a bound of about this many times its own
// rounding. From there on only certify sweeps help.
constexpr double kNoise = 6.0;

// The residual that scores in float32 leave is about this, relative to their sum.
constexpr double kFloat32Residual = 1.1e-8;

}  // namespace

SweepSchedule::SweepSchedule(double restart_probability, double tolerance, double start_error,
                             std::int32_t max_sweeps)
    : tolerance_(tolerance),
      best_(std::numeric_limits<double>::infinity()),
      max_sweeps_(max_sweeps) {
    const double c = 1.0 - restart_probability;
    omega_ = 2.0 / (1.0 + std::sqrt(1.0 - c * c));
    rate_ = std::clamp(std::pow(omega_ - 1.0, kRateExponent), 1e-3, 0.999);
    const double first_bound = kStartFactor * start_error * c / (2.0 * restart_probability);
    plan(first_bound, kFloat32Residual / restart_probability);
}

// Relax sweeps that bring a bound down to what is wanted, rounding aside.
void SweepSchedule::plan(double bound, double rounding) {
    const double wanted = std::max(tolerance_ - rounding, kNoise * rounding);
    const double sweeps = bound > wanted ? std::log(wanted / bound) / std::log(rate_) : 0.0;
    const double room = static_cast<double>(max_sweeps_ - sweeps_done_ - 1);
    relax_sweeps_ = static_cast<std::int32_t>(std::clamp(std::ceil(sweeps), 0.0, room));
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
    plan(bound * rate_, rounding);
    return true;
}

}  // namespace hippograph
