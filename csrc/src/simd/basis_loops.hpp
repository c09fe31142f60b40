// The loops of basis_kernels.hpp, written once over a Line: one cache line of values in registers.
// Each instruction set brings Lines of its own in an unnamed namespace, so that what is compiled
// here stays within its file. No function of a shared header is called, for the same reason.
#pragma once

#include "hippograph/basis_kernels.hpp"

namespace hippograph::basis {

// Sums are cut in pieces of this many terms: hubs have thousands, and the rounding error of a sum
// grows with its longest chain of additions.
inline constexpr EdgeOffset kPiece = 32;

// Rows whose norms are added up before they join the total, which is in double.
inline constexpr Rank kNormRows = 64;

// Passages that are added into all sums while their slots are in the first-level cache.
inline constexpr std::int64_t kTile = 32;

template <typename Line, typename Factor>
Line weighted_sum(EdgeOffset begin, EdgeOffset end, const Rank* places, const Factor* factors,
                  const Lanes<typename Line::Real>* values) noexcept {
    using Real = typename Line::Real;
    Line total = Line::zero();
    while (begin < end) {
        const EdgeOffset stop = end - begin > kPiece ? begin + kPiece : end;
        Line piece = Line::zero();
        for (; begin < stop; ++begin) {
            __builtin_prefetch(&values[places[begin + kReadAhead]]);
            const Line factor = Line::all(static_cast<Real>(factors[begin]));
            piece = piece + factor * Line::load(values[places[begin]]);
        }
        total = total + piece;
    }
    return total;
}

template <typename Line>
void step(const BasisStep<typename Line::Real>& work) noexcept {
    using Real = typename Line::Real;
    const Line keep = Line::all(work.keep);
    for (Rank first = 0; first < work.num_rows; first += kNormRows) {
        const Rank last = work.num_rows - first > kNormRows ? first + kNormRows : work.num_rows;
        Line norm = Line::zero();
        for (Rank row = first; row < last; ++row) {
            const Line pulled = weighted_sum<Line>(work.row_begins[row], work.row_ends[row],
                                                   work.columns, work.weights, work.current);
            const Line scale = Line::all(work.factor * work.inverse_degrees[row]);
            const Line next = scale * pulled - keep * Line::load(work.next[row]);
            next.store(work.next[row]);
            norm = norm + (Line::all(work.degrees[row]) * next).magnitude();
        }
        Lanes<Real> norms;
        norm.store(norms);
        for (std::size_t lane = 0; lane < Lanes<Real>::kCount; ++lane) {
            work.norms[lane] += static_cast<double>(norms.at[lane]);
        }
    }
}

template <typename Line>
void sum_passages(const PassageSum<typename Line::Real>& work) noexcept {
    for (std::int64_t passage = 0; passage < work.num_passages; ++passage) {
        weighted_sum<Line>(work.offsets[passage], work.offsets[passage + 1], work.nodes,
                           work.weights, work.vector)
            .store(work.slots[passage * kNumSlots + work.slot]);
    }
}

template <typename Line>
void sum_slots(const SlotSum<typename Line::Real>& work) noexcept {
    for (std::int64_t first = 0; first < work.num_passages; first += kTile) {
        const std::int64_t last =
            work.num_passages - first > kTile ? first + kTile : work.num_passages;
        for (std::int64_t turn = 0; turn < work.num_active; ++turn) {
            const std::int64_t row = work.active[turn];
            Line coefficients[kNumSlots];
            for (std::int64_t slot = 0; slot < kNumSlots; ++slot) {
                coefficients[slot] = Line::load(work.coefficients[row * kNumSlots + slot]);
            }
            Lanes<typename Line::Real>* const sums = work.sums + row * work.num_passages;
            for (std::int64_t passage = first; passage < last; ++passage) {
                Line sum = Line::load(sums[passage]);
                for (std::int64_t slot = 0; slot < kNumSlots; ++slot) {
                    sum = sum +
                          coefficients[slot] * Line::load(work.slots[passage * kNumSlots + slot]);
                }
                sum.store(sums[passage]);
            }
        }
    }
}

template <typename Line>
constexpr BasisKernels<typename Line::Real> kernels() noexcept {
    return {
        .step = &step<Line>, .sum_passages = &sum_passages<Line>, .sum_slots = &sum_slots<Line>};
}

}  // namespace hippograph::basis
