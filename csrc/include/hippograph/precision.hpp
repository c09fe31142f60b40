// In which numbers a solve is done.
#pragma once

#include <cstdint>

namespace hippograph {

enum class Precision : std::uint8_t {
    float32,  // float64 where float32 cannot keep the promise
    float64,
};

}  // namespace hippograph
