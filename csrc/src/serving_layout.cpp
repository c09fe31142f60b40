#include "hippograph/serving_layout.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

#include "hippograph/community_order.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/symmetry.hpp"

namespace hippograph {

namespace {

// A node in more passages than this is common: its list is read from the top, not as a whole.
constexpr EdgeOffset kCommonFromPassages = 64;
constexpr std::size_t kRowsPerTask = 4096;

EdgeOffset row_length(const CsrView& matrix, NodeId row) noexcept {
    return matrix.row_end(row) - matrix.row_begin(row);
}

struct Orders {
    std::vector<NodeId> nodes;  // by rank
    std::vector<Rank> ranks;    // by node
    Rank num_common = 0;
    std::vector<PassageId> passages;       // by passage rank
    std::vector<PassageId> passage_ranks;  // by passage
};

void order_nodes(const CsrView& weights, const CsrView& occurrences, Orders& orders) {
    std::vector<std::uint8_t> is_common(position(weights.num_rows()), 0);
    for (NodeId node = 0; node < weights.num_rows(); ++node) {
        if (row_length(occurrences, node) <= kCommonFromPassages) continue;
        is_common[position(node)] = 1;
        orders.nodes.push_back(node);
    }
    std::ranges::stable_sort(orders.nodes, std::greater{},
                             [&](NodeId node) { return row_length(occurrences, node); });
    orders.num_common = static_cast<Rank>(orders.nodes.size());
    const std::vector<NodeId> others = community_order(weights, is_common);
    orders.nodes.insert(orders.nodes.end(), others.begin(), others.end());
    orders.ranks.resize(orders.nodes.size());
    for (std::size_t rank = 0; rank < orders.nodes.size(); ++rank) {
        orders.ranks[position(orders.nodes[rank])] = static_cast<Rank>(rank);
    }
}

// A passage goes where its first node that is not common lies.
void order_passages(const CsrView& occurrences, Orders& orders) {
    const auto num_passages = position(occurrences.num_columns);
    orders.passage_ranks.assign(num_passages, -1);
    const auto place = [&](PassageId passage) {
        if (orders.passage_ranks[position(passage)] >= 0) return;
        orders.passage_ranks[position(passage)] = static_cast<PassageId>(orders.passages.size());
        orders.passages.push_back(passage);
    };
    orders.passages.reserve(num_passages);
    for (std::size_t rank = position(orders.num_common); rank < orders.nodes.size(); ++rank) {
        const NodeId node = orders.nodes[rank];
        for (EdgeOffset entry = occurrences.row_begin(node); entry < occurrences.row_end(node);
             ++entry) {
            place(occurrences.columns[position(entry)]);
        }
    }
    for (PassageId passage = 0; passage < occurrences.num_columns; ++passage) place(passage);
}

template <typename Word>
Word make_word(std::int32_t id, std::uint8_t code) noexcept {
    return static_cast<Word>(static_cast<Word>(id) << kCodeBits) | Word{code};
}

template <typename Word>
Word float_word(double value) noexcept {
    return Word{std::bit_cast<std::uint32_t>(static_cast<float>(value))};
}

template <typename Word>
std::vector<Word> begins_from_lengths(std::vector<Word>&& lengths) {
    std::exclusive_scan(lengths.begin(), lengths.end(), lengths.begin(), Word{0});
    return std::move(lengths);
}

template <typename Word>
class LayoutBuilder {
   public:
    LayoutBuilder(const CsrView& weights, const CsrView& occurrences, int num_threads)
        : weights_(weights),
          occurrences_(occurrences),
          num_threads_(num_threads),
          weight_book_(make_code_book(weights.values)),
          count_book_(make_code_book(occurrences.values)) {
        order_nodes(weights_, occurrences_, orders_);
        order_passages(occurrences_, orders_);
    }

    LayoutArrays<Word> run() {
        build_passage_rows();
        build_node_rows();
        built_.weight_values.assign(weight_book_.values.begin(), weight_book_.values.end());
        built_.count_values.assign(count_book_.values.begin(), count_book_.values.end());
        built_.weight_error = weight_book_.relative_error;
        built_.ranks = std::move(orders_.ranks);
        built_.passage_ids = std::move(orders_.passages);
        built_.num_common = orders_.num_common;
        return std::move(built_);
    }

   private:
    // Nodes are visited by rank, so each passage row comes out common nodes first and sorted.
    void build_passage_rows() {
        const auto num_passages = position(occurrences_.num_columns);
        std::vector<Word> lengths(num_passages + 1, Word{kRowHead});
        for (const PassageId passage : occurrences_.columns) {
            ++lengths[position(orders_.passage_ranks[position(passage)])];
        }
        built_.passage_begins = begins_from_lengths(std::move(lengths));
        built_.passage_words.assign(static_cast<std::size_t>(built_.passage_begins.back()), 0);
        std::vector<Word> ends(built_.passage_begins.begin(), built_.passage_begins.end() - 1);
        std::vector<double> sums(num_passages, 0.0);
        for (Word& end : ends) end += Word{kRowHead};
        for (std::size_t rank = 0; rank < orders_.nodes.size(); ++rank) {
            const NodeId node = orders_.nodes[rank];
            for (EdgeOffset entry = occurrences_.row_begin(node);
                 entry < occurrences_.row_end(node); ++entry) {
                const std::uint8_t code = encode(count_book_, occurrences_.values[position(entry)]);
                const auto passage = position(
                    orders_.passage_ranks[position(occurrences_.columns[position(entry)])]);
                built_.passage_words[ends[passage]++] =
                    make_word<Word>(static_cast<Rank>(rank), code);
                sums[passage] += count_book_.values[code];
                if (rank < position(orders_.num_common)) {
                    ++built_.passage_words[built_.passage_begins[passage] + 1];
                }
            }
        }
        for (std::size_t passage = 0; passage < num_passages; ++passage) {
            built_.passage_words[built_.passage_begins[passage]] = float_word<Word>(sums[passage]);
        }
    }

