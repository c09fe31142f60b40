#include "hippograph/simd.hpp"

#include <algorithm>
#include <atomic>

namespace hippograph {

namespace {

struct Processor {
    SimdLevel best = SimdLevel::plain;
    bool has_vnni = false;
};

Processor detect() noexcept {
    Processor found;
#if defined(HIPPOGRAPH_X86_KERNELS)
    if (__builtin_cpu_supports("avx2")) found.best = SimdLevel::avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        found.best = SimdLevel::avx512;
        found.has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
    }
#endif
    return found;
}

const Processor& processor() noexcept {
    static const Processor found = detect();
    return found;
}

std::atomic<SimdLevel>& level_in_use() noexcept {
    static std::atomic<SimdLevel> level{processor().best};
    return level;
}

}  // namespace

SimdLevel best_simd_level() noexcept { return processor().best; }

SimdLevel simd_level() noexcept { return level_in_use().load(std::memory_order_relaxed); }

bool has_vnni() noexcept { return processor().has_vnni && simd_level() == SimdLevel::avx512; }

SimdLevel limit_simd_level(SimdLevel limit) noexcept {
    return level_in_use().exchange(std::min(limit, best_simd_level()), std::memory_order_relaxed);
}

}  // namespace hippograph
