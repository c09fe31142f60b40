#include "hippograph/serving_engine.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "hippograph/seeds.hpp"

namespace hippograph {

namespace {

// A query whose k-th passage scores less than so many thresholds has an order there that is not
// settled: its seeds lie among few passages, and the next ones get little. It is pushed further, as
// one that reaches fewer than k, until what is left could not be told from rounding.
constexpr double kClearScore = 100.0;
constexpr double kDeeper = 1.0 / 32.0;  // at most so much at a time, and at least a quarter
constexpr double kLeastDeeper = 0.25;
constexpr double kDeepestThreshold = 1e-10;

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

}  // namespace

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
ServedPassages ServingEngine<Word>::rank(const SeedView& seeds, const ServingOptions& options,
                                         const CheckInterrupt& check) const {
    check_options({.restart_probability = options.restart_probability,
                   .tolerance = options.threshold,
                   .max_iterations = 1,
                   .num_threads = options.num_threads});
    check_num_passages(options.k, static_cast<PassageId>(layout_.num_passages()));
    check_seeds(seeds, static_cast<NodeId>(layout_.num_nodes()));
    const std::int64_t num_queries = seeds.num_queries();
    const std::size_t k = position(options.k);
    ServedPassages served;
    served.passages.resize(position(num_queries) * k);
    served.scores.resize(position(num_queries) * k);
    served.num_reached.resize(position(num_queries));
    served.missing.resize(position(num_queries));
    served.edges_followed.resize(position(num_queries));
    served.finished.resize(position(num_queries));

    const auto rank_one = [&](Workspace& work, std::size_t query) {
        const auto begin = position(seeds.offsets[query]);
        const auto count = position(seeds.offsets[query + 1]) - begin;
        work.load_seeds(layout_, seeds.nodes.subspan(begin, count),
                        seeds.weights.subspan(begin, count));
        std::int64_t num_edges = 0;
        std::span<const RankedPassage> best;
        for (double threshold = options.threshold;;) {
            work.place_seeds(forward_, options, threshold);
            const bool reached = work.push.push_down_to(static_cast<float>(threshold),
                                                        options.most_edges - num_edges);
            num_edges += work.push.num_edges_followed();
            served.edges_followed[query] = num_edges;
            if (!reached) return;
            served.missing[query] = work.push.missing() + work.cut_off;
            work.correction.apply(sketch_, static_cast<float>(options.restart_probability),
                                  work.push);
            best = work.ranker.rank(work.push, k, options.ties);
            const double kth = best.size() == k ? static_cast<double>(best.back().score) : 0.0;
            if (kth >= kClearScore * threshold || threshold < kDeepestThreshold) break;
            threshold =
                std::clamp(kth / kClearScore, kDeeper * threshold, kLeastDeeper * threshold);
        }
        served.finished[query] = 1;
        served.num_reached[query] = static_cast<std::int32_t>(best.size());
        const auto passages = std::span(served.passages).subspan(query * k, k);
        for (std::size_t place = 0; place < best.size(); ++place) {
            passages[place] = best[place].passage;
            if (passages[place] < 0 || position(passages[place]) >= layout_.num_passages()) {
                throw std::invalid_argument("the serving layout is damaged: it names passage " +
                                            std::to_string(passages[place]) + " of " +
                                            std::to_string(layout_.num_passages()));
            }
            served.scores[query * k + place] = static_cast<double>(best[place].score);
        }
        if (best.size() < k)
            fill_with_others(passages, best.size(), options.ties,
                             static_cast<PassageId>(layout_.num_passages()));
    };
    const int num_threads = resolve_num_threads(options.num_threads, num_queries);
    std::vector<typename WorkspacePool<Workspace>::Lease> leases;
    for (int worker = 0; worker < num_threads; ++worker) leases.push_back(workspaces_->lease());
    parallel_for(num_queries, num_threads, [&](std::int64_t query, int worker) {
        if (worker == 0) check();
        rank_one(*leases[position(worker)], position(query));
    });
    return served;
}

template class ServingEngine<std::uint32_t>;
template class ServingEngine<std::uint64_t>;

}  // namespace hippograph
