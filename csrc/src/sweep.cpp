#include "hippograph/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "hippograph/row_sum.hpp"

namespace hippograph {

namespace {

class Sweeper {
   public:
    Sweeper(const Transition& transition, const SweepFactors& factors, const SweepVectors& vectors)
        : offsets_(transition.offsets()),
          columns_(transition.columns()),
          values_(transition.values()),
          degrees_(transition.degrees()),
          inverse_degrees_(transition.inverse_degrees()),
          factors_(factors),
          vectors_(vectors) {}

    [[nodiscard]] double rows_of_any_length(Rank first, Rank last) const noexcept {
        double residual = 0.0;
        for (Rank rank = first; rank < last; ++rank) {
            const std::size_t row = position(rank);
            const Score pulled = row_sum(offsets_[row], offsets_[row + 1],
                                         [&](EdgeOffset entry) { return term(position(entry)); });
            residual += step(row, pulled);
        }
        return residual;
    }

    // The compiler unrolls the inner loop: no branch depends on the data.
    template <std::size_t Length>
    [[nodiscard]] double rows_of_length(Rank first, Rank last) const noexcept {
        double residual = 0.0;
        if (first >= last) return residual;
        std::size_t entry = position(offsets_[position(first)]);
        for (Rank rank = first; rank < last; ++rank, entry += Length) {
            Score pulled = 0.0;
            for (std::size_t place = 0; place < Length; ++place) pulled += term(entry + place);
            residual += step(position(rank), pulled);
        }
        return residual;
    }

   private:
    [[nodiscard]] Score term(std::size_t entry) const noexcept {
        return static_cast<Score>(values_[entry]) * vectors_.current[position(columns_[entry])];
    }

    [[nodiscard]] double step(std::size_t row, Score pulled) const noexcept {
        const Score target = factors_.pull * pulled + factors_.restart * vectors_.teleport[row];
        Score& next = vectors_.next[row];
        next = factors_.omega * (target * inverse_degrees_[row]) + (1.0 - factors_.omega) * next;
        return std::abs(target - degrees_[row] * vectors_.current[row]);
    }

    std::span<const EdgeOffset> offsets_;
    std::span<const Rank> columns_;
    std::span<const Weight> values_;
    std::span<const Score> degrees_;
    std::span<const Score> inverse_degrees_;
    SweepFactors factors_;
    SweepVectors vectors_;
};

}  // namespace

double sweep(const Transition& transition, const SweepFactors& factors, const SweepVectors& vectors,
             Rank first, Rank last) noexcept {
    const Sweeper sweeper(transition, factors, vectors);
    constexpr std::size_t kLongest = Transition::kMaxEqualLength;
    double residual =
        sweeper.rows_of_any_length(first, std::min(last, transition.num_longer(kLongest)));
    const auto equal_rows = [&]<std::size_t Length>() {
        residual += sweeper.template rows_of_length<Length>(
            std::max(first, transition.num_longer(Length)),
            std::min(last, transition.num_longer(Length - 1)));
    };
    [&]<std::size_t... Shorter>(std::index_sequence<Shorter...>) {
        (equal_rows.template operator()<kLongest - Shorter>(), ...);
    }(std::make_index_sequence<kLongest>());
    return residual;
}

}  // namespace hippograph
