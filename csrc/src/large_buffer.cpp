#include "hippograph/large_buffer.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
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

#if defined(__linux__)
std::size_t whole_pages(std::size_t num_bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return (num_bytes + page - 1) / page * page;
}
#endif

std::byte* map_zeros([[maybe_unused]] std::size_t num_bytes) {
#if defined(__linux__)
    // Aligned to a huge page: a little more is mapped than asked for, and both ends are given back.
    constexpr std::size_t kHugePageBytes = std::size_t{2} << 20U;
    void* const pages = mmap(nullptr, num_bytes + kHugePageBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(pages);
    const std::size_t offset = reinterpret_cast<std::uintptr_t>(pages) % kHugePageBytes;
    const std::size_t before = offset == 0 ? 0 : kHugePageBytes - offset;
    std::byte* const aligned = begin + before;
    if (before > 0) (void)munmap(begin, before);
    const std::size_t kept = whole_pages(num_bytes);
    (void)munmap(aligned + kept, whole_pages(num_bytes + kHugePageBytes) - before - kept);
    // Advice before the first touch; a system that cannot follow it gives ordinary pages.
    (void)madvise(aligned, num_bytes, MADV_HUGEPAGE);
    return aligned;
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
