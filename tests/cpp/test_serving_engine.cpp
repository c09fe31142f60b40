#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "check.hpp"
#include "hippograph/forward_cache.hpp"
#include "hippograph/hub_sketch.hpp"
#include "hippograph/serving_engine.hpp"
#include "serving_graphs.hpp"

namespace hippograph::testing {

namespace {

constexpr NodeId kNodes = 900;
constexpr PassageId kPassages = 300;
constexpr std::size_t kHubs = 16;

// Everything an engine borrows. The sketch is of random shares: what is looked for here does not
// depend on what they are.
template <typename Word>
struct Stored {
    LayoutArrays<Word> layout;
    std::vector<Rank> hubs;
    std::vector<std::uint16_t> shares;
    ForwardArrays forward;

    [[nodiscard]] SketchView sketch() const { return {.hubs = hubs, .shares = shares}; }
    [[nodiscard]] ForwardView cache() const {
        return {.nodes = forward.nodes,
                .begins = forward.begins,
                .ranks = forward.ranks,
                .scores = forward.scores};
    }
    [[nodiscard]] ServingEngine<Word> engine() const {
        return ServingEngine<Word>(layout.view(), sketch(), cache());
    }
};

ForwardOptions forward_options() {
    return {.from_neighbors = 40,
            .most_nodes = 50,
            .num_entries = 60,
            .restart_probability = 0.5F,
            .threshold = 1e-4F,
            .num_threads = 1};
}

template <typename Word>
Stored<Word> store() {
    const ServingGraph graph = serving_graph(kNodes, kPassages);
    Stored<Word> stored;
    stored.layout = build_layout<Word>(graph.weights, graph.occurrences, 1);
    stored.hubs = highest_degrees(stored.layout.view(), kHubs);
    Dice dice(3);
    for (std::size_t share = 0; share < kHubs * std::size_t{kNodes}; ++share) {
        stored.shares.push_back(to_bfloat16(static_cast<float>(dice.below(1000)) * 1e-6F));
    }
    stored.forward =
        build_forward_cache(stored.layout.view(), stored.sketch(), forward_options(), {[] {}});
    return stored;
}

struct Queries {
    std::vector<EdgeOffset> offsets{0};
    std::vector<NodeId> nodes;
    std::vector<Score> weights;

