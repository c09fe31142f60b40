// Which vector instructions kernels use, decided at run time: one binary runs everywhere and is
// fast where it can be. A kernel with wide variants has a plain one that does the same additions in
// the same order, so that all give the same bytes; where one cannot, its header states the
// tolerance.
#pragma once

#include <cstdint>

namespace hippograph {

enum class SimdLevel : std::uint8_t {
    plain,
    avx2,
    avx512,  // F, BW, DQ and VL
};

// The widest that processor and operating system support.
[[nodiscard]] SimdLevel best_simd_level() noexcept;

// What kernels use: the widest, unless limited.
[[nodiscard]] SimdLevel simd_level() noexcept;

// True when the level is avx512 and the processor has its 8-bit dot products (VNNI).
[[nodiscard]] bool has_vnni() noexcept;

// From now on kernels use nothing wider than `limit`; returns the level in use before. For tests,
// and for a machine whose widest vectors are slow. Not while kernels run.
SimdLevel limit_simd_level(SimdLevel limit) noexcept;

}  // namespace hippograph
