// The loops of sell_kernels.hpp, once for all widths. Included by one source file per width, after
// that file has defined, in an unnamed namespace, the sixteen-lane vectors F32 and F64 and their
// operations; everything here has internal linkage too, so that no copy compiled for wide vectors
// can stand in for a portable one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hippograph/sell_kernels.hpp"

namespace hippograph {

namespace {

// Fetches what the loop will need kColumnsAhead entry columns later, and gives the place of this
// one.
std::int64_t entry_place(const SellSlices& slices, std::int64_t entry) {
    const std::int64_t place = 16 * entry;
    constexpr auto ahead = static_cast<std::int64_t>(16 * kColumnsAhead);
    prefetch(slices.values + place + ahead);
    prefetch(slices.columns + place + ahead);
    return place;
}

void relax(const SellGraph& graph, const RelaxFactors& factors, const float* restart, float* u,
           std::int64_t first, std::int64_t last) {
    const F32 pull = broadcast(factors.pull);
    const F32 omega = broadcast(factors.omega);
    const SellSlices& slices = graph.slices;
    for (std::int64_t slice = first; slice < last; ++slice) {
        F32 sum = broadcast(0.0F);
        for (std::int64_t entry = slices.offsets[slice]; entry < slices.offsets[slice + 1];
             ++entry) {
            const std::int64_t place = entry_place(slices, entry);
            sum =
                add(sum, multiply(load(slices.values + place), gather(u, slices.columns + place)));
        }
        F32 target = multiply(sum, pull);
        if (restart != nullptr) target = add(target, load(restart));
        target = multiply(target, load(graph.inverse_degrees + 16 * slice));
        float* const own = u + 16 * slice;
        const F32 old = load(static_cast<const float*>(own));
        store(own, add(old, multiply(omega, subtract(target, old))));
    }
}

// One Newton step on the float32 inverse gives the float64 inverse; 0 stays 0.
F64 invert(const F64& degree, const F64& inverse) {
    return multiply(inverse, subtract(broadcast(2.0), multiply(degree, inverse)));
}

void certify(const SellGraph& graph, double pull, const double* restart, float* u, float* scores,
             std::int64_t first, std::int64_t last, CertifySums& sums) {
    const SellSlices& slices = graph.slices;
    F64 rounding = load(static_cast<const double*>(sums.rounding));
    F64 change = load(static_cast<const double*>(sums.change));
    F64 mass = load(static_cast<const double*>(sums.mass));
    for (std::int64_t slice = first; slice < last; ++slice) {
        F64 sum = broadcast(0.0);
        for (std::int64_t entry = slices.offsets[slice]; entry < slices.offsets[slice + 1];
             ++entry) {
            const std::int64_t place = entry_place(slices, entry);
            sum = add(sum, multiply(widen(load(slices.values + place)),
                                    widen(gather(u, slices.columns + place))));
        }
        F64 target = multiply(sum, broadcast(pull));
        if (restart != nullptr) target = add(target, load(restart));
        const F64 degree = load(graph.degrees + 16 * slice);
        float* const own = u + 16 * slice;
        const F64 old = widen(load(static_cast<const float*>(own)));
        const F32 rounded = narrow(
            multiply(target, invert(degree, widen(load(graph.inverse_degrees + 16 * slice)))));
        store(own, rounded);
        store(scores + 16 * slice, narrow(target));
        const F64 late = widen(load(graph.late_shares + 16 * slice));
        const F64 error = absolute(subtract(target, multiply(degree, widen(rounded))));
        rounding = add(rounding, multiply(subtract(broadcast(1.0), late), error));
        change = add(change, multiply(late, absolute(subtract(target, multiply(degree, old)))));
        mass = add(mass, target);
    }
    store(sums.rounding, rounding);
    store(sums.change, change);
    store(sums.mass, mass);
}

double long_row(const std::int32_t* columns, const float* values, const float* u,
                std::int64_t begin, std::int64_t end) {
    F64 sum = broadcast(0.0);
    std::int64_t entry = begin;
    for (; entry + 16 <= end; entry += 16) {
        sum = add(sum, multiply(widen(load(values + entry)), widen(gather(u, columns + entry))));
    }
    double lanes[kLanes];
    store(lanes, sum);
    for (std::size_t lane = 0; entry < end; ++entry, ++lane) {
        lanes[lane] += static_cast<double>(values[entry]) * static_cast<double>(u[columns[entry]]);
    }
    for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
        for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    return lanes[0];
}

void scale_scores(double scale, float* scores, std::int64_t first, std::int64_t last) {
    for (std::int64_t place = 16 * first; place < 16 * last; place += 16) {
        const F64 score = positive(widen(load(static_cast<const float*>(scores + place))));
        store(scores + place, narrow(multiply(score, broadcast(scale))));
    }
}

void multiply_slices(const SellSlices& slices, const float* x, std::int64_t first,
                     std::int64_t last, double* products) {
    for (std::int64_t slice = first; slice < last; ++slice) {
        F64 sum = broadcast(0.0);
        for (std::int64_t entry = slices.offsets[slice]; entry < slices.offsets[slice + 1];
             ++entry) {
            const std::int64_t place = entry_place(slices, entry);
            sum = add(sum, multiply(widen(load(slices.values + place)),
                                    widen(gather(x, slices.columns + place))));
        }
        store(products + 16 * (slice - first), sum);
    }
}

}  // namespace

}  // namespace hippograph
