#include <immintrin.h>

#include "basis_loops.hpp"

namespace hippograph::avx512 {

namespace {

struct SingleLine {
    using Real = float;
    __m512 value;

    static SingleLine zero() noexcept { return {_mm512_setzero_ps()}; }
    static SingleLine all(float one) noexcept { return {_mm512_set1_ps(one)}; }
    static SingleLine load(const Lanes<float>& lanes) noexcept {
        return {_mm512_load_ps(lanes.at)};
    }
    void store(Lanes<float>& lanes) const noexcept { _mm512_store_ps(lanes.at, value); }
    [[nodiscard]] SingleLine magnitude() const noexcept { return {_mm512_abs_ps(value)}; }
    friend SingleLine operator+(SingleLine a, SingleLine b) noexcept {
        return {_mm512_add_ps(a.value, b.value)};
    }
    friend SingleLine operator-(SingleLine a, SingleLine b) noexcept {
        return {_mm512_sub_ps(a.value, b.value)};
    }
    friend SingleLine operator*(SingleLine a, SingleLine b) noexcept {
        return {_mm512_mul_ps(a.value, b.value)};
    }
};

struct DoubleLine {
    using Real = double;
    __m512d value;

    static DoubleLine zero() noexcept { return {_mm512_setzero_pd()}; }
    static DoubleLine all(double one) noexcept { return {_mm512_set1_pd(one)}; }
    static DoubleLine load(const Lanes<double>& lanes) noexcept {
        return {_mm512_load_pd(lanes.at)};
    }
    void store(Lanes<double>& lanes) const noexcept { _mm512_store_pd(lanes.at, value); }
    [[nodiscard]] DoubleLine magnitude() const noexcept { return {_mm512_abs_pd(value)}; }
    friend DoubleLine operator+(DoubleLine a, DoubleLine b) noexcept {
        return {_mm512_add_pd(a.value, b.value)};
    }
    friend DoubleLine operator-(DoubleLine a, DoubleLine b) noexcept {
        return {_mm512_sub_pd(a.value, b.value)};
    }
    friend DoubleLine operator*(DoubleLine a, DoubleLine b) noexcept {
        return {_mm512_mul_pd(a.value, b.value)};
    }
};

}  // namespace

BasisKernels<float> single_basis_kernels() noexcept { return basis::kernels<SingleLine>(); }
BasisKernels<double> double_basis_kernels() noexcept { return basis::kernels<DoubleLine>(); }

}  // namespace hippograph::avx512
