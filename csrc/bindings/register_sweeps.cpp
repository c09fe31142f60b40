#include "registrations.hpp"

namespace hippograph::bindings {

void register_sweeps(pybind11::module_& /*module*/) {}

}  // namespace hippograph::bindings
