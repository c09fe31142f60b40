// One function per topic, each in register_<topic>.cpp; module.cpp calls them in order.
#pragma once

#include <pybind11/pybind11.h>

namespace hippograph::bindings {

void register_processor(pybind11::module_& module);
void register_serving(pybind11::module_& module);
void register_exact(pybind11::module_& module);
void register_sweeps(pybind11::module_& module);
void register_neighbors(pybind11::module_& module);
void register_names(pybind11::module_& module);

}  // namespace hippograph::bindings
