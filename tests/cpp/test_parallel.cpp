#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/types.hpp"

namespace hippograph::testing {

namespace {

void each_item_runs_once(Checks& check) {
    for (const int num_threads : {1, 2, 7, 50}) {
        for (const std::int64_t num_items : {0, 1, 3, 1000}) {
            std::vector<std::atomic<int>> runs(position(num_items));
            std::atomic<bool> worker_in_range{true};
            parallel_for(num_items, num_threads, [&](std::int64_t item, int worker) {
                ++runs[position(item)];
                if (worker < 0 || worker >= num_threads) worker_in_range = false;
            });
            bool once = true;
            for (const auto& count : runs) once = once && count == 1;
            check.that(once, "each item must run exactly once");
            check.that(worker_in_range, "worker numbers must stay below the number of threads");
        }
    }
}

void one_thread_runs_inline_and_in_order(Checks& check) {
    std::vector<std::int64_t> seen;
    const auto caller = std::this_thread::get_id();
    bool inline_only = true;
    parallel_for(5, 1, [&](std::int64_t item, int) {
        seen.push_back(item);
        inline_only = inline_only && std::this_thread::get_id() == caller;
    });
    check.that(seen == std::vector<std::int64_t>{0, 1, 2, 3, 4}, "items must come in order");
    check.that(inline_only, "one thread means the calling thread");
}

void caller_is_worker_zero(Checks& check) {
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> right{true};
    parallel_for(200, 4, [&](std::int64_t, int worker) {
        if ((worker == 0) != (std::this_thread::get_id() == caller)) right = false;
    });
    check.that(right, "worker 0 must be the calling thread, and only it");
}

void exception_reaches_the_caller_and_stops_the_rest(Checks& check) {
    for (const int num_threads : {1, 2, 7}) {
        std::atomic<std::int64_t> started{0};
        constexpr std::int64_t kItems = 100'000;
        check.throws<std::runtime_error>(
            [&] {
                parallel_for(kItems, num_threads, [&](std::int64_t item, int) {
                    ++started;
                    if (item == 10) throw std::runtime_error("item 10");
                    std::this_thread::sleep_for(std::chrono::microseconds(10));
                });
            },
            "item 10");
        check.that(started < kItems, "items must stop starting after an exception");
    }
}

void every_worker_may_throw(Checks& check) {
    for (int round = 0; round < 50; ++round) {
        check.throws<std::runtime_error>(
            [] {
                parallel_for(8, 4, [](std::int64_t item, int) {
                    throw std::runtime_error("item " + std::to_string(item));
                });
            },
            "item ");
    }
}

void thread_counts(Checks& check) {
    check.that(resolve_num_threads(0, 1000) >= 1, "0 means one per processor");
    check.that(resolve_num_threads(3, 1000) == 3, "a positive request is kept");
    check.that(resolve_num_threads(8, 2) == 2, "no more threads than items");
    check.that(resolve_num_threads(8, 0) == 1, "no items still need the caller");
    check.throws<std::invalid_argument>([] { (void)resolve_num_threads(-1, 5); },
                                        "num_threads is -1");
}

}  // namespace

void test_parallel(Checks& check) {
    each_item_runs_once(check);
    one_thread_runs_inline_and_in_order(check);
    caller_is_worker_zero(check);
    exception_reaches_the_caller_and_stops_the_rest(check);
    every_worker_may_throw(check);
    thread_counts(check);
}

}  // namespace hippograph::testing
