// Runs the suite named on the command line; CTest runs each as a test of its own.
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "check.hpp"

namespace hippograph::testing {

void test_csr_matrix(Checks& check);
void test_exact_graph(Checks& check);
void test_graph_builder(Checks& check);
void test_name_index(Checks& check);
void test_neighbors(Checks& check);
void test_parallel(Checks& check);
void test_passage_ranker(Checks& check);
void test_personalized_pagerank(Checks& check);
void test_rank_passages(Checks& check);
void test_rank_sweep(Checks& check);
void test_serving_engine(Checks& check);
void test_top_k(Checks& check);
void test_value_codes(Checks& check);

}  // namespace hippograph::testing

int main(int argc, char** argv) {
    using namespace hippograph::testing;
    constexpr auto kSuites = std::to_array<std::pair<std::string_view, void (*)(Checks&)>>({
        {"csr_matrix", test_csr_matrix},
        {"exact_graph", test_exact_graph},
        {"graph_builder", test_graph_builder},
        {"name_index", test_name_index},
        {"neighbors", test_neighbors},
        {"parallel", test_parallel},
        {"passage_ranker", test_passage_ranker},
        {"personalized_pagerank", test_personalized_pagerank},
        {"rank_passages", test_rank_passages},
        {"rank_sweep", test_rank_sweep},
        {"serving_engine", test_serving_engine},
        {"top_k", test_top_k},
        {"value_codes", test_value_codes},
    });
    for (const auto& [name, run] : kSuites) {
        if (argc != 2 || name != argv[1]) continue;
        Checks check;
        run(check);
        std::printf("%s: %d checks\n", argv[1], check.num_checks());
        return check.passed() ? 0 : 1;
    }
    std::fputs("usage: core_tests SUITE\n", stderr);
    return 2;
}
