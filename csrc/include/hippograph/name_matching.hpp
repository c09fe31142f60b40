// Names of nodes inside a text, without a model: the longest names that stand there as whole words.
//
// Text and names are normalised alike, so words are parted by spaces. Scripts that write no spaces
// (Chinese, Japanese, Thai, ...) may begin and end a name at any character; Korean, which hangs
// particles on words, may end one there. A name may also end before an English "'s".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hippograph/name_index.hpp"

namespace hippograph {

// The name of `node` stands at the bytes [begin, end) of the text.
struct NameMatch {
    std::size_t begin = 0;
    std::size_t end = 0;
    NodeId node = kNoNode;
};

// Returns the matches in the order of the text. None overlap: longer ones go first, then earlier
// ones. Names of a single letter, digit or syllable, names that `ignored` has (if given), and names
// longer than 512 bytes never match. Any bytes may be given as text.
[[nodiscard]] std::vector<NameMatch> match_names(const NameIndex& names, const NameIndex* ignored,
                                                 std::string_view text);

}  // namespace hippograph
