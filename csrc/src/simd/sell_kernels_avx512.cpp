// GCC 12 takes the deliberately undefined operands inside its own intrinsics for mistakes
// (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include <immintrin.h>

namespace hippograph {

namespace {

struct F32 {
    __m512 v;
};
struct F64 {
    __m512d low;
    __m512d high;
};

F32 broadcast(float value) { return {_mm512_set1_ps(value)}; }
F32 load(const float* from) { return {_mm512_loadu_ps(from)}; }
void store(float* to, const F32& a) { _mm512_storeu_ps(to, a.v); }
F32 gather(const float* from, const int* places) {
    return {_mm512_i32gather_ps(_mm512_loadu_si512(places), from, 4)};
}
F32 add(const F32& a, const F32& b) { return {_mm512_add_ps(a.v, b.v)}; }
F32 subtract(const F32& a, const F32& b) { return {_mm512_sub_ps(a.v, b.v)}; }
F32 multiply(const F32& a, const F32& b) { return {_mm512_mul_ps(a.v, b.v)}; }

F64 broadcast(double value) { return {_mm512_set1_pd(value), _mm512_set1_pd(value)}; }
F64 load(const double* from) { return {_mm512_loadu_pd(from), _mm512_loadu_pd(from + 8)}; }
void store(double* to, const F64& a) {
    _mm512_storeu_pd(to, a.low);
    _mm512_storeu_pd(to + 8, a.high);
}
F64 add(const F64& a, const F64& b) {
    return {_mm512_add_pd(a.low, b.low), _mm512_add_pd(a.high, b.high)};
}
F64 subtract(const F64& a, const F64& b) {
    return {_mm512_sub_pd(a.low, b.low), _mm512_sub_pd(a.high, b.high)};
}
F64 multiply(const F64& a, const F64& b) {
    return {_mm512_mul_pd(a.low, b.low), _mm512_mul_pd(a.high, b.high)};
}
F64 absolute(const F64& a) { return {_mm512_abs_pd(a.low), _mm512_abs_pd(a.high)}; }
F64 positive(const F64& a) {
    return {_mm512_max_pd(a.low, _mm512_setzero_pd()), _mm512_max_pd(a.high, _mm512_setzero_pd())};
}
F64 widen(const F32& a) {
    return {_mm512_cvtps_pd(_mm512_castps512_ps256(a.v)),
            _mm512_cvtps_pd(_mm512_extractf32x8_ps(a.v, 1))};
}
F32 narrow(const F64& a) {
    return {_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a.low)),
                               _mm512_cvtpd_ps(a.high), 1)};
}

void prefetch(const void* line) { _mm_prefetch(static_cast<const char*>(line), _MM_HINT_T0); }

}  // namespace

}  // namespace hippograph

#include "sell_block_loops.hpp"

namespace hippograph {

extern const SellKernels kAvx512SellKernels;
const SellKernels kAvx512SellKernels = kKernels;

}  // namespace hippograph