    [[nodiscard]] SeedView view() const {
        return {.offsets = offsets, .nodes = nodes, .weights = weights};
    }
};

Queries queries(int count) {
    Queries drawn;
    for (NodeId query = 0; query < count; ++query) {
        for (NodeId seed = 0; seed <= query % 4; ++seed) {
            drawn.nodes.push_back(query % 3 == 0 ? seed : (query * 53 + seed * 7) % kNodes);
            drawn.weights.push_back(1.0 + seed);
        }
        drawn.offsets.push_back(std::ssize(drawn.nodes));
    }
    return drawn;
}

ServingOptions options(int num_threads) {
    return {.k = 20,
            .ties = TieOrder::ascending,
            .restart_probability = 0.5,
            .threshold = 1e-5,
            .least_certainty = 100.0,
            .forward_entries = 40,
            .most_edges = 100'000,
            .num_threads = num_threads};
}

bool same(const ServedPassages& a, const ServedPassages& b) {
    return a.passages == b.passages && a.scores == b.scores && a.missing == b.missing &&
           a.num_reached == b.num_reached && a.finished == b.finished &&
           a.edges_followed == b.edges_followed;
}

// Several threads on one engine, each with threads of its own: the pool is shared.
template <typename Word>
void threads_share_an_engine(Checks& check) {
    const Stored<Word> stored = store<Word>();
    check.that(!stored.forward.nodes.empty(), "the cache must hold something");
    const ServingEngine<Word> engine = stored.engine();
    const Queries drawn = queries(24);
    const ServedPassages expected = engine.rank(drawn.view(), options(1), {[] {}});
    check.that(std::ranges::count(expected.finished, 1) == 24, "each query must be answered");
    std::vector<int> wrong(4, 0);
    {
        std::vector<std::thread> workers;
        for (std::size_t worker = 0; worker < wrong.size(); ++worker) {
            workers.emplace_back([&, worker] {
                for (int turn = 0; turn < 5; ++turn) {
                    const int num_threads = turn % 2 == 0 ? 1 : 7;
                    const auto got = engine.rank(drawn.view(), options(num_threads), {[] {}});
                    if (!same(got, expected)) ++wrong[worker];
                }
            });
        }
        for (std::thread& worker : workers) worker.join();
    }
    for (const int count : wrong) check.that(count == 0, "threads must not change an answer");
}

template <typename Value>
void damage(std::vector<Value>& values, Dice& dice) {
    if (values.empty()) return;
    const auto size = static_cast<std::uint32_t>(values.size());
    const std::uint32_t kind = dice.below(6);
    if (kind == 0) {  // bits
        auto* const bytes = reinterpret_cast<unsigned char*>(values.data());
        const auto num_bytes = static_cast<std::uint32_t>(size * sizeof(Value));
        for (std::uint32_t i = 0; i < 1 + size / 20; ++i) {
            bytes[dice.below(num_bytes)] ^= static_cast<unsigned char>(1U << dice.below(8));
        }
    } else if (kind == 1) {  // values in each other's place
        for (std::uint32_t i = 0; i < 1 + size / 10; ++i) {
            std::swap(values[dice.below(size)], values[dice.below(size)]);
        }
    } else if (kind == 2) {  // shorter or longer
        values.resize(dice.below(2 * size));
    } else {  // the worst values of the type
        for (std::uint32_t i = 0; i < (kind == 3 ? 1 : 1 + size / 3); ++i) {
            Value& value = values[dice.below(size)];
            if constexpr (std::is_floating_point_v<Value>) {
                using Limits = std::numeric_limits<Value>;
                const Value worst[] = {Limits::quiet_NaN(),  Limits::infinity(),
                                       -Limits::infinity(),  Limits::max(),
                                       Limits::denorm_min(), Value{-1}};
                value = worst[dice.below(6)];
            } else {
                const Value worst[] = {std::numeric_limits<Value>::max(),
                                       std::numeric_limits<Value>::min(), Value{0},
                                       static_cast<Value>(dice.below(2000))};
                value = worst[dice.below(4)];
            }
        }
    }
}

template <typename Word>
void damage_one_array(Stored<Word>& stored, std::uint32_t array, Dice& dice) {
    LayoutArrays<Word>& layout = stored.layout;
    switch (array) {
        case 0:
            return damage(layout.node_begins, dice);
        case 1:
            return damage(layout.node_words, dice);
        case 2:
            return damage(layout.passage_begins, dice);
        case 3:
            return damage(layout.passage_words, dice);
        case 4:
            return damage(layout.weight_values, dice);
        case 5:
            return damage(layout.count_values, dice);
        case 6:
            return damage(layout.ranks, dice);
        case 7:
            return damage(layout.passage_ids, dice);
        case 8:
            return damage(stored.hubs, dice);
        case 9:
            return damage(stored.shares, dice);
        case 10:
            return damage(stored.forward.nodes, dice);
        case 11:
            return damage(stored.forward.begins, dice);
        case 12:
            return damage(stored.forward.ranks, dice);
        case 13:
            return damage(stored.forward.scores, dice);
        default:
            layout.num_common = static_cast<Rank>(dice.below(2U * kNodes)) - 100;
    }
}

// Uses all that a damaged layout is used for; true when it answered.
template <typename Word>
bool use(const Stored<Word>& stored, const Queries& drawn) {
    bool answered = false;
    const auto attempt = [&](auto&& action) {
        try {
            action();
            answered = true;
        } catch (const std::invalid_argument&) {
        } catch (const std::out_of_range&) {
        }
    };
    attempt([&] { (void)stored.engine().rank(drawn.view(), options(1), {[] {}}); });
    attempt([&] {
        const ServingEngine<Word> engine = stored.engine();  // its checks come before any use
        const auto hubs = highest_degrees(engine.layout(), kHubs);
        std::vector<std::uint16_t> shares(engine.layout().num_nodes() * hubs.size());
        const std::vector<float> vectors(engine.layout().num_nodes() * hubs.size(), 1e-3F);
        fill_shares(engine.layout(), hubs, 0, vectors, shares, 1);
        (void)build_forward_cache(engine.layout(), engine.sketch(), forward_options(), {[] {}});
    });
    return answered;
}

template <typename Word>
void damage_is_survived(Checks& check, std::uint32_t num_rounds) {
    const Stored<Word> sound = store<Word>();
    const Queries drawn = queries(6);
    std::uint32_t num_answered = 0;
    constexpr std::uint32_t kArrays = 15;
    for (std::uint32_t round = 0; round < num_rounds * kArrays; ++round) {
        Dice dice(round * 7919U + 13U);
        Stored<Word> stored = sound;
        damage_one_array(stored, round % kArrays, dice);
        if (round >= num_rounds * kArrays / 2) damage_one_array(stored, dice.below(kArrays), dice);
        num_answered += use(stored, drawn) ? 1U : 0U;
    }
    check.that(num_answered > 0, "not all damage can be seen");
    check.that(num_answered < num_rounds * kArrays, "some damage must be seen");
}

// Residuals over such degrees are more than a float holds.
void smallest_degrees_come_to_an_end(Checks& check) {
    std::vector<EdgeOffset> offsets{0, 1, 2};
    std::vector<NodeId> columns{1, 0};
    std::vector<Weight> values(2, std::numeric_limits<float>::denorm_min());
    const CsrMatrix weights(offsets, columns, values, 2);
    const CsrMatrix occurrences(offsets, columns, {1.0F, 1.0F}, 2);
    const auto layout = build_layout<std::uint32_t>(weights, occurrences, 1);
    LocalPush<std::uint32_t> push(layout.view());
    push.start(0.5F);
    push.add_residual(0, 1.0F);
    (void)push.push_down_to(1e-5F, 1000);
    check.that(push.num_edges_followed() <= 1001, "the budget must end it");
}

}  // namespace

void test_serving_engine(Checks& check) {
    threads_share_an_engine<std::uint32_t>(check);
    threads_share_an_engine<std::uint64_t>(check);
    damage_is_survived<std::uint32_t>(check, 40);
    damage_is_survived<std::uint64_t>(check, 20);
    smallest_degrees_come_to_an_end(check);
}

}  // namespace hippograph::testing
