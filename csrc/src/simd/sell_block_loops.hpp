// The loops of sell_kernels.hpp that carry sixteen vectors at once: no gathers, every entry reads
// one line of sixteen neighbouring numbers. See sell_loops.hpp for how it is compiled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sell_loops.hpp"

namespace hippograph {

namespace {

// How many rows ahead lines are fetched: enough to cover memory, few enough to stay in cache.
constexpr std::int64_t kRowsAhead = 2;

// Calls add_entry(value, line) for the entries of one row of a slice; a value of 0 ends the row.
template <typename AddEntry>
void for_each_entry(const SellSlices& slices, std::int64_t slice, std::int64_t lane, const float* u,
                    AddEntry&& add_entry) {
    const std::int64_t ahead = lane + kRowsAhead < 16 ? kRowsAhead : 0;
    for (std::int64_t entry = slices.offsets[slice]; entry < slices.offsets[slice + 1]; ++entry) {
        const std::int64_t place = 16 * entry + lane;
        const float value = slices.values[place];
        if (value == 0.0F) return;
        prefetch(u + 16 * static_cast<std::int64_t>(slices.columns[place + ahead]));
        add_entry(value, u + 16 * static_cast<std::int64_t>(slices.columns[place]));
    }
}

void relax_block(const SellGraph& graph, const RelaxFactors& factors, const float* restart,
                 float* u, std::int64_t first, std::int64_t last) {
    const F32 pull = broadcast(factors.pull);
    const F32 omega = broadcast(factors.omega);
    for (std::int64_t slice = first; slice < last; ++slice) {
        for (std::int64_t lane = 0; lane < 16; ++lane) {
            const std::int64_t row = 16 * slice + lane;
            F32 sum = broadcast(0.0F);
            for_each_entry(graph.slices, slice, lane, u, [&](float value, const float* line) {
                sum = add(sum, multiply(broadcast(value), load(line)));
            });
            F32 target = multiply(sum, pull);
            if (restart != nullptr) target = add(target, load(restart + 16 * lane));
            target = multiply(target, broadcast(graph.inverse_degrees[row]));
            float* const own = u + 16 * row;
            const F32 old = load(static_cast<const float*>(own));
            store(own, add(old, multiply(omega, subtract(target, old))));
        }
    }
}

void certify_block(const SellGraph& graph, double pull, const double* restart, float* u,
                   std::int64_t first, std::int64_t last, CertifySums& sums) {
    F64 rounding = load(static_cast<const double*>(sums.rounding));
    F64 change = load(static_cast<const double*>(sums.change));
    F64 mass = load(static_cast<const double*>(sums.mass));
    for (std::int64_t row = 16 * first; row < 16 * last; ++row) {
        F64 sum = broadcast(0.0);
        for_each_entry(graph.slices, row / 16, row % 16, u, [&](float value, const float* line) {
            sum = add(sum, multiply(broadcast(static_cast<double>(value)), widen(load(line))));
        });
        F64 target = multiply(sum, broadcast(pull));
        if (restart != nullptr) target = add(target, load(restart + 16 * (row % 16)));
        const F64 degree = broadcast(graph.degrees[row]);
        const F64 inverse = broadcast(static_cast<double>(graph.inverse_degrees[row]));
        float* const own = u + 16 * row;
        const F64 old = widen(load(static_cast<const float*>(own)));
        const F32 rounded = narrow(multiply(target, invert(degree, inverse)));
        store(own, rounded);
        const F64 score = multiply(degree, widen(rounded));
        const F64 share = broadcast(static_cast<double>(graph.late_shares[row]));
        rounding = add(rounding, absolute(subtract(target, score)));
        change = add(change, multiply(share, absolute(subtract(score, multiply(degree, old)))));
        mass = add(mass, score);
    }
    store(sums.rounding, rounding);
    store(sums.change, change);
    store(sums.mass, mass);
}

void long_row_block(const std::int32_t* columns, const float* values, const float* u,
                    std::int64_t begin, std::int64_t end, double* sums) {
    F64 sum = broadcast(0.0);
    for (std::int64_t entry = begin; entry < end; ++entry) {
        const std::int64_t ahead = entry + 16 < end ? entry + 16 : entry;
        prefetch(u + 16 * static_cast<std::int64_t>(columns[ahead]));
        const float* const line = u + 16 * static_cast<std::int64_t>(columns[entry]);
        sum = add(sum, multiply(broadcast(static_cast<double>(values[entry])), widen(load(line))));
    }
    store(sums, sum);
}

void scale_block(const double* degrees, const double* scales, float* u, std::int64_t first,
                 std::int64_t last) {
    const F64 scale = load(scales);
    for (std::int64_t row = 16 * first; row < 16 * last; ++row) {
        const F64 own = widen(load(static_cast<const float*>(u + 16 * row)));
        const F64 score = positive(multiply(broadcast(degrees[row]), own));
        store(u + 16 * row, narrow(multiply(score, scale)));
    }
}

constexpr SellKernels kKernels{.relax = relax,
                               .certify = certify,
                               .relax_block = relax_block,
                               .certify_block = certify_block,
                               .long_row = long_row,
                               .long_row_block = long_row_block,
                               .scale = scale_scores,
                               .scale_block = scale_block,
                               .multiply = multiply_slices};

}  // namespace

}  // namespace hippograph
