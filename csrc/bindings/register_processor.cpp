#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>

#include "hippograph/simd.hpp"
#include "registrations.hpp"

namespace hippograph::bindings {

void register_processor(pybind11::module_& module) {
    namespace py = pybind11;
    py::native_enum<SimdLevel>(module, "SimdLevel", "enum.Enum")
        .value("plain", SimdLevel::plain)
        .value("avx2", SimdLevel::avx2)
        .value("avx512", SimdLevel::avx512)
        .finalize();
    module.def("best_simd_level", &best_simd_level, "Widest vectors this processor has.");
    module.def("simd_level", &simd_level, "Vectors in use.");
    module.def("limit_simd_level", &limit_simd_level, py::arg("limit"),
               "Use no wider vectors than these from now on; return what was in use.");
    module.def("has_vnni", &has_vnni, "Integer dot products are in use.");
}

}  // namespace hippograph::bindings
