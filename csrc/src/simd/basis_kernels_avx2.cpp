#include <immintrin.h>

#include "basis_loops.hpp"

namespace hippograph::avx2 {

namespace {

struct SingleLine {
    using Real = float;
    __m256 low;
    __m256 high;

    static SingleLine zero() noexcept { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
    static SingleLine all(float one) noexcept { return {_mm256_set1_ps(one), _mm256_set1_ps(one)}; }
    static SingleLine load(const Lanes<float>& lanes) noexcept {
        return {_mm256_load_ps(lanes.at), _mm256_load_ps(lanes.at + 8)};
    }
    void store(Lanes<float>& lanes) const noexcept {
        _mm256_store_ps(lanes.at, low);
        _mm256_store_ps(lanes.at + 8, high);
    }
    [[nodiscard]] SingleLine magnitude() const noexcept {
        const __m256 sign = _mm256_set1_ps(-0.0F);
        return {_mm256_andnot_ps(sign, low), _mm256_andnot_ps(sign, high)};
    }
    friend SingleLine operator+(SingleLine a, SingleLine b) noexcept {
        return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
    }
    friend SingleLine operator-(SingleLine a, SingleLine b) noexcept {
        return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
    }
    friend SingleLine operator*(SingleLine a, SingleLine b) noexcept {
        return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
    }
};

struct DoubleLine {
    using Real = double;
    __m256d low;
    __m256d high;

    static DoubleLine zero() noexcept { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
    static DoubleLine all(double one) noexcept {
        return {_mm256_set1_pd(one), _mm256_set1_pd(one)};
    }
    static DoubleLine load(const Lanes<double>& lanes) noexcept {
        return {_mm256_load_pd(lanes.at), _mm256_load_pd(lanes.at + 4)};
    }
    void store(Lanes<double>& lanes) const noexcept {
        _mm256_store_pd(lanes.at, low);
        _mm256_store_pd(lanes.at + 4, high);
    }
    [[nodiscard]] DoubleLine magnitude() const noexcept {
        const __m256d sign = _mm256_set1_pd(-0.0);
        return {_mm256_andnot_pd(sign, low), _mm256_andnot_pd(sign, high)};
    }
    friend DoubleLine operator+(DoubleLine a, DoubleLine b) noexcept {
        return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
    }
    friend DoubleLine operator-(DoubleLine a, DoubleLine b) noexcept {
        return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
    }
    friend DoubleLine operator*(DoubleLine a, DoubleLine b) noexcept {
        return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
    }
};

}  // namespace

BasisKernels<float> single_basis_kernels() noexcept { return basis::kernels<SingleLine>(); }
BasisKernels<double> double_basis_kernels() noexcept { return basis::kernels<DoubleLine>(); }

}  // namespace hippograph::avx2
