#include "hippograph/forward_cache.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

namespace hippograph {

namespace {

using Entry = std::pair<float, std::uint32_t>;  // score, rank

template <typename Word>
std::vector<Rank> nodes_with_most_neighbors(const LayoutView<Word>& layout,
                                            const ForwardOptions& options) {
    std::vector<std::pair<std::size_t, Rank>> found;
    for (std::size_t rank = 0; rank < layout.num_nodes(); ++rank) {
        const std::size_t num_neighbors = layout.node(rank).first.size();
        if (num_neighbors >= options.from_neighbors) {
            found.emplace_back(num_neighbors, static_cast<Rank>(rank));
        }
    }
    std::ranges::sort(found, [](const auto& a, const auto& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    found.resize(std::min(found.size(), options.most_nodes));
    std::vector<Rank> nodes;
    for (const auto& [num_neighbors, rank] : found) nodes.push_back(rank);
    std::ranges::sort(nodes);
    return nodes;
}

// Edges that no push of a sound layout follows: several times those of a dense solve to the same
// threshold. Damaged weights may let mass grow with each push, which would never end.
std::int64_t edges_at_most(std::size_t num_words, const ForwardOptions& options) {
    const double kept = 1.0 - double{options.restart_probability};
    const double rounds = kept > 0.0 ? std::log(double{options.threshold}) / std::log(kept) : 0.0;
    return static_cast<std::int64_t>(4.0 * (rounds + 10.0) * static_cast<double>(num_words));
}

template <typename Word>
struct Worker {
    explicit Worker(const LayoutView<Word>& layout)
        : push(layout), num_words(layout.node_words.size()) {}

    std::vector<Entry> largest_scores(Rank node, const SketchView& sketch,
                                      const ForwardOptions& options) {
        push.start(options.restart_probability);
        push.add_residual(static_cast<std::size_t>(node), 1.0F);
        if (!push.push_down_to(options.threshold, edges_at_most(num_words, options))) {
            throw std::invalid_argument("the serving layout is damaged: a push does not end");
        }
        correction.apply(sketch, options.restart_probability, push);
        std::vector<Entry> entries;
        for (const std::uint32_t rank : push.touched()) {
            const float score = push.settled(rank);
            if (score > 0.0F) entries.emplace_back(score, rank);  // also drops what is no number
        }
        const auto better = [](const Entry& a, const Entry& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        };
        const std::size_t kept = std::min(entries.size(), options.num_entries);
        const auto end = entries.begin() + static_cast<std::ptrdiff_t>(kept);
        std::ranges::partial_sort(entries, end, better);
        entries.resize(kept);
        return entries;
    }

    LocalPush<Word> push;
    std::size_t num_words;
    HubCorrection<Word> correction;
};

}  // namespace

std::ptrdiff_t ForwardView::find(std::size_t rank) const noexcept {
    const auto place = std::ranges::lower_bound(nodes, static_cast<Rank>(rank));
    return place != nodes.end() && *place == static_cast<Rank>(rank) ? place - nodes.begin() : -1;
}

template <typename Word>
ForwardArrays build_forward_cache(const LayoutView<Word>& layout, const SketchView& sketch,
                                  const ForwardOptions& options, const CheckInterrupt& check) {
    ForwardArrays cache;
    cache.nodes = nodes_with_most_neighbors(layout, options);
    const auto num_nodes = std::ssize(cache.nodes);
    const int num_threads = resolve_num_threads(options.num_threads, num_nodes);
    std::vector<std::unique_ptr<Worker<Word>>> workers(position(num_threads));
    std::vector<std::vector<Entry>> entries(cache.nodes.size());
    parallel_for(num_nodes, num_threads, [&](std::int64_t item, int worker) {
        if (worker == 0) check();
        auto& own = workers[position(worker)];
        if (!own) own = std::make_unique<Worker<Word>>(layout);
        entries[position(item)] = own->largest_scores(cache.nodes[position(item)], sketch, options);
    });
    cache.begins.push_back(0);
    for (const auto& of_node : entries) {
        for (const auto& [score, rank] : of_node) {
            cache.ranks.push_back(rank);
            cache.scores.push_back(score);
        }
        cache.begins.push_back(static_cast<std::uint32_t>(cache.ranks.size()));
    }
    return cache;
}

template ForwardArrays build_forward_cache(const LayoutView<std::uint32_t>&, const SketchView&,
                                           const ForwardOptions&, const CheckInterrupt&);
template ForwardArrays build_forward_cache(const LayoutView<std::uint64_t>&, const SketchView&,
                                           const ForwardOptions&, const CheckInterrupt&);

}  // namespace hippograph
