#include "hippograph/chebyshev_series.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace hippograph {

ChebyshevSeries::ChebyshevSeries(double restart_probability)
    : restart_probability_(restart_probability) {
    if (!(restart_probability > 0.0 && restart_probability <= 1.0)) {
        throw std::invalid_argument("restart_probability is " +
                                    std::to_string(restart_probability) +
                                    "; it must be above 0 and at most 1");
    }
    // sqrt(1 - c^2), without the cancellation of small restart probabilities.
    const double sine = std::sqrt(restart_probability * (2.0 - restart_probability));
    first_ = restart_probability / sine;
    ratio_ = (1.0 - restart_probability) / (1.0 + sine);
}

double ChebyshevSeries::tail_bound(double coefficient, double last_norm,
                                   double next_norm) const noexcept {
    const double c = 1.0 - restart_probability_;
    return 0.5 * c * coefficient * (next_norm + ratio_ * last_norm) / restart_probability_;
}

}  // namespace hippograph
