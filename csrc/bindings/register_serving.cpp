#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <string>
#include <utility>

#include "hippograph/csr_matrix.hpp"
#include "hippograph/serving_engine.hpp"
#include "numpy_interop.hpp"
#include "registrations.hpp"

namespace hippograph::bindings {

namespace {

using WithoutGil = py::gil_scoped_release;

template <typename Word>
py::dict build(const CsrMatrix& weights, const CsrMatrix& occurrences, int num_threads) {
    LayoutArrays<Word> built;
    {
        const WithoutGil nogil;
        built = build_layout<Word>(weights, occurrences, num_threads);
    }
    py::dict arrays;
    arrays["node_begins"] = to_array(std::move(built.node_begins));
    arrays["node_words"] = to_array(std::move(built.node_words));
    arrays["passage_begins"] = to_array(std::move(built.passage_begins));
    arrays["passage_words"] = to_array(std::move(built.passage_words));
    arrays["weight_values"] = to_array(std::move(built.weight_values));
    arrays["count_values"] = to_array(std::move(built.count_values));
    arrays["ranks"] = to_array(std::move(built.ranks));
    arrays["passage_ids"] = to_array(std::move(built.passage_ids));
    arrays["num_common"] = built.num_common;
    arrays["weight_error"] = built.weight_error;
    return arrays;
}

template <typename Word>
LayoutView<Word> layout_view(const In<Word>& node_begins, const In<Word>& node_words,
                             const In<Word>& passage_begins, const In<Word>& passage_words,
                             const In<float>& weight_values, const In<float>& count_values,
                             const In<Rank>& ranks, const In<PassageId>& passage_ids,
                             Rank num_common) {
    return {.node_begins = as_span(node_begins, "node_begins"),
            .node_words = as_span(node_words, "node_words"),
            .passage_begins = as_span(passage_begins, "passage_begins"),
            .passage_words = as_span(passage_words, "passage_words"),
            .weight_values = as_span(weight_values, "weight_values"),
            .count_values = as_span(count_values, "count_values"),
            .ranks = as_span(ranks, "ranks"),
            .passage_ids = as_span(passage_ids, "passage_ids"),
            .num_common = num_common};
}

SketchView sketch_view(const In<Rank>& hubs, const In<std::uint16_t>& shares) {
    return {.hubs = as_span(hubs, "hubs"), .shares = as_span(shares, "hub_shares")};
}

template <typename Word>
py::tuple rank_served(const ServingEngine<Word>& engine, const In<EdgeOffset>& seed_offsets,
                      const In<NodeId>& seed_nodes, const In<Score>& seed_weights, PassageId k,
                      TieOrder ties, double restart_probability, double threshold,
                      double least_certainty, std::uint32_t forward_entries,
                      std::int64_t most_edges, int num_threads) {
    const SeedView seeds{.offsets = as_span(seed_offsets, "seed offsets"),
                         .nodes = as_span(seed_nodes, "seed nodes"),
                         .weights = as_span(seed_weights, "seed weights")};
    const ServingOptions options{.k = k,
                                 .ties = ties,
                                 .restart_probability = restart_probability,
                                 .threshold = threshold,
                                 .least_certainty = least_certainty,
                                 .forward_entries = forward_entries,
                                 .most_edges = most_edges,
                                 .num_threads = num_threads};
    const CheckInterrupt check = interrupt_check();
    ServedPassages served;
    {
        const WithoutGil nogil;
        served = engine.rank(seeds, options, check);
    }
    const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(seeds.num_queries()), k};
    return py::make_tuple(
        to_array(std::move(served.passages), shape), to_array(std::move(served.scores), shape),
        to_array(std::move(served.num_reached)), to_array(std::move(served.missing)),
        to_array(std::move(served.edges_followed)), to_bool_array(std::move(served.finished)));
}

template <typename Word>
py::tuple push_only(const ServingEngine<Word>& engine, const In<EdgeOffset>& seed_offsets,
                    const In<NodeId>& seed_nodes, const In<Score>& seed_weights,
                    double restart_probability, double threshold, std::uint32_t forward_entries,
                    std::int64_t most_edges, int num_threads) {
    const SeedView seeds{.offsets = as_span(seed_offsets, "seed offsets"),
                         .nodes = as_span(seed_nodes, "seed nodes"),
                         .weights = as_span(seed_weights, "seed weights")};
    const ServingOptions options{.k = 1,
                                 .ties = TieOrder::ascending,
                                 .restart_probability = restart_probability,
                                 .threshold = threshold,
                                 .least_certainty = 1.0,
                                 .forward_entries = forward_entries,
                                 .most_edges = most_edges,
                                 .num_threads = num_threads};
    const CheckInterrupt check = interrupt_check();
    PushedScores pushed;
    {
        const WithoutGil nogil;
        pushed = engine.push(seeds, options, check);
    }
    return py::make_tuple(to_array(std::move(pushed.offsets)), to_array(std::move(pushed.ranks)),
                          to_array(std::move(pushed.scores)), to_array(std::move(pushed.missing)));
}

template <typename Word>
py::array_t<std::uint16_t> empty_shares(const ServingEngine<Word>& engine, py::ssize_t num_hubs) {
    py::array_t<std::uint16_t> shares(
        {static_cast<py::ssize_t>(engine.layout().num_nodes()), num_hubs});
    shares[py::ellipsis()] = std::uint16_t{0};
    return shares;
}

template <typename Word>
void fill(const ServingEngine<Word>& engine, const In<Rank>& hubs, std::size_t first,
          const In<float>& vectors, py::array_t<std::uint16_t, py::array::c_style>& shares,
          int num_threads) {
    const auto ranks = as_span(hubs, "hubs");
    const auto rows = as_span(vectors, "vectors", 2);
    const std::span<std::uint16_t> out{shares.mutable_data(),
                                       static_cast<std::size_t>(shares.size())};
    const WithoutGil nogil;
    fill_shares(engine.layout(), ranks, first, rows, out, num_threads);
}

template <typename Word>
py::tuple forward_cache(const ServingEngine<Word>& engine, std::size_t from_neighbors,
                        std::size_t most_nodes, std::size_t num_entries, double restart_probability,
                        double threshold, int num_threads) {
    const ForwardOptions options{.from_neighbors = from_neighbors,
                                 .most_nodes = most_nodes,
                                 .num_entries = num_entries,
                                 .restart_probability = static_cast<float>(restart_probability),
                                 .threshold = static_cast<float>(threshold),
                                 .num_threads = num_threads};
    const CheckInterrupt check = interrupt_check();
    ForwardArrays cache;
    {
        const WithoutGil nogil;
        cache = build_forward_cache(engine.layout(), engine.sketch(), options, check);
    }
    return py::make_tuple(to_array(std::move(cache.nodes)), to_array(std::move(cache.begins)),
                          to_array(std::move(cache.ranks)), to_array(std::move(cache.scores)));
}

template <typename Word>
void register_engine(py::module_& module, const char* name) {
    using Engine = ServingEngine<Word>;
    // The engine borrows all of its arrays; the Python object that owns it keeps them.
    py::class_<Engine>(module, name, "Serving engine; borrows all arrays from its owner.")
        .def(py::init([](const In<Word>& node_begins, const In<Word>& node_words,
                         const In<Word>& passage_begins, const In<Word>& passage_words,
                         const In<float>& weight_values, const In<float>& count_values,
                         const In<Rank>& ranks, const In<PassageId>& passage_ids, Rank num_common,
                         const In<Rank>& hubs, const In<std::uint16_t>& hub_shares,
                         const In<Rank>& forward_nodes, const In<std::uint32_t>& forward_begins,
                         const In<std::uint32_t>& forward_ranks, const In<float>& forward_scores) {
                 return std::make_unique<Engine>(
                     layout_view(node_begins, node_words, passage_begins, passage_words,
                                 weight_values, count_values, ranks, passage_ids, num_common),
                     sketch_view(hubs, hub_shares),
                     ForwardView{.nodes = as_span(forward_nodes, "forward_nodes"),
                                 .begins = as_span(forward_begins, "forward_begins"),
                                 .ranks = as_span(forward_ranks, "forward_ranks"),
                                 .scores = as_span(forward_scores, "forward_scores")});
             }),
             py::arg("node_begins").noconvert(), py::arg("node_words").noconvert(),
             py::arg("passage_begins").noconvert(), py::arg("passage_words").noconvert(),
             py::arg("weight_values").noconvert(), py::arg("count_values").noconvert(),
             py::arg("ranks").noconvert(), py::arg("passage_ids").noconvert(),
             py::arg("num_common"), py::arg("hubs").noconvert(), py::arg("hub_shares").noconvert(),
             py::arg("forward_nodes").noconvert(), py::arg("forward_begins").noconvert(),
             py::arg("forward_ranks").noconvert(), py::arg("forward_scores").noconvert())
        .def("rank", &rank_served<Word>, py::arg("seed_offsets").noconvert(),
             py::arg("seed_nodes").noconvert(), py::arg("seed_weights").noconvert(), py::arg("k"),
             py::arg("ties"), py::arg("restart_probability"), py::arg("threshold"),
             py::arg("least_certainty"), py::arg("forward_entries"), py::arg("most_edges"),
             py::arg("num_threads"),
             "Return passages, scores, num_reached, missing, edges_followed, finished.")
        .def("push", &push_only<Word>, py::arg("seed_offsets").noconvert(),
             py::arg("seed_nodes").noconvert(), py::arg("seed_weights").noconvert(),
             py::arg("restart_probability"), py::arg("threshold"), py::arg("forward_entries"),
             py::arg("most_edges"), py::arg("num_threads"),
             "Return offsets, ranks, scores, missing.")
        .def(
            "highest_degrees",
            [](const Engine& engine, std::size_t num_hubs) {
                return to_array(highest_degrees(engine.layout(), num_hubs));
            },
            py::arg("num_hubs"), "Return the ranks of the nodes with the largest degrees.")
        .def("empty_shares", &empty_shares<Word>, py::arg("num_hubs"), "Return a sketch of zeros.")
        .def("fill_shares", &fill<Word>, py::arg("hubs").noconvert(), py::arg("first"),
             py::arg("vectors").noconvert(), py::arg("shares").noconvert(), py::arg("num_threads"),
             "Write columns of a sketch.")
        .def("build_forward_cache", &forward_cache<Word>, py::arg("from_neighbors"),
             py::arg("most_nodes"), py::arg("num_entries"), py::arg("restart_probability"),
             py::arg("threshold"), py::arg("num_threads"), "Return nodes, begins, ranks, scores.");
}

}  // namespace

void register_serving(py::module_& module) {
    module.def(
        "fits_narrow_words",
        [](const CsrMatrix& weights, const CsrMatrix& occurrences) {
            return fits_narrow_words(weights.view(), occurrences.view());
        },
        py::arg("weights"), py::arg("occurrences"), "32-bit words are enough.");
    module.def("build_layout_narrow", &build<std::uint32_t>, py::arg("weights"),
               py::arg("occurrences"), py::arg("num_threads"), "Return the arrays by name.");
    module.def("build_layout_wide", &build<std::uint64_t>, py::arg("weights"),
               py::arg("occurrences"), py::arg("num_threads"), "Return the arrays by name.");
    register_engine<std::uint32_t>(module, "NarrowEngine");
    register_engine<std::uint64_t>(module, "WideEngine");
}

}  // namespace hippograph::bindings
