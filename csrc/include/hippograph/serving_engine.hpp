// Queries to their best passages through push, sketch, forward cache and ranker, on all threads.
//
// Each query is answered by one thread with a workspace of its own, so that answers do not depend
// on the number of threads. A query that would follow more than `most_edges` edges is given up and
// reported as unfinished: a dense solve is cheaper then, and the caller has one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "hippograph/forward_cache.hpp"
#include "hippograph/hub_sketch.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/passage_ranker.hpp"
#include "hippograph/rank_passages.hpp"
#include "hippograph/serving_layout.hpp"
#include "hippograph/workspace_pool.hpp"

namespace hippograph {

struct ServingOptions {
    PassageId k;  // in [1, num_passages]
    TieOrder ties;
    double restart_probability;   // in (0, 1]
    double threshold;             // push until residual <= threshold * degree everywhere; > 0
    double least_certainty;       // the k-th passage's score in thresholds, or push further
    std::size_t forward_entries;  // of the forward cache, used per seed
    std::int64_t most_edges;      // per query
    int num_threads;
};

// One row of k per query; unfinished queries have rows of passage 0 and score 0.
struct ServedPassages {
    ServedPassages() = default;
    ServedPassages(std::size_t num_queries, std::size_t k);

    std::vector<PassageId> passages;
    std::vector<Score> scores;
    std::vector<std::int32_t> num_reached;  // passages in the row with a score above 0
    std::vector<double> missing;            // L1 distance of the node scores to the exact ones
    std::vector<std::int64_t> edges_followed;
    std::vector<std::uint8_t> finished;
};

// Scores of the nodes that a push has touched: query q has the positions [offsets[q],
// offsets[q+1]).
struct PushedScores {
    std::vector<EdgeOffset> offsets;
    std::vector<Rank> ranks;
    std::vector<float> scores;
    std::vector<double> missing;  // as above
};

template <typename Word>
class ServingEngine {
   public:
    // All arrays are borrowed and may hold anything; sizes that do not fit each other throw
    // std::invalid_argument.
    ServingEngine(const LayoutView<Word>& layout, const SketchView& sketch,
                  const ForwardView& forward);
    ~ServingEngine();

    // Throws std::invalid_argument when a query has no seed, a node twice or a weight not above 0;
    // std::out_of_range for a node that is not in the graph.
    [[nodiscard]] ServedPassages rank(const SeedView& seeds, const ServingOptions& options,
                                      const CheckInterrupt& check) const;

    // Node scores of the same pushes, from which a dense solve may start. A query that would follow
    // too many edges has what it came to. options.k and options.ties are not used.
    [[nodiscard]] PushedScores push(const SeedView& seeds, const ServingOptions& options,
                                    const CheckInterrupt& check) const;

    [[nodiscard]] const LayoutView<Word>& layout() const noexcept { return layout_; }
    [[nodiscard]] const SketchView& sketch() const noexcept { return sketch_; }

   private:
    struct Workspace;
    using Task = std::function<void(Workspace& work, std::size_t query)>;

    void for_each_query(const SeedView& seeds, int num_threads, const CheckInterrupt& check,
                        const Task& task) const;

    LayoutView<Word> layout_;
    SketchView sketch_;
    ForwardView forward_;
    std::unique_ptr<WorkspacePool<Workspace>> workspaces_;
};

extern template class ServingEngine<std::uint32_t>;
extern template class ServingEngine<std::uint64_t>;

}  // namespace hippograph
