#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hippograph/name_index.hpp"
#include "hippograph/name_matching.hpp"
#include "numpy_interop.hpp"
#include "registrations.hpp"

namespace hippograph::bindings {

namespace {

NamesView names_view(const In<std::uint8_t>& blob, const In<EdgeOffset>& offsets) {
    return {.blob = as_span(blob, "node name blob"), .offsets = as_span(offsets, "node offsets")};
}

py::array_t<std::uint64_t> build_table(const In<std::uint8_t>& blob,
                                       const In<EdgeOffset>& offsets) {
    const NamesView names = names_view(blob, offsets);
    std::vector<std::uint64_t> table;
    {
        const py::gil_scoped_release nogil;
        table = build_name_table(names);
    }
    return to_array(std::move(table));
}

NameIndex make_index(const In<std::uint8_t>& blob, const In<EdgeOffset>& offsets,
                     const In<std::uint64_t>& table) {
    return {names_view(blob, offsets), as_span(table, "node name table")};
}

// Microseconds: the GIL stays, and with it the strings that the views look into.
std::vector<NodeId> find_names(const NameIndex& index, const std::vector<std::string_view>& names) {
    std::vector<NodeId> nodes(names.size());
    index.find_all(names, nodes);
    return nodes;
}

using Match = std::tuple<NodeId, std::size_t, std::size_t>;

std::vector<Match> match(const NameIndex& index, const NameIndex* ignored, std::string_view text) {
    const std::vector<NameMatch> found = match_names(index, ignored, text);
    std::vector<Match> matches(found.size());
    std::ranges::transform(found, matches.begin(), [](const NameMatch& one) {
        return Match{one.node, one.begin, one.end};
    });
    return matches;
}

}  // namespace

void register_names(py::module_& module) {
    module.def("build_name_table", &build_table, py::arg("blob").noconvert(),
               py::arg("offsets").noconvert(), "Return the hash table of the names.");
    py::class_<NameIndex>(module, "NameIndex", "Nodes by name; borrows arrays.")
        .def(py::init(&make_index), py::keep_alive<1, 2>(), py::keep_alive<1, 3>(),
             py::keep_alive<1, 4>(), py::arg("blob").noconvert(), py::arg("offsets").noconvert(),
             py::arg("table").noconvert())
        .def("find", &NameIndex::find, py::arg("name"), "Return the node of this name, or -1.")
        .def("find_all", &find_names, py::arg("names"), "Return a node or -1 for each name.")
        .def("match", &match, py::arg("ignored").none(true), py::arg("text"),
             "Return node, begin and end of each match, in bytes of the text.");
}

}  // namespace hippograph::bindings
