#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "hippograph/name_index.hpp"
#include "hippograph/name_matching.hpp"

namespace hippograph::testing {

namespace {

struct Names {
    std::vector<std::uint8_t> blob;
    std::vector<EdgeOffset> offsets{0};

    void add(std::string_view name) {
        blob.insert(blob.end(), name.begin(), name.end());
        offsets.push_back(static_cast<EdgeOffset>(blob.size()));
    }
    [[nodiscard]] NamesView view() const { return {.blob = blob, .offsets = offsets}; }
};

Names numbered(int count) {
    Names names;
    for (int i = 0; i < count; ++i) names.add("name " + std::to_string(i));
    return names;
}

void test_lookup(Checks& check) {
    Names names = numbered(1000);
    names.add("name 7");  // again: the first counts
    const std::vector<std::uint64_t> table = build_name_table(names.view());
    const NameIndex index(names.view(), table);
    check.that(index.find("name 7") == 7, "the first of equal names");
    check.that(index.find("name 999") == 999, "the last of the others");
    check.that(index.find("name 1000") == kNoNode, "no such name");
    check.that(index.longest_name_bytes() == 8, "longest name");
    const Names none;
    const std::vector<std::uint64_t> empty = build_name_table(none.view());
    check.that(NameIndex(none.view(), empty).find("") == kNoNode, "no names at all");
    check.throws<std::invalid_argument>([&] { const NameIndex wrong(names.view(), empty); },
                                        "does not belong");
}

// Under the address sanitizer this shows that no damage makes a lookup leave the arrays.
void test_damage(Checks& check) {
    std::mt19937_64 random(11);
    const Names sound = numbered(60);
    const std::vector<std::uint64_t> table = build_name_table(sound.view());
    std::string text;
    for (int i = 0; i < 60; ++i) text += "name " + std::to_string(i) + " \xe5\x8c ";
    bool all_exist = true;
    for (int round = 0; round < 2000; ++round) {
        Names names = sound;
        std::vector<std::uint64_t> words = table;
        for (int i = 0; i < 8; ++i) {
            words[1 + random() % (words.size() - 1)] = random() >> (random() % 64);
            names.offsets[random() % names.offsets.size()] =
                static_cast<EdgeOffset>(random() >> (random() % 64));
        }
        const NameIndex index(names.view(), words);
        for (int i = 0; i < 60; ++i) {
            const NodeId found = index.find("name " + std::to_string(i));
            all_exist = all_exist && found >= kNoNode && found < 60;
        }
        (void)match_names(index, &index, std::string_view(text).substr(random() % text.size()));
    }
    check.that(all_exist, "every answer is a node or none");
    // A table without an empty slot: the search still ends.
    std::vector<std::uint64_t> full(table.size(), ~std::uint64_t{0});
    full[0] = table[0];
    check.that(NameIndex(sound.view(), full).find("name 1") == kNoNode, "a full table");
}

}  // namespace

void test_name_index(Checks& check) {
    test_lookup(check);
    test_damage(check);
}

}  // namespace hippograph::testing
