// The exact kernel: signatures and GIL. Checked and explained in
// python/hippograph/kernels/exact.py.
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hippograph/exact_columns.hpp"
#include "hippograph/exact_graph.hpp"
#include "numpy_interop.hpp"
#include "registrations.hpp"

namespace hippograph::bindings {

namespace {

using WithoutGil = py::gil_scoped_release;

std::unique_ptr<ExactGraph> make_exact_graph(const CsrMatrix& weights, const CsrMatrix& occurrences,
                                             const In<NodeId>& order, int num_threads) {
    const auto nodes = as_span(order, "order");
    const WithoutGil nogil;
    return std::make_unique<ExactGraph>(weights, occurrences, nodes, num_threads);
}

SeedView seed_view(const In<EdgeOffset>& offsets, const In<NodeId>& nodes,
                   const In<Score>& weights) {
    return {.offsets = as_span(offsets, "seed offsets"),
            .nodes = as_span(nodes, "seed nodes"),
            .weights = as_span(weights, "seed weights")};
}

// No offsets mean no starts.
std::optional<StartView> start_view(const In<EdgeOffset>& offsets, const In<NodeId>& nodes,
                                    const In<float>& scores, const In<double>& errors) {
    if (offsets.size() == 0) return std::nullopt;
    return StartView{.offsets = as_span(offsets, "start offsets"),
                     .nodes = as_span(nodes, "start nodes"),
                     .scores = as_span(scores, "start scores"),
                     .errors = as_span(errors, "start errors")};
}

py::tuple rank_exactly(const ExactGraph& graph, const In<EdgeOffset>& seed_offsets,
                       const In<NodeId>& seed_nodes, const In<Score>& seed_weights,
                       const In<EdgeOffset>& start_offsets, const In<NodeId>& start_nodes,
                       const In<float>& start_scores, const In<double>& start_errors, PassageId k,
                       TieOrder ties, Precision precision, double restart_probability,
                       double tolerance, std::int32_t max_iterations, int num_threads) {
    const SeedView seeds = seed_view(seed_offsets, seed_nodes, seed_weights);
    const auto starts = start_view(start_offsets, start_nodes, start_scores, start_errors);
    const ExactRankOptions options{.k = k,
                                   .ties = ties,
                                   .precision = precision,
                                   .ppr = {.restart_probability = restart_probability,
                                           .tolerance = tolerance,
                                           .max_iterations = max_iterations,
                                           .num_threads = num_threads}};
    const CheckInterrupt check = interrupt_check();
    RankedPassages ranked;
    {
        const WithoutGil nogil;
        ranked = graph.rank(seeds, options, starts ? &*starts : nullptr, check);
    }
    const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(seeds.num_queries()), k};
    return py::make_tuple(
        to_array(std::move(ranked.passages), shape), to_array(std::move(ranked.scores), shape),
        to_array(std::move(ranked.num_reached)), to_array(std::move(ranked.outcomes.iterations)),
        to_array(std::move(ranked.outcomes.error_bounds)),
        to_bool_array(std::move(ranked.outcomes.converged)));
}

py::tuple score_exactly(const ExactGraph& graph, const In<EdgeOffset>& seed_offsets,
                        const In<NodeId>& seed_nodes, const In<Score>& seed_weights,
                        const In<EdgeOffset>& start_offsets, const In<NodeId>& start_nodes,
                        const In<float>& start_scores, const In<double>& start_errors,
                        Precision precision, double restart_probability, double tolerance,
                        std::int32_t max_iterations, int num_threads) {
    const SeedView seeds = seed_view(seed_offsets, seed_nodes, seed_weights);
    const auto starts = start_view(start_offsets, start_nodes, start_scores, start_errors);
    const PprOptions options{.restart_probability = restart_probability,
                             .tolerance = tolerance,
                             .max_iterations = max_iterations,
                             .num_threads = num_threads};
    const CheckInterrupt check = interrupt_check();
    PprResult result;
    {
        const WithoutGil nogil;
        result = graph.scores(seeds, precision, options, starts ? &*starts : nullptr, check);
    }
    return py::make_tuple(
        to_array(std::move(result.scores), {static_cast<py::ssize_t>(seeds.num_queries()),
                                            static_cast<py::ssize_t>(graph.matrix().num_nodes())}),
        to_array(std::move(result.outcomes.iterations)),
        to_array(std::move(result.outcomes.error_bounds)),
        to_bool_array(std::move(result.outcomes.converged)));
}

py::tuple columns_exactly(const ExactGraph& graph, const In<NodeId>& nodes,
                          double restart_probability, double tolerance, std::int32_t max_iterations,
                          int num_threads) {
    const auto sources = as_span(nodes, "nodes");
    const PprOptions options{.restart_probability = restart_probability,
                             .tolerance = tolerance,
                             .max_iterations = max_iterations,
                             .num_threads = num_threads};
    const CheckInterrupt check = interrupt_check();
    ColumnRows result;
    {
        const WithoutGil nogil;
        result = column_rows(graph.matrix(), sources, options, check);
    }
    return py::make_tuple(
        to_array(std::move(result.scores), {static_cast<py::ssize_t>(sources.size()),
                                            static_cast<py::ssize_t>(graph.matrix().num_nodes())}),
        to_array(std::move(result.outcomes.iterations)),
        to_array(std::move(result.outcomes.error_bounds)),
        to_bool_array(std::move(result.outcomes.converged)));
}

}  // namespace

void register_exact(py::module_& module) {
    py::native_enum<Precision>(module, "Precision", "enum.Enum")
        .value("float32", Precision::float32)
        .value("float64", Precision::float64)
        .finalize();
    // The graph borrows its matrices and keeps them alive.
    py::class_<ExactGraph>(module, "ExactGraph", "A graph laid out for exact queries.")
        .def(py::init(&make_exact_graph), py::keep_alive<1, 2>(), py::keep_alive<1, 3>(),
             py::arg("weights"), py::arg("occurrences"), py::arg("order").noconvert(),
             py::arg("num_threads"))
        .def_property_readonly("num_bytes", &ExactGraph::num_bytes)
        .def("rank", &rank_exactly, py::arg("seed_offsets").noconvert(),
             py::arg("seed_nodes").noconvert(), py::arg("seed_weights").noconvert(),
             py::arg("start_offsets").noconvert(), py::arg("start_nodes").noconvert(),
             py::arg("start_scores").noconvert(), py::arg("start_errors").noconvert(), py::arg("k"),
             py::arg("ties"), py::arg("precision"), py::arg("restart_probability"),
             py::arg("tolerance"), py::arg("max_iterations"), py::arg("num_threads"),
             "Return passages, scores, num_reached, iterations, error_bounds, converged.")
        .def("scores", &score_exactly, py::arg("seed_offsets").noconvert(),
             py::arg("seed_nodes").noconvert(), py::arg("seed_weights").noconvert(),
             py::arg("start_offsets").noconvert(), py::arg("start_nodes").noconvert(),
             py::arg("start_scores").noconvert(), py::arg("start_errors").noconvert(),
             py::arg("precision"), py::arg("restart_probability"), py::arg("tolerance"),
             py::arg("max_iterations"), py::arg("num_threads"),
             "Return scores, iterations, error_bounds, converged; a row per query.")
        .def("columns", &columns_exactly, py::arg("nodes").noconvert(),
             py::arg("restart_probability"), py::arg("tolerance"), py::arg("max_iterations"),
             py::arg("num_threads"),
             "Return scores, iterations, error_bounds, converged; a row per node.");
}

}  // namespace hippograph::bindings
