#include "hippograph/serving_engine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hippograph/seeds.hpp"

namespace hippograph {

namespace {

// A query that reaches fewer than k passages is pushed further, by this factor at a time, until it
// has them, or until what is left could not be told from rounding.
constexpr double kDeeper = 1.0 / 32.0;
constexpr double kDeepestThreshold = 1e-12;

void check_book(std::span<const float> values) {
    const auto usable = [](float value) { return value >= 0.0F && std::isfinite(value); };
    if (values.size() != kNumCodes || !std::ranges::all_of(values, usable)) {
        throw std::invalid_argument("a code book of the serving layout is damaged");
    }
}

template <typename Word>
void check_sizes(const LayoutView<Word>& layout, const SketchView& sketch,
                 const ForwardView& forward) {
    if (layout.node_begins.empty() || layout.passage_begins.empty() ||
        layout.ranks.size() != layout.num_nodes() ||
        layout.passage_ids.size() != layout.num_passages() || layout.num_common < 0 ||
        position(layout.num_common) > layout.num_nodes()) {
        throw std::invalid_argument("the arrays of the serving layout do not fit each other");
    }
    check_book(layout.weight_values);
    check_book(layout.count_values);
    if (sketch.hubs.size() % 16 != 0 ||
        sketch.shares.size() != sketch.hubs.size() * layout.num_nodes()) {
        throw std::invalid_argument("the hub sketch does not fit the serving layout");
    }
    if (forward.begins.size() != forward.nodes.size() + 1 ||
        forward.ranks.size() != forward.scores.size()) {
        throw std::invalid_argument("the arrays of the forward cache do not fit each other");
    }
}

void check_serving_options(const ServingOptions& options) {
    check_options({.restart_probability = options.restart_probability,
                   .tolerance = options.threshold,
                   .max_iterations = 1,
                   .num_threads = options.num_threads});
}

void check_passage(PassageId passage, PassageId num_passages) {
    if (passage < 0 || passage >= num_passages) {
        throw std::invalid_argument("the serving layout is damaged: it names passage " +
                                    std::to_string(passage) + " of " +
                                    std::to_string(num_passages));
    }
}

// The threshold with which to push again, or 0 when the ranking stands: it has k passages, and the
// last one's score is certain. Where 20 good passages are not to be had, the last ones have scores
// near the threshold of the first push, and would be in a wrong order.
double next_threshold(std::span<const RankedPassage> best, std::size_t k, double threshold,
                      double least_certainty) noexcept {
    if (threshold <= kDeepestThreshold) return 0.0;
    if (best.size() < k) return std::max(kDeepestThreshold, threshold * kDeeper);
    const double wanted = static_cast<double>(best.back().score) / least_certainty;
    return threshold <= wanted ? 0.0
                               : std::max(kDeepestThreshold, std::min(wanted, threshold / 2.0));
}

struct ScoredRank {
    std::uint32_t rank;
    float score;
};

}  // namespace

ServedPassages::ServedPassages(std::size_t num_queries, std::size_t k)
    : passages(num_queries * k),
      scores(num_queries * k),
      num_reached(num_queries),
      missing(num_queries),
      edges_followed(num_queries),
      finished(num_queries) {}

template <typename Word>
struct ServingEngine<Word>::Workspace {
    explicit Workspace(const LayoutView<Word>& layout) : push(layout), ranker(layout) {}

    LocalPush<Word> push;
    HubCorrection<Word> correction;
    PassageRanker<Word> ranker;

    struct Seed {
        std::size_t rank;
        float weight;
    };
    std::vector<Seed> seeds;
    double cut_off = 0.0;  // mass that the forward cache leaves out
    double missing = 0.0;  // L1 distance of the node scores to the exact ones

    // Places the seeds and pushes. Returns whether the threshold was reached within the budget.
    bool push_query(const ForwardView& forward, const SketchView& sketch,
                    const ServingOptions& options, double threshold) {
        place_seeds(forward, options, threshold);
        return push_to(sketch, options, threshold);
    }

    // Pushes on from where the last push ended.
    bool push_further(const SketchView& sketch, const ServingOptions& options, double threshold) {
        correction.undo(sketch, push);
        return push_to(sketch, options, threshold);
    }

    bool push_to(const SketchView& sketch, const ServingOptions& options, double threshold) {
        const bool reached = push.push_down_to(static_cast<float>(threshold), options.most_edges);
        missing = push.missing() + cut_off;
        correction.apply(sketch, static_cast<float>(options.restart_probability), push);
        return reached;
    }

    void load_seeds(const LayoutView<Word>& layout, std::span<const NodeId> nodes,
                    std::span<const Score> weights) {
        seeds.clear();
        const double largest = std::ranges::max(weights);
        double sum = 0.0;
        for (const double weight : weights) sum += weight / largest;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            seeds.push_back({.rank = static_cast<std::size_t>(layout.ranks[position(nodes[i])]),
                             .weight = static_cast<float>(weights[i] / largest / sum)});
        }
    }

    // Dangling nodes return their mass to the seeds: with d of it on dangling seeds, everything is
    // scaled by 1 / (1 - (1 - r) d), and a dangling seed keeps r of that.
    void place_seeds(const ForwardView& forward, const ServingOptions& options, double threshold) {
        const auto restart = static_cast<float>(options.restart_probability);
        push.start(restart);
        double dangling = 0.0;
        for (const Seed& seed : seeds) {
            push.touch(seed.rank);
            if (std::isinf(push.state(seed.rank).degree)) dangling += seed.weight;
        }
        const auto scale =
            static_cast<float>(1.0 / (1.0 - (1.0 - options.restart_probability) * dangling));
        cut_off = 0.0;
        for (const Seed& seed : seeds) {
            const float weight = seed.weight * scale;
            const float degree = push.state(seed.rank).degree;
            const std::ptrdiff_t cached =
                weight > static_cast<float>(threshold) * degree ? forward.find(seed.rank) : -1;
            if (cached >= 0) {
                place_cached(forward, position(cached), weight, options.forward_entries);
            } else {
                push.add_residual(seed.rank, weight);
            }
        }
    }

