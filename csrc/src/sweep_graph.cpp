#include "hippograph/sweep_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "hippograph/basis_kernels.hpp"
#include "hippograph/mirror.hpp"

namespace hippograph {

namespace {

// Vectors are divided by degrees and multiplied by them again; both, with room for sums and growth,
// must stay far from where float32 ends.
constexpr Weight kSmallestSingle = 1e-18F;
constexpr Weight kLargestSingle = 1e18F;

// s(b, a) of each entry (a, b).
std::vector<Weight> mirrored_similarities(const EdgeTableView& table) {
    std::vector<Weight> found(table.columns.size());
    for_each_mirrored(table.offsets, table.columns,
                      [&](NodeId, EdgeOffset entry, EdgeOffset mirror) {
                          check_directions(table, entry, mirror);
                          found[position(entry)] = table.synonymy[position(mirror)];
                      });
    return found;
}

}  // namespace

Weight SweepGraph::Levels::at(Threshold threshold) const noexcept {
    if (larger < threshold) return weights[0];
    return smaller < threshold ? weights[1] : weights[2];
}

bool SweepGraph::Levels::is_absent() const noexcept {
    return std::ranges::all_of(weights, [](Weight weight) { return weight == 0.0F; });
}

bool SweepGraph::Levels::fits_float32() const noexcept {
    return std::ranges::all_of(weights, [](Weight weight) {
        return weight == 0.0F || (weight >= kSmallestSingle && weight <= kLargestSingle);
    });
}

bool SweepGraph::Levels::is_constant() const noexcept {
    return weights[1] == weights[0] && weights[2] == weights[0];
}

bool SweepGraph::Levels::appears_once() const noexcept {
    return weights[0] == 0.0F && (weights[1] == weights[2] || larger == smaller);
}

// `mirrored` is the similarity of the other direction.
SweepGraph::Levels SweepGraph::levels_of(const EdgeTableView& table, std::size_t entry,
                                         Weight mirrored, EdgeCombination combination) {
    Levels levels{.weights = {},
                  .larger = std::max(table.synonymy[entry], mirrored),
                  .smaller = std::min(table.synonymy[entry], mirrored)};
    PairValues pair{.relation = static_cast<double>(table.relation[entry]),
                    .forward = 0.0,
                    .back = 0.0,
                    .context = static_cast<double>(table.context[entry])};
    levels.weights[0] = combine_pair(pair, combination);
    pair.forward = static_cast<double>(levels.larger);
    levels.weights[1] = combine_pair(pair, combination);
    pair.back = static_cast<double>(levels.smaller);
    levels.weights[2] = combine_pair(pair, combination);
    return levels;
}

SweepGraph::SweepGraph(const EdgeTableView& table, const CsrMatrix& occurrences,
                       EdgeCombination combination)
    : occurrences_(&occurrences) {
    check_edge_table(table);
    const std::size_t num_nodes = table.offsets.size() - 1;
    if (position(occurrences.view().num_rows()) != num_nodes) {
        throw std::invalid_argument("occurrences has " +
                                    std::to_string(occurrences.view().num_rows()) +
                                    " rows but the table has " + std::to_string(num_nodes) +
                                    " nodes; there must be one row per node");
    }
    const std::vector<Weight> mirrored = mirrored_similarities(table);
    std::vector<Levels> row;
    const auto read_row = [&](std::size_t node) {
        row.clear();
        for (auto entry = position(table.offsets[node]); entry < position(table.offsets[node + 1]);
             ++entry) {
            row.push_back(levels_of(table, entry, mirrored[entry], combination));
        }
    };
    std::vector<EdgeOffset> lengths(num_nodes);
    for (std::size_t node = 0; node < num_nodes; ++node) {
        read_row(node);
        lengths[node] = std::ranges::count(row, false, &Levels::is_absent);
    }
    sort_rows(lengths);
    row_begins_.push_back(0);
    synonym_begins_.push_back(0);
    for (const NodeId node : nodes_) {
        read_row(position(node));
        append_row(table, row, node);
    }
    copy_mentions();
    columns_.resize(columns_.size() + position(kReadAhead), 0);
    mention_ranks_.resize(mention_ranks_.size() + position(kReadAhead), 0);
}

// Longest first, equal lengths in node order.
void SweepGraph::sort_rows(const std::vector<EdgeOffset>& lengths) {
    nodes_.resize(lengths.size());
    std::iota(nodes_.begin(), nodes_.end(), 0);
    std::ranges::stable_sort(
        nodes_, [&](NodeId a, NodeId b) { return lengths[position(a)] > lengths[position(b)]; });
    ranks_.resize(lengths.size());
    for (std::size_t rank = 0; rank < nodes_.size(); ++rank) {
        ranks_[position(nodes_[rank])] = static_cast<Rank>(rank);
    }
}

void SweepGraph::append_row(const EdgeTableView& table, std::span<const Levels> row, NodeId node) {
    const std::size_t begin = position(table.offsets[position(node)]);
    std::vector<std::size_t> synonyms;
    for (std::size_t place = 0; place < row.size(); ++place) {
        const Levels& levels = row[place];
        if (levels.is_absent()) continue;
        fits_float32_ = fits_float32_ && levels.fits_float32();
        if (!levels.is_constant() && levels.appears_once()) {
            synonyms.push_back(place);
            continue;
        }
        if (!levels.is_constant()) {
            changing_.push_back({.entry = std::ssize(columns_), .levels = levels});
        }
        columns_.push_back(ranks_[position(table.columns[begin + place])]);
        weights_.push_back(levels.weights[0]);
    }
    std::ranges::stable_sort(
        synonyms, [&](std::size_t a, std::size_t b) { return row[a].larger > row[b].larger; });
    for (const std::size_t place : synonyms) {
        columns_.push_back(ranks_[position(table.columns[begin + place])]);
        weights_.push_back(row[place].weights[2]);
        similarities_.push_back(row[place].larger);
    }
    row_begins_.push_back(std::ssize(columns_));
    synonym_begins_.push_back(std::ssize(similarities_));
}

// Counting sort by passage; nodes are met in rising order of rank.
void SweepGraph::copy_mentions() {
    const CsrView& view = occurrences_->view();
    mention_offsets_.assign(position(view.num_columns) + 1, 0);
    for (const NodeId passage : view.columns) ++mention_offsets_[position(passage) + 1];
    std::partial_sum(mention_offsets_.begin(), mention_offsets_.end(), mention_offsets_.begin());
    std::vector<EdgeOffset> cursors(mention_offsets_.begin(), mention_offsets_.end() - 1);
    mention_ranks_.resize(view.columns.size());
    mention_counts_.resize(view.columns.size());
    for (const NodeId node : nodes_) {
        for (EdgeOffset entry = view.row_begin(node); entry < view.row_end(node); ++entry) {
            const EdgeOffset place = cursors[position(view.columns[position(entry)])]++;
            mention_ranks_[position(place)] = ranks_[position(node)];
            mention_counts_[position(place)] = view.values[position(entry)];
        }
    }
}

// Of a row at a threshold.
EdgeOffset SweepGraph::row_end(std::size_t row, Threshold threshold) const noexcept {
    const auto first = similarities_.begin() + synonym_begins_[row];
    const auto last = similarities_.begin() + synonym_begins_[row + 1];
    const auto too_low = std::partition_point(
        first, last, [&](Weight similarity) { return similarity >= threshold; });
    return row_begins_[row + 1] - (last - too_low);
}

// All weights, those set that depend on the threshold; empty where none does.
std::vector<Weight> SweepGraph::changed_weights(Threshold threshold) const {
    if (std::isnan(threshold)) {
        throw std::invalid_argument("synonymy_threshold is NaN; it must be a number");
    }
    if (changing_.empty()) return {};
    std::vector<Weight> weights = weights_;
    for (const Changing& pair : changing_) {
        weights[position(pair.entry)] = pair.levels.at(threshold);
    }
    return weights;
}

template <typename Real>
ThresholdedGraph<Real> SweepGraph::at(Threshold threshold) const {
    ThresholdedGraph<Real> graph;
    graph.own_weights = changed_weights(threshold);
    graph.weights = graph.own_weights.empty() ? std::span(weights_) : std::span(graph.own_weights);
    std::vector<double> degrees(nodes_.size(), 0.0);
    graph.row_ends.resize(nodes_.size());
    graph.degrees.resize(nodes_.size());
    graph.inverse_degrees.resize(nodes_.size());
    for (std::size_t row = 0; row < nodes_.size(); ++row) {
        graph.row_ends[row] = row_end(row, threshold);
        for (EdgeOffset entry = row_begins_[row]; entry < graph.row_ends[row]; ++entry) {
            degrees[row] += static_cast<double>(graph.weights[position(entry)]);
        }
        if (!(degrees[row] > 0.0)) continue;
        graph.degrees[row] = static_cast<Real>(degrees[row]);
        graph.inverse_degrees[row] = static_cast<Real>(1.0 / degrees[row]);
        graph.num_rows = static_cast<Rank>(row) + 1;
    }
    graph.mention_weights.resize(mention_counts_.size());
    for (std::size_t mention = 0; mention < mention_counts_.size(); ++mention) {
        const double degree = degrees[position(mention_ranks_[mention])];
        graph.mention_weights[mention] =
            static_cast<Real>(static_cast<double>(mention_counts_[mention]) * degree);
    }
    return graph;
}

CsrArrays SweepGraph::weights_at(Threshold threshold) const {
    const std::vector<Weight> changed = changed_weights(threshold);
    const std::vector<Weight>& weights = changed.empty() ? weights_ : changed;
    CsrArrays result;
    result.offsets.push_back(0);
    std::vector<std::pair<NodeId, Weight>> entries;
    for (const Rank rank : ranks_) {
        const std::size_t row = position(rank);
        entries.clear();
        for (EdgeOffset entry = row_begins_[row]; entry < row_end(row, threshold); ++entry) {
            const Weight weight = weights[position(entry)];
            if (weight > 0.0F) {
                entries.emplace_back(nodes_[position(columns_[position(entry)])], weight);
            }
        }
        std::ranges::sort(entries);
        for (const auto& [node, weight] : entries) {
            result.columns.push_back(node);
            result.values.push_back(weight);
        }
        result.offsets.push_back(std::ssize(result.columns));
    }
    return result;
}

template ThresholdedGraph<float> SweepGraph::at<float>(Threshold threshold) const;
template ThresholdedGraph<double> SweepGraph::at<double>(Threshold threshold) const;

}  // namespace hippograph
