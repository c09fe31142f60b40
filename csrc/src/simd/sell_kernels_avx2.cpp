#include <immintrin.h>

namespace hippograph {

namespace {

struct F32 {
    __m256 low;
    __m256 high;
};
struct F64 {
    __m256d v[4];
};

F32 broadcast(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
F32 load(const float* from) { return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)}; }
void store(float* to, const F32& a) {
    _mm256_storeu_ps(to, a.low);
    _mm256_storeu_ps(to + 8, a.high);
}
__m256 gather_half(const float* from, const int* places) {
    return _mm256_i32gather_ps(from, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(places)),
                               4);
}
F32 gather(const float* from, const int* places) {
    return {gather_half(from, places), gather_half(from, places + 8)};
}
F32 add(const F32& a, const F32& b) {
    return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
F32 subtract(const F32& a, const F32& b) {
    return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
F32 multiply(const F32& a, const F32& b) {
    return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}

F64 broadcast(double value) {
    const __m256d all = _mm256_set1_pd(value);
    return {{all, all, all, all}};
}
F64 load(const double* from) {
    return {{_mm256_loadu_pd(from), _mm256_loadu_pd(from + 4), _mm256_loadu_pd(from + 8),
             _mm256_loadu_pd(from + 12)}};
}
void store(double* to, const F64& a) {
    for (int part = 0; part < 4; ++part) _mm256_storeu_pd(to + 4 * part, a.v[part]);
}
F64 add(const F64& a, const F64& b) {
    return {{_mm256_add_pd(a.v[0], b.v[0]), _mm256_add_pd(a.v[1], b.v[1]),
             _mm256_add_pd(a.v[2], b.v[2]), _mm256_add_pd(a.v[3], b.v[3])}};
}
F64 subtract(const F64& a, const F64& b) {
    return {{_mm256_sub_pd(a.v[0], b.v[0]), _mm256_sub_pd(a.v[1], b.v[1]),
             _mm256_sub_pd(a.v[2], b.v[2]), _mm256_sub_pd(a.v[3], b.v[3])}};
}
F64 multiply(const F64& a, const F64& b) {
    return {{_mm256_mul_pd(a.v[0], b.v[0]), _mm256_mul_pd(a.v[1], b.v[1]),
             _mm256_mul_pd(a.v[2], b.v[2]), _mm256_mul_pd(a.v[3], b.v[3])}};
}
F64 absolute(const F64& a) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {{_mm256_andnot_pd(sign, a.v[0]), _mm256_andnot_pd(sign, a.v[1]),
             _mm256_andnot_pd(sign, a.v[2]), _mm256_andnot_pd(sign, a.v[3])}};
}
F64 positive(const F64& a) {
    const __m256d zero = _mm256_setzero_pd();
    return {{_mm256_max_pd(a.v[0], zero), _mm256_max_pd(a.v[1], zero), _mm256_max_pd(a.v[2], zero),
             _mm256_max_pd(a.v[3], zero)}};
}
F64 widen(const F32& a) {
    return {{_mm256_cvtps_pd(_mm256_castps256_ps128(a.low)),
             _mm256_cvtps_pd(_mm256_extractf128_ps(a.low, 1)),
             _mm256_cvtps_pd(_mm256_castps256_ps128(a.high)),
             _mm256_cvtps_pd(_mm256_extractf128_ps(a.high, 1))}};
}
F32 narrow(const F64& a) {
    return {_mm256_set_m128(_mm256_cvtpd_ps(a.v[1]), _mm256_cvtpd_ps(a.v[0])),
            _mm256_set_m128(_mm256_cvtpd_ps(a.v[3]), _mm256_cvtpd_ps(a.v[2]))};
}

void prefetch(const void* line) { _mm_prefetch(static_cast<const char*>(line), _MM_HINT_T0); }

}  // namespace

}  // namespace hippograph

#include "sell_block_loops.hpp"

namespace hippograph {

extern const SellKernels kAvx2SellKernels;
const SellKernels kAvx2SellKernels = kKernels;

}  // namespace hippograph
