// The compiled module: signatures, GIL, nothing else. Arguments are checked and explained in
// python/hippograph/kernels/; whatever gets past it meets the core's own checks. Each topic beyond
// the graph and its first kernels has a register_<topic>.cpp.
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/edge_weights.hpp"
#include "hippograph/graph_builder.hpp"
#include "hippograph/node_specificity.hpp"
#include "hippograph/passage_scores.hpp"
#include "hippograph/personalized_pagerank.hpp"
#include "hippograph/rank_passages.hpp"
#include "hippograph/top_k.hpp"
#include "hippograph/transition.hpp"
#include "numpy_interop.hpp"
#include "registrations.hpp"

namespace hippograph::bindings {

namespace {

using WithoutGil = py::gil_scoped_release;

CsrMatrix make_csr_matrix(const In<EdgeOffset>& offsets, const In<NodeId>& columns,
                          const In<Weight>& values, NodeId num_columns) {
    const CsrView view{.offsets = as_span(offsets, "offsets"),
                       .columns = as_span(columns, "columns"),
                       .values = as_span(values, "values"),
                       .num_columns = num_columns};
    const WithoutGil nogil;
    return CsrMatrix(view);
}

Transition make_transition(const CsrMatrix& weights) {
    const WithoutGil nogil;
    return Transition(weights);
}

py::tuple build(NodeId num_nodes, const In<NodeId>& relation_heads,
                const In<NodeId>& relation_tails, const In<Weight>& relation_counts,
                const In<NodeId>& synonymy_rows, const In<NodeId>& synonymy_columns,
                const In<Weight>& similarities, const In<NodeId>& context_rows,
                const In<NodeId>& context_columns, const In<Weight>& context_weights) {
    const PairList relation{.rows = as_span(relation_heads, "relation_heads"),
                            .columns = as_span(relation_tails, "relation_tails"),
                            .weights = as_span(relation_counts, "relation_counts")};
    const PairList synonymy{.rows = as_span(synonymy_rows, "synonymy_rows"),
                            .columns = as_span(synonymy_columns, "synonymy_columns"),
                            .weights = as_span(similarities, "synonymy_similarities")};
    const PairList context{.rows = as_span(context_rows, "context_rows"),
                           .columns = as_span(context_columns, "context_columns"),
                           .weights = as_span(context_weights, "context_weights")};
    EdgeTable table;
    {
        const WithoutGil nogil;
        table = build_edge_table(num_nodes, relation, synonymy, context);
    }
    return py::make_tuple(to_array(std::move(table.offsets)), to_array(std::move(table.columns)),
                          to_array(std::move(table.relation)), to_array(std::move(table.synonymy)),
                          to_array(std::move(table.context)));
}

py::tuple combine(const In<EdgeOffset>& offsets, const In<NodeId>& columns,
                  const In<Weight>& relation, const In<Weight>& synonymy, const In<Weight>& context,
                  EdgeCombination combination, Weight synonymy_threshold, bool use_synonymy) {
    const EdgeTableView table{.offsets = as_span(offsets, "offsets"),
                              .columns = as_span(columns, "columns"),
                              .relation = as_span(relation, "relation"),
                              .synonymy = as_span(synonymy, "synonymy"),
                              .context = as_span(context, "context")};
    CsrArrays weights;
    {
        const WithoutGil nogil;
        weights = combine_weights(table, {.combination = combination,
                                          .use_synonymy = use_synonymy,
                                          .synonymy_threshold = synonymy_threshold});
    }
    return py::make_tuple(to_array(std::move(weights.offsets)),
                          to_array(std::move(weights.columns)),
                          to_array(std::move(weights.values)));
}

PprOptions make_options(double restart_probability, double tolerance, std::int32_t max_iterations,
                        int num_threads) {
    return {.restart_probability = restart_probability,
            .tolerance = tolerance,
            .max_iterations = max_iterations,
            .num_threads = num_threads};
}

py::tuple pagerank(const Transition& transition, const In<Score>& personalization,
                   double restart_probability, double tolerance, std::int32_t max_iterations,
                   int num_threads) {
    const auto rows = as_span(personalization, "personalization", 2);
    const py::ssize_t num_queries = personalization.shape(0);
    const py::ssize_t num_nodes = personalization.shape(1);
    const PprOptions options =
        make_options(restart_probability, tolerance, max_iterations, num_threads);
    const CheckInterrupt check = interrupt_check();
    PprResult result;
    {
        const WithoutGil nogil;
        result = personalized_pagerank(transition, rows, num_queries, options, check);
    }
    return py::make_tuple(to_array(std::move(result.scores), {num_queries, num_nodes}),
                          to_array(std::move(result.outcomes.iterations)),
                          to_array(std::move(result.outcomes.error_bounds)),
                          to_bool_array(std::move(result.outcomes.converged)));
}

py::array_t<Score> specificity(const CsrMatrix& occurrences) {
    std::vector<Score> result;
    {
        const WithoutGil nogil;
        result = node_specificity(occurrences);
    }
    return to_array(std::move(result));
}

py::array_t<Score> score_passages(const CsrMatrix& occurrences, const In<Score>& node_scores,
                                  int num_threads) {
    const auto nodes = as_span(node_scores, "node_scores");
    std::vector<Score> result(position(occurrences.view().num_columns));
    {
        const WithoutGil nogil;
        passage_scores(occurrences, nodes, num_threads, result);
    }
    return to_array(std::move(result));
}

py::tuple best(const In<Score>& scores, std::uint32_t k, TieOrder ties) {
    const auto all = as_span(scores, "scores");
    std::vector<PassageId> ids(position(k));
    std::vector<Score> values(position(k));
    {
        const WithoutGil nogil;
        top_k(all, ties, ids, values);
    }
    return py::make_tuple(to_array(std::move(ids)), to_array(std::move(values)));
}

py::tuple rank(const Transition& transition, const CsrMatrix& occurrences,
               const In<EdgeOffset>& seed_offsets, const In<NodeId>& seed_nodes,
               const In<Score>& seed_weights, PassageId k, TieOrder ties, Propagation propagation,
               double restart_probability, double tolerance, std::int32_t max_iterations,
               int num_threads) {
    const SeedView seeds{.offsets = as_span(seed_offsets, "seed offsets"),
                         .nodes = as_span(seed_nodes, "seed nodes"),
                         .weights = as_span(seed_weights, "seed weights")};
    const RankOptions options{
        .k = k,
        .ties = ties,
        .propagation = propagation,
        .ppr = make_options(restart_probability, tolerance, max_iterations, num_threads)};
    const CheckInterrupt check = interrupt_check();
    RankedPassages ranked;
    {
        const WithoutGil nogil;
        ranked = rank_passages(transition, occurrences, seeds, options, check);
    }
    const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(seeds.num_queries()), k};
    return py::make_tuple(
        to_array(std::move(ranked.passages), shape), to_array(std::move(ranked.scores), shape),
        to_array(std::move(ranked.num_reached)), to_array(std::move(ranked.outcomes.iterations)),
        to_array(std::move(ranked.outcomes.error_bounds)),
        to_bool_array(std::move(ranked.outcomes.converged)));
}

void bind_types(py::module_& module) {
    py::native_enum<EdgeCombination>(module, "EdgeCombination", "enum.Enum")
        .value("sum", EdgeCombination::sum)
        .value("max", EdgeCombination::max)
        .value("overwrite", EdgeCombination::overwrite)
        .finalize();
    py::native_enum<TieOrder>(module, "TieOrder", "enum.Enum")
        .value("ascending", TieOrder::ascending)
        .value("descending", TieOrder::descending)
        .finalize();
    py::native_enum<Propagation>(module, "Propagation", "enum.Enum")
        .value("pagerank", Propagation::pagerank)
        .value("none", Propagation::none)
        .finalize();
}

void bind_classes(py::module_& module) {
    // The matrix borrows its arrays and keeps them alive.
    py::class_<CsrMatrix>(module, "CsrMatrix", "Compressed sparse rows, checked; borrows arrays.")
        .def(py::init(&make_csr_matrix), py::keep_alive<1, 2>(), py::keep_alive<1, 3>(),
             py::keep_alive<1, 4>(), py::arg("offsets").noconvert(), py::arg("columns").noconvert(),
             py::arg("values").noconvert(), py::arg("num_columns"));
    py::class_<Transition>(module, "Transition", "Random-walk view of a symmetric matrix.")
        .def(py::init(&make_transition), py::arg("weights"))
        .def_property_readonly("num_nodes", &Transition::num_nodes)
        .def_property_readonly("num_dangling", &Transition::num_dangling)
        .def("degrees",
             [](const Transition& transition) { return to_array(transition.degrees_by_node()); });
}

void bind_graph(py::module_& module) {
    module.def("build_edge_table", &build, py::arg("num_nodes"),
               py::arg("relation_heads").noconvert(), py::arg("relation_tails").noconvert(),
               py::arg("relation_counts").noconvert(), py::arg("synonymy_rows").noconvert(),
               py::arg("synonymy_columns").noconvert(),
               py::arg("synonymy_similarities").noconvert(), py::arg("context_rows").noconvert(),
               py::arg("context_columns").noconvert(), py::arg("context_weights").noconvert(),
               "Return offsets, columns, relation, synonymy, context.");
    module.def("combine_weights", &combine, py::arg("offsets").noconvert(),
               py::arg("columns").noconvert(), py::arg("relation").noconvert(),
               py::arg("synonymy").noconvert(), py::arg("context").noconvert(),
               py::arg("combination"), py::arg("synonymy_threshold"), py::arg("use_synonymy"),
               "Return offsets, columns, values.");
    module.def("node_specificity", &specificity, py::arg("occurrences"),
               "Return 1/|P_i| per node.");
}

void bind_queries(py::module_& module) {
    module.def("personalized_pagerank", &pagerank, py::arg("transition"),
               py::arg("personalization").noconvert(), py::arg("restart_probability"),
               py::arg("tolerance"), py::arg("max_iterations"), py::arg("num_threads"),
               "Return scores, iterations, error_bounds, converged; a row per query.");
    module.def("passage_scores", &score_passages, py::arg("occurrences"),
               py::arg("node_scores").noconvert(), py::arg("num_threads"),
               "Return node scores times occurrences.");
    module.def("top_k", &best, py::arg("scores").noconvert(), py::arg("k"), py::arg("ties"),
               "Return ids and scores of the k best.");
    module.def("rank_passages", &rank, py::arg("transition"), py::arg("occurrences"),
               py::arg("seed_offsets").noconvert(), py::arg("seed_nodes").noconvert(),
               py::arg("seed_weights").noconvert(), py::arg("k"), py::arg("ties"),
               py::arg("propagation"), py::arg("restart_probability"), py::arg("tolerance"),
               py::arg("max_iterations"), py::arg("num_threads"),
               "Return passages, scores, num_reached, iterations, error_bounds, converged.");
}

}  // namespace

PYBIND11_MODULE(_core, module) {
    module.doc() = "Compiled kernels. Private: use hippograph.kernels.";
    bind_types(module);
    bind_classes(module);
    bind_graph(module);
    bind_queries(module);
    register_processor(module);
    register_serving(module);
    register_exact(module);
    register_sweeps(module);
    register_neighbors(module);
    register_names(module);
}

}  // namespace hippograph::bindings
