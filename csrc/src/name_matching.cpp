#include "hippograph/name_matching.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace hippograph {

namespace {

// Bounds the work on a text that is one long run of characters.
constexpr std::size_t kLongestNameBytes = 512;

enum class Script : std::uint8_t {
    space,
    spaced,     // words are parted by spaces
    suffixed,   // words are, but may carry particles
    unspaced,   // words are not parted
    pictorial,  // symbols and emoji: one alone may be a name
};

struct Range {
    std::uint32_t first;
    std::uint32_t last;
    Script script;
};

// Blocks of Unicode, rising. What is not listed is `spaced`.
constexpr std::array kRanges{
    Range{0x0020, 0x0020, Script::space},        // as normalised text has it
    Range{0x0E00, 0x0EFF, Script::unspaced},     // Thai, Lao
    Range{0x0F00, 0x0FFF, Script::unspaced},     // Tibetan
    Range{0x1000, 0x109F, Script::unspaced},     // Myanmar
    Range{0x1100, 0x11FF, Script::suffixed},     // Hangul letters
    Range{0x1780, 0x17FF, Script::unspaced},     // Khmer
    Range{0x2190, 0x2BFF, Script::pictorial},    // arrows to miscellaneous symbols
    Range{0x2E80, 0x2FDF, Script::unspaced},     // CJK radicals
    Range{0x3005, 0x3007, Script::unspaced},     // ideographic marks
    Range{0x3021, 0x312F, Script::unspaced},     // Hiragana, Katakana, Bopomofo
    Range{0x31A0, 0x31FF, Script::unspaced},     // Bopomofo, Katakana extensions
    Range{0x3400, 0x4DBF, Script::unspaced},     // CJK ideographs, extension A
    Range{0x4E00, 0x9FFF, Script::unspaced},     // CJK ideographs
    Range{0xAC00, 0xD7A3, Script::suffixed},     // Hangul syllables
    Range{0xF900, 0xFAFF, Script::unspaced},     // CJK compatibility ideographs
    Range{0x1F000, 0x1FAFF, Script::pictorial},  // emoji
    Range{0x20000, 0x3FFFF, Script::unspaced},   // CJK ideographs, further extensions
};

Script script_of(std::uint32_t character) noexcept {
    const auto found = std::ranges::lower_bound(kRanges, character, {}, &Range::last);
    const bool is_inside = found != kRanges.end() && found->first <= character;
    return is_inside ? found->script : Script::spaced;
}

struct Character {
    std::uint32_t code = 0;
    std::size_t bytes = 1;
};

// The character at the front of `text`, which is not empty. A byte that begins no whole character
// stands for itself.
Character decode(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) {
        return std::uint32_t{static_cast<std::uint8_t>(text[i])};
    };
    const std::uint32_t lead = byte(0);
    const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (length == 1 || length > text.size()) return {.code = lead, .bytes = 1};
    std::uint32_t code = lead & (0xFFU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) code = (code << 6) | (byte(i) & 0x3FU);
    return {.code = code, .bytes = length};
}

struct Start {
    std::size_t at;
    std::size_t character_end;
    bool may_stand_alone;  // a name of this one character is a name
};

// Where names may begin and end; both rise.
struct Places {
    std::vector<Start> starts;
    std::vector<std::size_t> ends;
};

Places places_in(std::string_view text) {
    Places places;
    Script before = Script::space;
    for (std::size_t at = 0; at < text.size();) {
        const Character character = decode(text.substr(at));
        const Script script = script_of(character.code);
        const bool is_boundary = before != script || script == Script::unspaced;
        const bool is_outside = before == Script::space;
        if (!is_outside && (is_boundary || before == Script::suffixed)) places.ends.push_back(at);
        // "stanford's" also ends before the apostrophe; the last letter decides at the word's end.
        if (script == Script::spaced && before == Script::spaced && character.code == '\'' &&
            text.substr(at, 2) == "'s" && (at + 2 == text.size() || text[at + 2] == ' ')) {
            places.ends.push_back(at);
        }
        if (script != Script::space && is_boundary) {
            places.starts.push_back({.at = at,
                                     .character_end = at + character.bytes,
                                     .may_stand_alone = script == Script::pictorial});
        }
        before = script;
        at += character.bytes;
    }
    if (before != Script::space) places.ends.push_back(text.size());
    return places;
}

std::vector<NameMatch> candidates_in(const NameIndex& names, const NameIndex* ignored,
                                     std::string_view text) {
    const Places places = places_in(text);
    const std::size_t longest = std::min(names.longest_name_bytes(), kLongestNameBytes);
    std::vector<NameMatch> found;
    std::vector<std::string_view> phrases;
    std::vector<NodeId> nodes;
    auto first_end = places.ends.begin();
    for (const Start& start : places.starts) {
        first_end = std::upper_bound(first_end, places.ends.end(), start.at);
        phrases.clear();
        for (auto end = first_end; end != places.ends.end() && *end - start.at <= longest; ++end) {
            if (*end == start.character_end && !start.may_stand_alone) continue;
            phrases.push_back(text.substr(start.at, *end - start.at));
        }
        nodes.resize(phrases.size());
        names.find_all(phrases, nodes);
        for (std::size_t i = 0; i < phrases.size(); ++i) {
            if (nodes[i] == kNoNode) continue;
            if (ignored != nullptr && ignored->find(phrases[i]) != kNoNode) continue;
            found.push_back(
                {.begin = start.at, .end = start.at + phrases[i].size(), .node = nodes[i]});
        }
    }
    return found;
}

}  // namespace

std::vector<NameMatch> match_names(const NameIndex& names, const NameIndex* ignored,
                                   std::string_view text) {
    std::vector<NameMatch> found = candidates_in(names, ignored, text);
    std::ranges::stable_sort(found, [](const NameMatch& a, const NameMatch& b) {
        return a.end - a.begin > b.end - b.begin;  // candidates come in the order of their begin
    });
    std::vector<NameMatch> kept;
    std::vector<bool> is_taken(text.size());
    for (const NameMatch& match : found) {
        const auto begin = is_taken.begin() + static_cast<std::ptrdiff_t>(match.begin);
        const auto end = is_taken.begin() + static_cast<std::ptrdiff_t>(match.end);
        // No match is longer than those before it, so an overlap covers one of its ends.
        if (*begin || *(end - 1)) continue;
        std::fill(begin, end, true);
        kept.push_back(match);
    }
    std::ranges::sort(kept, {}, &NameMatch::begin);
    return kept;
}

}  // namespace hippograph
