#include "hippograph/basis_kernels.hpp"

#include <type_traits>

#include "hippograph/simd.hpp"
#include "simd/basis_loops.hpp"

namespace hippograph {

namespace {

template <typename Number>
struct PlainLine {
    using Real = Number;
    Lanes<Real> value;

    static PlainLine zero() noexcept { return all(Real{0}); }
    static PlainLine all(Real one) noexcept {
        PlainLine line;
        for (Real& lane : line.value.at) lane = one;
        return line;
    }
    static PlainLine load(const Lanes<Real>& lanes) noexcept { return {lanes}; }
    void store(Lanes<Real>& lanes) const noexcept { lanes = value; }
    [[nodiscard]] PlainLine magnitude() const noexcept {
        PlainLine line;
        for (std::size_t lane = 0; lane < Lanes<Real>::kCount; ++lane) {
            line.value.at[lane] = value.at[lane] < Real{0} ? -value.at[lane] : value.at[lane];
        }
        return line;
    }
    friend PlainLine operator+(PlainLine a, const PlainLine& b) noexcept {
        for (std::size_t lane = 0; lane < Lanes<Real>::kCount; ++lane) {
            a.value.at[lane] += b.value.at[lane];
        }
        return a;
    }
    friend PlainLine operator-(PlainLine a, const PlainLine& b) noexcept {
        for (std::size_t lane = 0; lane < Lanes<Real>::kCount; ++lane) {
            a.value.at[lane] -= b.value.at[lane];
        }
        return a;
    }
    friend PlainLine operator*(PlainLine a, const PlainLine& b) noexcept {
        for (std::size_t lane = 0; lane < Lanes<Real>::kCount; ++lane) {
            a.value.at[lane] *= b.value.at[lane];
        }
        return a;
    }
};

}  // namespace

template <typename Real>
BasisKernels<Real> basis_kernels() noexcept {
#if defined(HIPPOGRAPH_X86_KERNELS)
    if constexpr (std::is_same_v<Real, float>) {
        if (simd_level() == SimdLevel::avx512) return avx512::single_basis_kernels();
        if (simd_level() == SimdLevel::avx2) return avx2::single_basis_kernels();
    } else {
        if (simd_level() == SimdLevel::avx512) return avx512::double_basis_kernels();
        if (simd_level() == SimdLevel::avx2) return avx2::double_basis_kernels();
    }
#endif
    return basis::kernels<PlainLine<Real>>();
}

template BasisKernels<float> basis_kernels<float>() noexcept;
template BasisKernels<double> basis_kernels<double>() noexcept;

}  // namespace hippograph
