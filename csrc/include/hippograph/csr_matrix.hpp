// Compressed sparse rows. A CsrMatrix is checked once, when it is built; whoever receives one may
// rely on its invariants and look at nothing again:
//   offsets has num_rows + 1 entries, starts at 0, never falls, ends at the number of entries;
//   columns of a row rise strictly and lie in [0, num_columns);
//   values are finite and not negative.
#pragma once

#include <span>
#include <vector>

#include "hippograph/types.hpp"

namespace hippograph {

// Borrowed arrays: copies are cheap, the arrays must outlive them.
struct CsrView {
    std::span<const EdgeOffset> offsets;
    std::span<const NodeId> columns;
    std::span<const Weight> values;
    NodeId num_columns = 0;

    [[nodiscard]] NodeId num_rows() const noexcept {
        return static_cast<NodeId>(offsets.size() - 1);
    }
    [[nodiscard]] EdgeOffset num_entries() const noexcept { return offsets.back(); }
    [[nodiscard]] EdgeOffset row_begin(NodeId row) const noexcept { return offsets[position(row)]; }
    [[nodiscard]] EdgeOffset row_end(NodeId row) const noexcept {
        return offsets[position(row) + 1];
    }
};

class CsrMatrix {
   public:
    // Borrows, for arrays that live in a file mapping or in NumPy. Throws std::invalid_argument,
    // or std::out_of_range for a column, with the place and the value.
    explicit CsrMatrix(const CsrView& borrowed);

    // Owns.
    CsrMatrix(std::vector<EdgeOffset> offsets, std::vector<NodeId> columns,
              std::vector<Weight> values, NodeId num_columns);

    CsrMatrix(CsrMatrix&&) noexcept = default;
    CsrMatrix& operator=(CsrMatrix&&) noexcept = default;
    CsrMatrix(const CsrMatrix&) = delete;
    CsrMatrix& operator=(const CsrMatrix&) = delete;
    ~CsrMatrix() = default;

    [[nodiscard]] const CsrView& view() const noexcept { return view_; }

   private:
    // Empty when borrowing. A moved vector keeps its memory, so view_ stays right.
    std::vector<EdgeOffset> offsets_;
    std::vector<NodeId> columns_;
    std::vector<Weight> values_;
    CsrView view_;
};

// A sum of weights as it is stored. Throws std::invalid_argument when float32 cannot hold it.
[[nodiscard]] Weight to_weight(double sum);

// The structural half of the check, shared with matrices of several values per entry.
void check_csr_structure(std::span<const EdgeOffset> offsets, std::span<const NodeId> columns,
                         NodeId num_columns);

}  // namespace hippograph
