// Sweeps over settings: one graph for all thresholds, one call for all settings.
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "hippograph/edge_weights.hpp"
#include "hippograph/rank_sweep.hpp"
#include "hippograph/sweep_graph.hpp"
#include "numpy_interop.hpp"
#include "registrations.hpp"

namespace hippograph::bindings {

namespace {

using WithoutGil = py::gil_scoped_release;

SweepGraph make_sweep_graph(const In<EdgeOffset>& offsets, const In<NodeId>& columns,
                            const In<Weight>& relation, const In<Weight>& synonymy,
                            const In<Weight>& context, const CsrMatrix& occurrences,
                            EdgeCombination combination) {
    const EdgeTableView table{.offsets = as_span(offsets, "offsets"),
                              .columns = as_span(columns, "columns"),
                              .relation = as_span(relation, "relation"),
                              .synonymy = as_span(synonymy, "synonymy"),
                              .context = as_span(context, "context")};
    const WithoutGil nogil;
    return SweepGraph(table, occurrences, combination);
}

py::tuple weights_at(const SweepGraph& graph, Weight threshold) {
    CsrArrays weights;
    {
        const WithoutGil nogil;
        weights = graph.weights_at(threshold);
    }
    return py::make_tuple(to_array(std::move(weights.offsets)),
                          to_array(std::move(weights.columns)),
                          to_array(std::move(weights.values)));
}

py::tuple rank(const SweepGraph& graph, const In<EdgeOffset>& seed_offsets,
               const In<NodeId>& seed_nodes, const In<Score>& seed_weights, PassageId k,
               TieOrder ties, const In<double>& restart_probabilities,
               const In<Weight>& synonymy_thresholds, Precision precision, double tolerance,
               std::int32_t max_terms, int num_threads) {
    const SeedView seeds{.offsets = as_span(seed_offsets, "seed offsets"),
                         .nodes = as_span(seed_nodes, "seed nodes"),
                         .weights = as_span(seed_weights, "seed weights")};
    const auto restarts = as_span(restart_probabilities, "restart_probabilities");
    const auto thresholds = as_span(synonymy_thresholds, "synonymy_thresholds");
    const SweepOptions options{.k = k,
                               .ties = ties,
                               .precision = precision,
                               .tolerance = tolerance,
                               .max_terms = max_terms,
                               .num_threads = num_threads};
    const CheckInterrupt check = interrupt_check();
    SweepRanking ranking;
    {
        const WithoutGil nogil;
        ranking = rank_sweep(graph, seeds, restarts, thresholds, options, check);
    }
    const std::vector<py::ssize_t> shape{std::ssize(thresholds), std::ssize(restarts),
                                         static_cast<py::ssize_t>(seeds.num_queries())};
    std::vector<py::ssize_t> best = shape;
    best.push_back(k);
    return py::make_tuple(to_array(std::move(ranking.passages), best),
                          to_array(std::move(ranking.scores), best),
                          to_array(std::move(ranking.num_terms), shape),
                          to_array(std::move(ranking.error_bounds), shape),
                          to_bool_array(std::move(ranking.converged), shape));
}

}  // namespace

void register_sweeps(py::module_& module) {
    // The graph refers to the occurrence matrix and keeps it alive.
    py::class_<SweepGraph>(module, "SweepGraph", "A graph for all synonymy thresholds at once.")
        .def(py::init(&make_sweep_graph), py::keep_alive<1, 7>(), py::arg("offsets").noconvert(),
             py::arg("columns").noconvert(), py::arg("relation").noconvert(),
             py::arg("synonymy").noconvert(), py::arg("context").noconvert(),
             py::arg("occurrences"), py::arg("combination"))
        .def_property_readonly("num_nodes", &SweepGraph::num_nodes)
        .def_property_readonly("num_passages", &SweepGraph::num_passages)
        .def("weights_at", &weights_at, py::arg("synonymy_threshold"),
             "Return offsets, columns, values.")
        .def("rank", &rank, py::arg("seed_offsets").noconvert(), py::arg("seed_nodes").noconvert(),
             py::arg("seed_weights").noconvert(), py::arg("k"), py::arg("ties"),
             py::arg("restart_probabilities").noconvert(),
             py::arg("synonymy_thresholds").noconvert(), py::arg("precision"), py::arg("tolerance"),
             py::arg("max_terms"), py::arg("num_threads"),
             "Return passages, scores, num_terms, error_bounds, converged.");
}

}  // namespace hippograph::bindings
