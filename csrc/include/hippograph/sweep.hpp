// One multiplication by W and one step of the solver's recurrence, over a range of ranks: the loop
// in which all of a query's time goes.
#pragma once

#include <span>

#include "hippograph/transition.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

struct SweepFactors {
    double pull;     // 1 - r
    double restart;  // r
    double omega;    // weight of the new value against the one before last; 1 is a power step
};

// By rank; iterates are divided by degrees, u = x / d, so that a step needs only W.
struct SweepVectors {
    std::span<const Score> teleport;  // v
    std::span<const Score> current;   // u_k
    std::span<Score> next;            // u_(k-1) in, u_(k+1) out
};

// With t = pull W u_k + restart v, in [first, last):
//   next = omega t / d + (1 - omega) next;   returns the sum of |t - d u_k|, the residual in L1.
[[nodiscard]] double sweep(const Transition& transition, const SweepFactors& factors,
                           const SweepVectors& vectors, Rank first, Rank last) noexcept;

}  // namespace hippograph
