#include "hippograph/large_buffer.hpp"

#include <cstring>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hippograph {

namespace {

[[maybe_unused]] constexpr std::size_t kLargeBytes = std::size_t{4} << 20U;

// Its alignment is what makes the standard allocator align.
struct alignas(64) CacheLine {
    std::byte bytes[64];
};

constexpr std::size_t num_lines(std::size_t num_bytes) noexcept {
    return (num_bytes - 1) / sizeof(CacheLine) + 1;
}

constexpr bool is_mapped([[maybe_unused]] std::size_t num_bytes) noexcept {
#if defined(__linux__)
    return num_bytes >= kLargeBytes;
#else
    return false;
#endif
}

std::byte* map_zeros([[maybe_unused]] std::size_t num_bytes) {
#if defined(__linux__)
    void* const pages =
        mmap(nullptr, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    // Advice before the first touch; a system that cannot follow it gives ordinary pages.
    (void)madvise(pages, num_bytes, MADV_HUGEPAGE);
    return static_cast<std::byte*>(pages);
#else
    throw std::bad_alloc();
#endif
}

}  // namespace

std::byte* allocate_zeros(std::size_t num_bytes) {
    if (num_bytes == 0) return nullptr;
    if (is_mapped(num_bytes)) return map_zeros(num_bytes);
    std::byte* const memory =
        reinterpret_cast<std::byte*>(std::allocator<CacheLine>().allocate(num_lines(num_bytes)));
    std::memset(memory, 0, num_bytes);
    return memory;
}

void release_zeros(std::byte* memory, std::size_t num_bytes) noexcept {
    if (memory == nullptr) return;
#if defined(__linux__)
    if (is_mapped(num_bytes)) {
        (void)munmap(memory, num_bytes);
        return;
    }
#endif
    std::allocator<CacheLine>().deallocate(reinterpret_cast<CacheLine*>(memory),
                                           num_lines(num_bytes));
}

}  // namespace hippograph
