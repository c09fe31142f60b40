// Cosine of two unit rows: the one number that decides about a pair, wherever it is asked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/int8_rows.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

// The dot product, summed in float64 and rounded once to float32, held within [-1, 1].
// Products of two float32 are exact in float64. Sixteen partial sums, of the elements that share an
// index modulo 16, are added as a tree: one order, so one result on every processor, and the same
// for (left, right) and (right, left).
using Similarity = float (*)(const float* left, const float* right, std::int64_t dimension);

// The fastest for the vectors in use; all return the same bytes.
[[nodiscard]] Similarity similarity_function() noexcept;

// The similarity of first[i] and second[i] for each i.
// Throws std::invalid_argument when the lists differ in length or an id is out of range.
[[nodiscard]] std::vector<float> pair_similarities(const FloatRows& rows,
                                                   std::span<const NodeId> first,
                                                   std::span<const NodeId> second, int num_threads,
                                                   const CheckInterrupt& check_interrupt);

// A row and how similar it is to another. Better ones order first, equal ones by id.
struct Neighbor {
    float similarity;
    NodeId id;

    friend bool operator<(const Neighbor& left, const Neighbor& right) noexcept {
        if (left.similarity != right.similarity) return left.similarity > right.similarity;
        return left.id < right.id;
    }
};

}  // namespace hippograph
