// The loops of a sweep over settings, for as many queries at once as fit a cache line: entry i of a
// vector is one line with the value of each query. A step along an edge reads one line whatever the
// number of queries, nothing is gathered, and lanes never meet: a query's values do not depend on
// which others are beside it. Plain, AVX2 and AVX-512 do the same operations in the same order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hippograph/transition.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

inline constexpr std::size_t kLineBytes = 64;

// One value for each query of a group.
template <typename Real>
struct alignas(kLineBytes) Lanes {
    static constexpr std::size_t kCount = kLineBytes / sizeof(Real);
    Real at[kCount];
};

// Passage vectors wait in this many slots until they are added into the sums of all restart
// probabilities together, which so are read and written that much less often.
inline constexpr std::int64_t kNumSlots = 8;

// Lines are asked for this many terms before they are needed: `columns` and `nodes` below must go
// on for that long after their last entry, with any valid ranks.
inline constexpr std::int64_t kReadAhead = 16;

// next = factor D^-1 W current - keep next, and norms[lane] += |D next|_1.
template <typename Real>
struct BasisStep {
    Rank num_rows;                 // rows after it have no entries
    const EdgeOffset* row_begins;  // row i is the entries [row_begins[i], row_ends[i])
    const EdgeOffset* row_ends;
    const Rank* columns;
    const Weight* weights;
    const Real* degrees;
    const Real* inverse_degrees;
    Real factor;
    Real keep;
    const Lanes<Real>* current;
    Lanes<Real>* next;
    double* norms;
};

// slots[passage][slot] = sum of weights times vector, over the nodes of the passage.
template <typename Real>
struct PassageSum {
    std::int64_t num_passages;
    const EdgeOffset* offsets;
    const Rank* nodes;
    const Real* weights;
    const Lanes<Real>* vector;
    std::int64_t slot;
    Lanes<Real>* slots;
};

// sums[i][passage] += sum over slots of coefficients[i][slot] times slots[passage][slot], for the
// `num_active` restart probabilities i that `active` lists.
template <typename Real>
struct SlotSum {
    std::int64_t num_passages;
    const Lanes<Real>* slots;
    const Lanes<Real>* coefficients;
    const std::int32_t* active;
    std::int64_t num_active;
    Lanes<Real>* sums;
};

template <typename Real>
struct BasisKernels {
    void (*step)(const BasisStep<Real>& work) noexcept;
    void (*sum_passages)(const PassageSum<Real>& work) noexcept;
    void (*sum_slots)(const SlotSum<Real>& work) noexcept;
};

// Those of the SIMD level in use; Real is float or double.
template <typename Real>
[[nodiscard]] BasisKernels<Real> basis_kernels() noexcept;

#if defined(HIPPOGRAPH_X86_KERNELS)
namespace avx2 {
[[nodiscard]] BasisKernels<float> single_basis_kernels() noexcept;
[[nodiscard]] BasisKernels<double> double_basis_kernels() noexcept;
}  // namespace avx2
namespace avx512 {
[[nodiscard]] BasisKernels<float> single_basis_kernels() noexcept;
[[nodiscard]] BasisKernels<double> double_basis_kernels() noexcept;
}  // namespace avx512
#endif

}  // namespace hippograph
