#include "hippograph/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "hippograph/types.hpp"

namespace hippograph {

namespace {

// Hands out items, and keeps the first exception any worker met.
class SharedWork {
   public:
    SharedWork(std::int64_t num_items,
               const std::function<void(std::int64_t item, int worker)>& body)
        : num_items_(num_items), body_(body) {}

    void run(int worker) noexcept {
        try {
            while (!failed_.load(std::memory_order_relaxed)) {
                const std::int64_t item = next_.fetch_add(1, std::memory_order_relaxed);
                if (item >= num_items_) return;
                body_(item, worker);
            }
        } catch (...) {
            const std::lock_guard lock(error_mutex_);
            if (!error_) error_ = std::current_exception();
            failed_.store(true, std::memory_order_relaxed);
        }
    }

    // Only after every worker has been joined.
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

   private:
    std::int64_t num_items_;
    const std::function<void(std::int64_t item, int worker)>& body_;
    std::atomic<std::int64_t> next_{0};
    std::atomic<bool> failed_{false};
    std::mutex error_mutex_;
    std::exception_ptr error_;
};

}  // namespace

int resolve_num_threads(int requested, std::int64_t num_items) {
    if (requested < 0) {
        throw std::invalid_argument("num_threads is " + std::to_string(requested) +
                                    "; use 0 for all processors or a positive number");
    }
    const std::int64_t wanted =
        requested > 0 ? requested : std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    return static_cast<int>(std::clamp<std::int64_t>(num_items, 1, wanted));
}

void parallel_for(std::int64_t num_items, int num_threads,
                  const std::function<void(std::int64_t item, int worker)>& body) {
    if (num_threads <= 1 || num_items <= 1) {
        for (std::int64_t item = 0; item < num_items; ++item) body(item, 0);
        return;
    }
    SharedWork work(num_items, body);
    {
        std::vector<std::jthread> helpers;
        helpers.reserve(position(num_threads - 1));
        try {
            for (int worker = 1; worker < num_threads; ++worker) {
                helpers.emplace_back([&work, worker] { work.run(worker); });
            }
        } catch (const std::system_error&) {
            // The system has no thread left to give. Those that started, and this one, do it all.
        }
        work.run(0);
    }
    work.rethrow();
}

}  // namespace hippograph
