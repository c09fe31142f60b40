#include "hippograph/name_index.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>

namespace hippograph {

namespace {

constexpr std::uint64_t kKind = 0x31304d414e48ULL;  // "HNAM01", little-endian
constexpr std::size_t kHeaderWords = 3;
// With two slots in three taken, no search among 2^31 names needs a third of this many, unless
// names were chosen to collide; then another seed is tried.
constexpr std::size_t kMaxProbes = 1024;
constexpr std::uint64_t kMaxSeeds = 8;
constexpr std::size_t kLookupsInFlight = 16;
constexpr std::size_t kMaxNames = std::numeric_limits<NodeId>::max();

constexpr std::uint64_t mix(std::uint64_t value) noexcept {
    constexpr std::uint64_t kOdd = 0xd6e8feb86659fd93ULL;  // spreads each bit over the whole word
    value = (value ^ (value >> 32)) * kOdd;
    value = (value ^ (value >> 32)) * kOdd;
    return value ^ (value >> 32);
}

// Up to 8 bytes as a number, the first the lowest: the same on every machine.
std::uint64_t word_of(std::string_view bytes) noexcept {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        word |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
    }
    return word;
}

std::uint64_t hash_of(std::string_view name, std::uint64_t seed) noexcept {
    std::uint64_t hash = mix(seed ^ name.size());
    for (; name.size() > 8; name.remove_prefix(8)) hash = mix(hash ^ word_of(name.substr(0, 8)));
    return mix(hash ^ word_of(name));
}

constexpr std::size_t num_slots(std::size_t num_names) noexcept {
    return num_names + num_names / 2 + 1;  // never full
}

// Multiply and shift in place of a remainder; both factors are below 2^32.
constexpr std::size_t home_of(std::uint64_t hash, std::size_t num_slots) noexcept {
    return position(((hash >> 32) * std::uint64_t{num_slots}) >> 32);
}

constexpr std::uint64_t slot_of(std::uint64_t hash, std::size_t id) noexcept {
    return (hash << 32) | (id + 1);
}

// Puts all names in; false when one of them would have to be searched for too long.
bool fill(const NamesView& names, std::uint64_t seed, std::span<std::uint64_t> slots) {
    std::ranges::fill(slots, 0);
    for (std::size_t id = 0; id < names.size(); ++id) {
        const std::string_view name = names[id];
        const std::uint64_t hash = hash_of(name, seed);
        std::size_t at = home_of(hash, slots.size());
        std::size_t probes = 1;
        bool is_known = false;
        for (; slots[at] != 0 && !is_known; at = at + 1 == slots.size() ? 0 : at + 1) {
            const bool same_tag = (slots[at] >> 32) == (hash & 0xffffffffULL);
            is_known = same_tag && names[position((slots[at] & 0xffffffffULL) - 1)] == name;
            if (++probes > kMaxProbes) return false;
        }
        if (!is_known) slots[at] = slot_of(hash, id);
    }
    return true;
}

std::size_t checked_longest(const NamesView& names) {
    if (names.offsets.empty() || names.offsets.front() != 0 ||
        names.offsets.back() != static_cast<EdgeOffset>(names.blob.size())) {
        throw std::invalid_argument("node name offsets do not match the node name blob");
    }
    if (names.size() > kMaxNames) throw std::invalid_argument("there are more than 2^31 names");
    EdgeOffset longest = 0;
    for (std::size_t id = 0; id < names.size(); ++id) {
        const EdgeOffset length = names.offsets[id + 1] - names.offsets[id];
        if (length < 0) {
            throw std::invalid_argument("node name offsets fall at " + std::to_string(id + 1));
        }
        longest = std::max(longest, length);
    }
    return position(longest);
}

}  // namespace

std::string_view NamesView::operator[](std::size_t id) const noexcept {
    if (id >= size()) return {};
    const EdgeOffset begin = offsets[id];
    const EdgeOffset end = offsets[id + 1];
    if (begin < 0 || end < begin || position(end) > blob.size()) return {};
    return {reinterpret_cast<const char*>(blob.data()) + begin, position(end - begin)};
}

std::vector<std::uint64_t> build_name_table(const NamesView& names) {
    const std::size_t longest = checked_longest(names);
    std::vector<std::uint64_t> table(kHeaderWords + num_slots(names.size()));
    for (std::uint64_t seed = 0; seed < kMaxSeeds; ++seed) {
        if (!fill(names, seed, std::span(table).subspan(kHeaderWords))) continue;
        table[0] = kKind;
        table[1] = seed;
        table[2] = longest;
        return table;
    }
    throw std::invalid_argument("the node names were chosen to collide in a hash table");
}

NameIndex::NameIndex(const NamesView& names, std::span<const std::uint64_t> table) : names_(names) {
    if (names.size() > kMaxNames || table.size() != kHeaderWords + num_slots(names.size()) ||
        table[0] != kKind) {
        throw std::invalid_argument("the table of node names does not belong to these " +
                                    std::to_string(names.size()) + " names");
    }
    seed_ = table[1];
    longest_ = std::min(position(table[2]), names.blob.size());
    slots_ = table.subspan(kHeaderWords);
}

std::size_t NameIndex::home(std::uint64_t hash) const noexcept {
    return home_of(hash, slots_.size());
}

NodeId NameIndex::find(std::string_view name) const noexcept {
    return find_hashed(name, hash_of(name, seed_));
}

NodeId NameIndex::find_hashed(std::string_view name, std::uint64_t hash) const noexcept {
    const std::size_t most = std::min(kMaxProbes, slots_.size());
    std::size_t at = home(hash);
    for (std::size_t probe = 0; probe < most && slots_[at] != 0; ++probe) {
        const std::uint64_t slot = slots_[at];
        const std::size_t id = position((slot & 0xffffffffULL) - 1);
        if ((slot >> 32) == (hash & 0xffffffffULL) && id < names_.size() && names_[id] == name) {
            return static_cast<NodeId>(id);
        }
        at = at + 1 == slots_.size() ? 0 : at + 1;
    }
    return kNoNode;
}

void NameIndex::find_all(std::span<const std::string_view> names, std::span<NodeId> nodes) const {
    struct Lookup {
        std::uint64_t hash;
        std::uint64_t first_slot;
    };
    std::array<Lookup, kLookupsInFlight> lookups{};
    for (std::size_t begin = 0; begin < names.size(); begin += kLookupsInFlight) {
        const std::size_t count = std::min(kLookupsInFlight, names.size() - begin);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t hash = hash_of(names[begin + i], seed_);
            lookups[i] = {.hash = hash, .first_slot = slots_[home(hash)]};
        }
        for (std::size_t i = 0; i < count; ++i) {
            nodes[begin + i] = lookups[i].first_slot == 0
                                   ? kNoNode
                                   : find_hashed(names[begin + i], lookups[i].hash);
        }
    }
}

}  // namespace hippograph
