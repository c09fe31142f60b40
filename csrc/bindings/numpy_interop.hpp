// NumPy arrays <-> the core's spans and vectors, without copies. Beside module.cpp the only file
// that knows pybind11.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hippograph/parallel.hpp"

namespace hippograph::bindings {

namespace py = pybind11;

// An argument of exactly this dtype, C-contiguous. Bind with .noconvert(): anything else is a
// TypeError, never a silent copy.
template <typename T>
using In = py::array_t<T, py::array::c_style>;

// The array's memory, borrowed. Needs the GIL; the span may be used without it while the caller
// holds the array.
template <typename T>
std::span<const T> as_span(const In<T>& array, const char* name, py::ssize_t num_dimensions = 1) {
    if (array.ndim() != num_dimensions) {
        throw std::invalid_argument(std::string(name) + " has " + std::to_string(array.ndim()) +
                                    " dimensions; it needs " + std::to_string(num_dimensions));
    }
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) != 0) {
        throw std::invalid_argument(std::string(name) +
                                    " is not aligned in memory; pass a copy of it");
    }
    return {array.data(), static_cast<std::size_t>(array.size())};
}

// Moves a vector into an array that owns it.
template <typename T>
py::array_t<T> to_array(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
    auto owner = std::make_unique<std::vector<T>>(std::move(values));
    T* const data = owner->data();
    const py::capsule base(owner.get(),
                           [](void* vector) { delete static_cast<std::vector<T>*>(vector); });
    (void)owner.release();  // the capsule deletes it from now on
    return py::array_t<T>(std::move(shape), data, base);
}

template <typename T>
py::array_t<T> to_array(std::vector<T>&& values) {
    const auto length = static_cast<py::ssize_t>(values.size());
    return to_array(std::move(values), {length});
}

// Bytes 0 and 1 as an array of bool.
inline py::array to_bool_array(std::vector<std::uint8_t>&& values, std::vector<py::ssize_t> shape) {
    const py::array bytes = to_array(std::move(values), std::move(shape));
    return bytes.attr("view")(py::dtype::of<bool>()).cast<py::array>();
}

inline py::array to_bool_array(std::vector<std::uint8_t>&& values) {
    const auto length = static_cast<py::ssize_t>(values.size());
    return to_bool_array(std::move(values), {length});
}

inline constexpr std::chrono::milliseconds kSignalInterval{50};

// Lets Ctrl-C end a long kernel: looks for signals, at most twenty times a second.
inline CheckInterrupt interrupt_check() {
    using Clock = std::chrono::steady_clock;
    return [last = Clock::now()]() mutable {
        const auto now = Clock::now();
        if (now - last < kSignalInterval) return;
        last = now;
        const py::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    };
}

}  // namespace hippograph::bindings
