#include "hippograph/sell_kernels.hpp"

#include "hippograph/simd.hpp"

namespace hippograph {

namespace {

// Sixteen lanes in plain C++; compilers turn the loops into whatever vectors every processor has.
template <typename T>
struct Lanes {
    T lane[kLanes];
};
using F32 = Lanes<float>;
using F64 = Lanes<double>;

template <typename T>
Lanes<T> broadcast(T value) {
    Lanes<T> all;
    for (T& lane : all.lane) lane = value;
    return all;
}
template <typename T>
Lanes<T> load(const T* from) {
    Lanes<T> result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = from[i];
    return result;
}
template <typename T>
void store(T* to, const Lanes<T>& a) {
    for (std::size_t i = 0; i < kLanes; ++i) to[i] = a.lane[i];
}
F32 gather(const float* from, const std::int32_t* places) {
    F32 result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = from[places[i]];
    return result;
}
template <typename T>
Lanes<T> add(const Lanes<T>& a, const Lanes<T>& b) {
    Lanes<T> result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = a.lane[i] + b.lane[i];
    return result;
}
template <typename T>
Lanes<T> subtract(const Lanes<T>& a, const Lanes<T>& b) {
    Lanes<T> result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = a.lane[i] - b.lane[i];
    return result;
}
template <typename T>
Lanes<T> multiply(const Lanes<T>& a, const Lanes<T>& b) {
    Lanes<T> result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = a.lane[i] * b.lane[i];
    return result;
}
F64 absolute(const F64& a) {
    F64 result;
    for (std::size_t i = 0; i < kLanes; ++i) {
        result.lane[i] = a.lane[i] < 0.0 ? -a.lane[i] : a.lane[i];
    }
    return result;
}
F64 positive(const F64& a) {
    F64 result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = a.lane[i] > 0.0 ? a.lane[i] : 0.0;
    return result;
}
F64 widen(const F32& a) {
    F64 result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = static_cast<double>(a.lane[i]);
    return result;
}
F32 narrow(const F64& a) {
    F32 result;
    for (std::size_t i = 0; i < kLanes; ++i) result.lane[i] = static_cast<float>(a.lane[i]);
    return result;
}

void prefetch(const void* /*line*/) {}

}  // namespace

}  // namespace hippograph

#include "simd/sell_block_loops.hpp"

namespace hippograph {

extern const SellKernels kAvx2SellKernels;
extern const SellKernels kAvx512SellKernels;

const SellKernels& sell_kernels() noexcept {
#if defined(HIPPOGRAPH_X86_KERNELS)
    switch (simd_level()) {
        case SimdLevel::avx512:
            return kAvx512SellKernels;
        case SimdLevel::avx2:
            return kAvx2SellKernels;
        case SimdLevel::plain:
            break;
    }
#endif
    return kKernels;
}

}  // namespace hippograph
