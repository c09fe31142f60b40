#include "registrations.hpp"

namespace hippograph::bindings {

void register_neighbors(pybind11::module_& /*module*/) {}

}  // namespace hippograph::bindings
