// Similar rows: byte codes, lists of neighbours, nearest rows.
#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "hippograph/int8_rows.hpp"
#include "hippograph/nearest_rows.hpp"
#include "hippograph/neighbor_join.hpp"
#include "hippograph/similarity.hpp"
#include "numpy_interop.hpp"
#include "registrations.hpp"

namespace hippograph::bindings {

namespace {

using WithoutGil = py::gil_scoped_release;

FloatRows as_rows(const In<float>& array, const char* name) {
    const auto values = as_span(array, name, 2);
    return {.values = values, .num_rows = array.shape(0), .dimension = array.shape(1)};
}

py::tuple quantize(const In<float>& vectors, int num_threads) {
    const FloatRows rows = as_rows(vectors, "vectors");
    const CheckInterrupt check = interrupt_check();
    Int8Arrays result;
    {
        const WithoutGil nogil;
        result = quantize_rows(rows, num_threads, check);
    }
    return py::make_tuple(to_array(std::move(result.codes), {vectors.shape(0), vectors.shape(1)}),
                          to_array(std::move(result.scales)), to_array(std::move(result.errors)));
}

py::tuple nearest(const In<float>& vectors, const In<std::int8_t>& codes, const In<float>& scales,
                  const In<float>& errors, const In<float>& queries, std::int32_t k,
                  int num_threads) {
    const FloatRows rows = as_rows(vectors, "vectors");
    const Int8Rows bytes{.codes = as_span(codes, "codes", 2),
                         .scales = as_span(scales, "scales"),
                         .errors = as_span(errors, "errors")};
    const FloatRows query_rows = as_rows(queries, "queries");
    const CheckInterrupt check = interrupt_check();
    NearestRows result;
    {
        const WithoutGil nogil;
        result = nearest_rows(rows, bytes, query_rows, k, num_threads, check);
    }
    const py::ssize_t num_queries = queries.shape(0);
    return py::make_tuple(to_array(std::move(result.ids), {num_queries, k}),
                          to_array(std::move(result.similarities), {num_queries, k}),
                          to_array(std::move(result.num_found)));
}

py::array_t<float> similarities_of_pairs(const In<float>& vectors, const In<NodeId>& first,
                                         const In<NodeId>& second, int num_threads) {
    const FloatRows rows = as_rows(vectors, "vectors");
    const auto first_ids = as_span(first, "first");
    const auto second_ids = as_span(second, "second");
    const CheckInterrupt check = interrupt_check();
    std::vector<float> result;
    {
        const WithoutGil nogil;
        result = pair_similarities(rows, first_ids, second_ids, num_threads, check);
    }
    return to_array(std::move(result));
}

NeighborJoin make_join(const In<float>& vectors, const In<std::uint8_t>& listed,
                       const In<std::uint8_t>& searched, float floor, std::int32_t max_neighbors,
                       int num_threads) {
    const FloatRows rows = as_rows(vectors, "vectors");
    const auto listed_flags = as_span(listed, "listed");
    const auto searched_flags = as_span(searched, "searched");
    const JoinOptions options{
        .floor = floor, .max_neighbors = max_neighbors, .num_threads = num_threads};
    const CheckInterrupt check = interrupt_check();
    const WithoutGil nogil;
    return NeighborJoin(rows, listed_flags, searched_flags, options, check);
}

void advance(NeighborJoin& join) {
    const CheckInterrupt check = interrupt_check();
    const WithoutGil nogil;
    join.advance(check);
}

py::tuple finish(NeighborJoin& join) {
    NeighborPairs pairs;
    {
        const WithoutGil nogil;
        pairs = join.finish();
    }
    return py::make_tuple(to_array(std::move(pairs.rows)), to_array(std::move(pairs.columns)),
                          to_array(std::move(pairs.similarities)));
}

}  // namespace

void register_neighbors(py::module_& module) {
    module.def("quantize_rows", &quantize, py::arg("vectors").noconvert(), py::arg("num_threads"),
               "Codes, scales and errors of unit rows.");
    module.def("pair_similarities", &similarities_of_pairs, py::arg("vectors").noconvert(),
               py::arg("first").noconvert(), py::arg("second").noconvert(), py::arg("num_threads"),
               "Similarity of each pair of rows.");
    module.def("nearest_rows", &nearest, py::arg("vectors").noconvert(),
               py::arg("codes").noconvert(), py::arg("scales").noconvert(),
               py::arg("errors").noconvert(), py::arg("queries").noconvert(), py::arg("k"),
               py::arg("num_threads"), "Ids, similarities and how many were found.");
    py::class_<NeighborJoin>(module, "NeighborJoin")
        .def(py::init(&make_join), py::arg("vectors").noconvert(), py::arg("listed").noconvert(),
             py::arg("searched").noconvert(), py::arg("floor"), py::arg("max_neighbors"),
             py::arg("num_threads"), py::keep_alive<1, 2>())
        .def("advance", &advance, "Compare the next rows with all.")
        .def("finish", &finish, "Rows, columns and similarities of all lists.")
        .def_property_readonly("num_searched", &NeighborJoin::num_searched)
        .def_property_readonly("num_done", &NeighborJoin::num_done);
}

}  // namespace hippograph::bindings
