// Nodes by name: an open-addressing hash table over the names' one UTF-8 blob.
//
// The table is an array of 64-bit words that is stored and memory-mapped like the names themselves,
// so opening it costs nothing. It may come from a damaged file: ids and offsets are checked when
// they are used, and a search ends after kMaxProbes slots, so wrong bytes give a wrong answer at
// worst.
//
// Words: [kind, seed, bytes of the longest name], then the slots. A slot is 0 when empty, else
// tag << 32 | id + 1. The high half of a name's hash says where its search begins, the low half is
// the tag: names are compared only where tags agree.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hippograph/types.hpp"

namespace hippograph {

inline constexpr NodeId kNoNode = -1;

// Borrowed names: name i is blob[offsets[i], offsets[i + 1]). Not checked as a whole.
struct NamesView {
    std::span<const std::uint8_t> blob;
    std::span<const EdgeOffset> offsets;

    [[nodiscard]] std::size_t size() const noexcept {
        return offsets.empty() ? 0 : offsets.size() - 1;
    }
    // The empty string where the offsets make no sense.
    [[nodiscard]] std::string_view operator[](std::size_t id) const noexcept;
};

// Builds the table; of equal names the first counts. Needs 12 bytes per name.
// Throws std::invalid_argument when the offsets do not fit the blob.
[[nodiscard]] std::vector<std::uint64_t> build_name_table(const NamesView& names);

class NameIndex {
   public:
    // Borrows both. Throws std::invalid_argument when `table` is no table for so many names.
    NameIndex(const NamesView& names, std::span<const std::uint64_t> table);

    [[nodiscard]] NodeId find(std::string_view name) const noexcept;

    // Fills nodes[i] with the node called names[i], kNoNode where there is none. Lookups wait for
    // memory together, not one after the other.
    void find_all(std::span<const std::string_view> names, std::span<NodeId> nodes) const;

    [[nodiscard]] std::size_t longest_name_bytes() const noexcept { return longest_; }

   private:
    [[nodiscard]] NodeId find_hashed(std::string_view name, std::uint64_t hash) const noexcept;
    [[nodiscard]] std::size_t home(std::uint64_t hash) const noexcept;

    NamesView names_;
    std::span<const std::uint64_t> slots_;
    std::uint64_t seed_ = 0;
    std::size_t longest_ = 0;
};

}  // namespace hippograph
