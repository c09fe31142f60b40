// Loops over several threads. The only header that names threads; kernels say what is independent.
// Threads live as long as the call: nothing is left behind for a fork or an exit to trip over.
#pragma once

#include <cstdint>
#include <functional>

namespace hippograph {

// Called now and then by the thread that called the kernel; throws to abandon the work.
using CheckInterrupt = std::function<void()>;

// Number of threads worth using: `requested` (0 = one per processor), at most one per item.
// Throws std::invalid_argument when `requested` is negative.
[[nodiscard]] int resolve_num_threads(int requested, std::int64_t num_items);

// Calls body(item, worker) once for each item in [0, num_items), in no particular order.
// `worker` is in [0, num_threads); the calling thread is worker 0. One thread runs inline, in
// order. When a body throws, no further items start, and the first exception reaches the caller.
void parallel_for(std::int64_t num_items, int num_threads,
                  const std::function<void(std::int64_t item, int worker)>& body);

}  // namespace hippograph
