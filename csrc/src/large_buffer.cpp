#include "hippograph/large_buffer.hpp"

#include <cstring>
#include <memory>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hippograph {

namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;
constexpr std::size_t kLargeBytes = std::size_t{4} << 20U;

// Their alignment is what makes the standard allocator align.
struct alignas(64) CacheLine {
    std::byte bytes[64];
};
struct alignas(kHugePageBytes) HugePage {
    std::byte bytes[kHugePageBytes];
};

template <typename Unit>
constexpr std::size_t units(std::size_t num_bytes) noexcept {
    return (num_bytes - 1) / sizeof(Unit) + 1;
}

template <typename Unit>
std::byte* allocate(std::size_t num_bytes) {
    return reinterpret_cast<std::byte*>(std::allocator<Unit>().allocate(units<Unit>(num_bytes)));
}

template <typename Unit>
void release(std::byte* memory, std::size_t num_bytes) noexcept {
    std::allocator<Unit>().deallocate(reinterpret_cast<Unit*>(memory), units<Unit>(num_bytes));
}

}  // namespace

std::byte* allocate_zeros(std::size_t num_bytes) {
    if (num_bytes == 0) return nullptr;
    if (num_bytes < kLargeBytes) {
        std::byte* const memory = allocate<CacheLine>(num_bytes);
        std::memset(memory, 0, num_bytes);
        return memory;
    }
    std::byte* const memory = allocate<HugePage>(num_bytes);
#if defined(__linux__)
    // Advice before the first touch; a system that cannot follow it gives ordinary pages.
    (void)madvise(memory, units<HugePage>(num_bytes) * kHugePageBytes, MADV_HUGEPAGE);
#endif
    std::memset(memory, 0, num_bytes);
    return memory;
}

void release_zeros(std::byte* memory, std::size_t num_bytes) noexcept {
    if (memory == nullptr) return;
    if (num_bytes < kLargeBytes) {
        release<CacheLine>(memory, num_bytes);
    } else {
        release<HugePage>(memory, num_bytes);
    }
}

}  // namespace hippograph
