#include "registrations.hpp"

namespace hippograph::bindings {

void register_serving(pybind11::module_& /*module*/) {}

}  // namespace hippograph::bindings
