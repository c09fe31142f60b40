// How many sweeps, and with which over-relaxation: the plan of the exact solver, without its data.
//
// With c = 1 - r, over-relaxed Gauss-Seidel on a symmetric matrix with spectrum in [-1, 1] is best
// at omega = 2 / (1 + sqrt(1 - c^2)) (Young 1950). On graphs of phrases a sweep then shrinks the
// error by about (omega - 1)^0.72: 0.15 at r = 0.5, where a Chebyshev step gives 0.27. The plan
// uses this only to guess; the proof that ends a solve knows nothing of it.
#pragma once

#include <cstdint>

namespace hippograph {

class SweepSchedule {
   public:
    // `start_error` is about the L1 error of the start, and `tolerance` the wanted bound.
    SweepSchedule(double restart_probability, double tolerance, double start_error,
                  std::int32_t max_sweeps);

    [[nodiscard]] double omega() const noexcept { return omega_; }
    // Relax sweeps to do before the next certify sweep.
    [[nodiscard]] std::int32_t relax_sweeps() const noexcept { return relax_sweeps_; }

    // Learns what a certify sweep proved, and the part of it that is rounding, which no sweep
    // removes. False when the solve must end: met, out of sweeps, or out of digits.
    [[nodiscard]] bool goes_on(double bound, double rounding);

    [[nodiscard]] std::int32_t sweeps_done() const noexcept { return sweeps_done_; }

   private:
    void plan(double bound, double rounding);

    double omega_;
    double rate_;
    double tolerance_;
    double best_;
    std::int32_t max_sweeps_;
    std::int32_t sweeps_done_ = 0;
    std::int32_t relax_sweeps_ = 0;
    std::int32_t disappointments_ = 0;
};

}  // namespace hippograph