    void build_node_rows() {
        const std::size_t num_nodes = orders_.nodes.size();
        std::vector<Word> lengths(num_nodes + 1, 0);
        for (std::size_t rank = 0; rank < num_nodes; ++rank) {
            const NodeId node = orders_.nodes[rank];
            lengths[rank] = static_cast<Word>(kRowHead) +
                            static_cast<Word>(row_length(weights_, node)) +
                            static_cast<Word>(row_length(occurrences_, node));
        }
        built_.node_begins = begins_from_lengths(std::move(lengths));
        built_.node_words.resize(static_cast<std::size_t>(built_.node_begins.back()));
        const std::size_t num_tasks = (num_nodes + kRowsPerTask - 1) / kRowsPerTask;
        parallel_for(static_cast<std::int64_t>(num_tasks), num_threads_,
                     [&](std::int64_t task, int) {
                         const std::size_t first = position(task) * kRowsPerTask;
                         const std::size_t last = std::min(num_nodes, first + kRowsPerTask);
                         for (std::size_t rank = first; rank < last; ++rank) build_node_row(rank);
                     });
    }

    void build_node_row(std::size_t rank) {
        const NodeId node = orders_.nodes[rank];
        const auto row = std::span(built_.node_words)
                             .subspan(static_cast<std::size_t>(built_.node_begins[rank]),
                                      static_cast<std::size_t>(built_.node_begins[rank + 1] -
                                                               built_.node_begins[rank]));
        const auto num_neighbors = position(row_length(weights_, node));
        const auto neighbors = row.subspan(kRowHead, num_neighbors);
        const auto passages = row.subspan(kRowHead + num_neighbors);
        double degree = 0.0;
        for (std::size_t i = 0; i < neighbors.size(); ++i) {
            const auto entry = position(weights_.row_begin(node)) + i;
            const std::uint8_t code = encode(weight_book_, weights_.values[entry]);
            degree += weight_book_.values[code];
            neighbors[i] = make_word<Word>(orders_.ranks[position(weights_.columns[entry])], code);
        }
        std::ranges::sort(neighbors);
        for (std::size_t i = 0; i < passages.size(); ++i) {
            const auto entry = position(occurrences_.row_begin(node)) + i;
            passages[i] =
                make_word<Word>(orders_.passage_ranks[position(occurrences_.columns[entry])],
                                encode(count_book_, occurrences_.values[entry]));
        }
        sort_by_impact(passages);
        row[0] = float_word<Word>(degree);
        row[1] = static_cast<Word>(num_neighbors);
    }

    // Largest counts first (codes rise with values); of equal counts, passages with more common
    // nodes first, then by id: the order in which a walk through a list can stop soonest.
    void sort_by_impact(std::span<Word> passages) const {
        const auto num_common = [this](Word word) {
            return built_.passage_words[built_.passage_begins[id_of(word)] + 1];
        };
        std::ranges::sort(passages, [&](Word a, Word b) {
            if (code_of(a) != code_of(b)) return code_of(a) > code_of(b);
            const Word common_a = num_common(a);
            const Word common_b = num_common(b);
            if (common_a != common_b) return common_a > common_b;
            return orders_.passages[id_of(a)] < orders_.passages[id_of(b)];
        });
    }

    CsrView weights_;
    CsrView occurrences_;
    int num_threads_;
    CodeBook weight_book_;
    CodeBook count_book_;
    Orders orders_;
    LayoutArrays<Word> built_;
};

}  // namespace

bool fits_narrow_words(const CsrView& weights, const CsrView& occurrences) noexcept {
    constexpr std::int64_t kMostWords = std::int64_t{1} << 32U;
    const std::int64_t num_rows =
        std::int64_t{weights.num_rows()} + std::int64_t{occurrences.num_columns};
    return weights.num_rows() <= kMostNarrowIds && occurrences.num_columns <= kMostNarrowIds &&
           weights.num_entries() + occurrences.num_entries() + 2 * num_rows < kMostWords;
}

template <typename Word>
LayoutArrays<Word> build_layout(const CsrMatrix& weights, const CsrMatrix& occurrences,
                                int num_threads) {
    const CsrView& graph = weights.view();
    if (graph.num_columns != graph.num_rows()) {
        throw std::invalid_argument("the weights have " + std::to_string(graph.num_rows()) +
                                    " rows and " + std::to_string(graph.num_columns) +
                                    " columns; a graph has as many of both");
    }
    if (occurrences.view().num_rows() != graph.num_rows()) {
        throw std::invalid_argument("occurrences has " +
                                    std::to_string(occurrences.view().num_rows()) +
                                    " rows but the graph has " + std::to_string(graph.num_rows()) +
                                    " nodes; there must be one row per node");
    }
    check_symmetric(graph);
    const int threads = resolve_num_threads(num_threads, graph.num_rows());
    return LayoutBuilder<Word>(graph, occurrences.view(), threads).run();
}

template LayoutArrays<std::uint32_t> build_layout(const CsrMatrix&, const CsrMatrix&, int);
template LayoutArrays<std::uint64_t> build_layout(const CsrMatrix&, const CsrMatrix&, int);

}  // namespace hippograph
