#include "registrations.hpp"

namespace hippograph::bindings {

void register_exact(pybind11::module_& /*module*/) {}

}  // namespace hippograph::bindings
