#include "hippograph/basis_kernels.hpp"

#include <cstring>
#include <type_traits>

#include "hippograph/simd.hpp"
#include "simd/basis_loops.hpp"

namespace hippograph {

namespace {

// What every processor of a kind has: 16 bytes at a time, as GCC and Clang spell it. Arrays in a
// struct would live in memory, at four times the time.
template <typename Number>
struct PlainLine {
    using Real = Number;
    typedef Real Vector __attribute__((vector_size(16)));
    Vector first;
    Vector second;
    Vector third;
    Vector fourth;

    static PlainLine zero() noexcept { return all(Real{0}); }
    static PlainLine all(Real one) noexcept {
        const Vector same = Vector{} + one;
        return {same, same, same, same};
    }
    static PlainLine load(const Lanes<Real>& lanes) noexcept {
        PlainLine line;
        std::memcpy(&line, lanes.at, kLineBytes);
        return line;
    }
    void store(Lanes<Real>& lanes) const noexcept { std::memcpy(lanes.at, this, kLineBytes); }
    [[nodiscard]] PlainLine magnitude() const noexcept {
        return {size_of(first), size_of(second), size_of(third), size_of(fourth)};
    }
    friend PlainLine operator+(const PlainLine& a, const PlainLine& b) noexcept {
        return {a.first + b.first, a.second + b.second, a.third + b.third, a.fourth + b.fourth};
    }
    friend PlainLine operator-(const PlainLine& a, const PlainLine& b) noexcept {
        return {a.first - b.first, a.second - b.second, a.third - b.third, a.fourth - b.fourth};
    }
    friend PlainLine operator*(const PlainLine& a, const PlainLine& b) noexcept {
        return {a.first * b.first, a.second * b.second, a.third * b.third, a.fourth * b.fourth};
    }

   private:
    static Vector size_of(Vector values) noexcept { return values < Vector{} ? -values : values; }
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
