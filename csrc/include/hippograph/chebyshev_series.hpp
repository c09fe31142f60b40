// Personalized PageRank for many restart probabilities from one set of vectors:
//
//   r (I - c P)^-1 s = a_0 T_0(P) s + a_1 T_1(P) s + ...,   c = 1 - r,   P = W D^-1,
//   a_0 = r / sqrt(1 - c^2),  a_k = 2 a_0 rho^k,            rho = c / (1 + sqrt(1 - c^2)),
//
// with T_k the Chebyshev polynomials, which do not know r. P is similar to a symmetric matrix with
// its spectrum in [-1, 1], where the series converges like rho^k.
//
// Bound of the tail: the coefficients obey a_k = (c/2) (a_(k-1) + a_(k+1)), and
// P T_k = (T_(k-1) + T_(k+1)) / 2, so that the sum x_K of the terms 0..K leaves the residual
//   q = r s - (I - c P) x_K = (c/2) (a_K T_(K+1) s - a_(K+1) T_K s),
// and |x - x_K|_1 <= |q|_1 / r, since columns of P sum to one. Only the 1-norms of two vectors at
// hand are needed, and nothing is assumed of the graph: where vectors swell in the 1-norm (degrees
// that span many orders of magnitude), the bound sees it and the series goes on.
#pragma once

namespace hippograph {

class ChebyshevSeries {
   public:
    // restart_probability in (0, 1], else std::invalid_argument.
    explicit ChebyshevSeries(double restart_probability);

    [[nodiscard]] double restart_probability() const noexcept { return restart_probability_; }

    // Coefficient of T_0, and how the following ones fall: twice a_0, then by rho each.
    [[nodiscard]] double first() const noexcept { return first_; }
    [[nodiscard]] double ratio() const noexcept { return ratio_; }

    // |x - x_K|_1 at most, given a_K (for K = 0 twice a_0), |T_K s|_1 and |T_(K+1) s|_1.
    [[nodiscard]] double tail_bound(double coefficient, double last_norm,
                                    double next_norm) const noexcept;

   private:
    double restart_probability_;
    double first_;
    double ratio_;
};

}  // namespace hippograph
