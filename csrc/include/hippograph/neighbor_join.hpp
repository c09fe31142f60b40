// For each row the other rows most similar to it, exactly (synonymy edges of the paper).
//
// All pairs are estimated in bytes (int8_rows.hpp has the proof that no pair is lost), those that
// may reach a list are computed (similarity.hpp) and kept in the lists of both. A full list raises
// the floor of its row, so rows that are all alike ("invoice 1001", "invoice 1002", ...) cost time
// but not memory. A list is the best of a total order (falling similarity, then rising id), so it
// does not depend on the order in which pairs are met, nor on threads or vectors in use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hippograph/int8_rows.hpp"
#include "hippograph/int8_tiles.hpp"
#include "hippograph/parallel.hpp"
#include "hippograph/similarity.hpp"
#include "hippograph/types.hpp"

namespace hippograph {

struct JoinOptions {
    float floor;                 // least similarity of a neighbour, inclusive
    std::int32_t max_neighbors;  // longest list
    int num_threads;             // 0 = one per processor
};

// Lists one after another, by row; in a list falling similarity, then rising id.
struct NeighborPairs {
    std::vector<NodeId> rows;
    std::vector<NodeId> columns;
    std::vector<float> similarities;
};

class NeighborJoin {
   public:
    // `rows` is borrowed until finish() and must not change.
    // listed[i] == 0: row i has no list of its own, it is only found. Empty: all have.
    // searched[i] != 0: pairs with row i are looked at; others only against these. Empty: all.
    NeighborJoin(const FloatRows& rows, std::span<const std::uint8_t> listed,
                 std::span<const std::uint8_t> searched, const JoinOptions& options,
                 const CheckInterrupt& check_interrupt);

    // Searched rows in all, and how many of them advance() is through with.
    [[nodiscard]] std::int64_t num_searched() const noexcept { return num_searched_; }
    [[nodiscard]] std::int64_t num_done() const noexcept { return num_done_; }

    // Compares a few thousand searched rows with all rows they were not compared with yet. After an
    // exception (an interrupt) the lists are not complete and the object is of no more use.
    void advance(const CheckInterrupt& check_interrupt);

    // The lists found so far; they are gone from here.
    [[nodiscard]] NeighborPairs finish();

   private:
    struct Hit {
        std::int32_t row;  // positions in order_
        std::int32_t column;
        float similarity;
    };
    struct Block {
        std::int64_t row_begin, row_end, column_begin, column_end;
    };

    void run_step(const Block& step, const CheckInterrupt& check_interrupt);
    void search_block(const Block& block, std::vector<Hit>& hits) const;
    void collect_hits(std::int64_t row, std::int64_t column, std::uint64_t mask,
                      std::vector<Hit>& hits) const;
    void keep(std::int32_t row, std::int32_t column, float similarity);
    void cut(std::int64_t place);

    FloatRows rows_;
    JoinOptions options_;
    TileKernel kernel_;
    Similarity similarity_;
    std::int64_t num_searched_ = 0;
    std::int64_t num_done_ = 0;
    std::vector<NodeId> order_;  // searched rows, then the others, each by id
    PackedRows packed_;
    std::vector<std::vector<Neighbor>> lists_;  // by position
};

}  // namespace hippograph