    void place_cached(const ForwardView& forward, std::size_t cached, float weight,
                      std::size_t most_entries) {
        const std::size_t end =
            std::min<std::size_t>(forward.begins[cached + 1], forward.ranks.size());
        const std::size_t begin = std::min<std::size_t>(forward.begins[cached], end);
        const std::size_t count = std::min(end - begin, most_entries);
        constexpr std::size_t kAhead = 16;
        double covered = 0.0;
        for (std::size_t entry = begin; entry < begin + count; ++entry) {
            if (entry + kAhead < begin + count) push.prefetch(forward.ranks[entry + kAhead]);
            push.add_score(forward.ranks[entry], weight * forward.scores[entry]);
            covered += static_cast<double>(forward.scores[entry]);
        }
        cut_off += weight * std::max(0.0, 1.0 - covered);
    }
};

template <typename Word>
ServingEngine<Word>::ServingEngine(const LayoutView<Word>& layout, const SketchView& sketch,
                                   const ForwardView& forward)
    : layout_(layout), sketch_(sketch), forward_(forward) {
    check_sizes(layout, sketch, forward);
    workspaces_ = std::make_unique<WorkspacePool<Workspace>>(
        [this] { return std::make_unique<Workspace>(layout_); });
}

template <typename Word>
ServingEngine<Word>::~ServingEngine() = default;

template <typename Word>
void ServingEngine<Word>::for_each_query(const SeedView& seeds, int num_threads,
                                         const CheckInterrupt& check, const Task& task) const {
    check_seeds(seeds, static_cast<NodeId>(layout_.num_nodes()));
    const int threads = resolve_num_threads(num_threads, seeds.num_queries());
    std::vector<typename WorkspacePool<Workspace>::Lease> leases;
    for (int worker = 0; worker < threads; ++worker) leases.push_back(workspaces_->lease());
    parallel_for(seeds.num_queries(), threads, [&](std::int64_t item, int worker) {
        if (worker == 0) check();
        const std::size_t query = position(item);
        Workspace& work = *leases[position(worker)];
        const auto begin = position(seeds.offsets[query]);
        const auto count = position(seeds.offsets[query + 1]) - begin;
        work.load_seeds(layout_, seeds.nodes.subspan(begin, count),
                        seeds.weights.subspan(begin, count));
        task(work, query);
    });
}

template <typename Word>
ServedPassages ServingEngine<Word>::rank(const SeedView& seeds, const ServingOptions& options,
                                         const CheckInterrupt& check) const {
    check_serving_options(options);
    const auto num_passages = static_cast<PassageId>(layout_.num_passages());
    check_num_passages(options.k, num_passages);
    const std::size_t k = position(options.k);
    ServedPassages served(position(seeds.num_queries()), k);
    for_each_query(seeds, options.num_threads, check, [&](Workspace& work, std::size_t query) {
        double threshold = options.threshold;
        bool reached = work.push_query(forward_, sketch_, options, threshold);
        std::span<const RankedPassage> best;
        while (reached) {
            best = work.ranker.rank(work.push, k, options.ties);
            threshold = next_threshold(best, k, threshold, options.least_certainty);
            if (threshold == 0.0) break;
            reached = work.push_further(sketch_, options, threshold);
        }
        served.edges_followed[query] = work.push.num_edges_followed();
        served.missing[query] = work.missing;
        if (!reached) return;
        served.finished[query] = 1;
        served.num_reached[query] = static_cast<std::int32_t>(best.size());
        const auto passages = std::span(served.passages).subspan(query * k, k);
        for (std::size_t place = 0; place < best.size(); ++place) {
            check_passage(best[place].passage, num_passages);
            passages[place] = best[place].passage;
            served.scores[query * k + place] = static_cast<double>(best[place].score);
        }
        if (best.size() < k) fill_with_others(passages, best.size(), options.ties, num_passages);
    });
    return served;
}

template <typename Word>
PushedScores ServingEngine<Word>::push(const SeedView& seeds, const ServingOptions& options,
                                       const CheckInterrupt& check) const {
    check_serving_options(options);
    const auto num_queries = position(seeds.num_queries());
    std::vector<std::vector<ScoredRank>> scored(num_queries);
    PushedScores pushed;
    pushed.missing.resize(num_queries);
    for_each_query(seeds, options.num_threads, check, [&](Workspace& work, std::size_t query) {
        (void)work.push_query(forward_, sketch_, options, options.threshold);
        pushed.missing[query] = work.missing;
        for (const std::uint32_t rank : work.push.touched()) {
            const float score = work.push.settled(rank);
            // Also drops what is no number.
            if (score > 0.0F && rank < layout_.num_nodes()) scored[query].push_back({rank, score});
        }
    });
    pushed.offsets.push_back(0);
    for (const auto& of_query : scored) {
        for (const auto& [rank, score] : of_query) {
            pushed.ranks.push_back(static_cast<Rank>(rank));
            pushed.scores.push_back(score);
        }
        pushed.offsets.push_back(std::ssize(pushed.ranks));
    }
    return pushed;
}

template class ServingEngine<std::uint32_t>;
template class ServingEngine<std::uint64_t>;

}  // namespace hippograph
