#include "registrations.hpp"

namespace hippograph::bindings {

void register_names(pybind11::module_& /*module*/) {}

}  // namespace hippograph::bindings
