#include "hippograph/csr_matrix.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace hippograph {

namespace {

void check_offsets(std::span<const EdgeOffset> offsets, std::size_t num_entries) {
    if (offsets.empty()) {
        throw std::invalid_argument(
            "offsets is empty; it needs one entry more than there are rows");
    }
    if (offsets.size() - 1 > position(std::numeric_limits<NodeId>::max())) {
        throw std::invalid_argument("there are " + std::to_string(offsets.size() - 1) +
                                    " rows; ids are 32-bit, so at most 2147483647 are possible");
    }
    if (offsets.front() != 0) {
        throw std::invalid_argument("offsets starts at " + std::to_string(offsets.front()) +
                                    "; it must start at 0");
    }
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        if (offsets[row + 1] < offsets[row]) {
            throw std::invalid_argument("offsets falls after row " + std::to_string(row) +
                                        "; it must never fall");
        }
    }
    if (offsets.back() != static_cast<EdgeOffset>(num_entries)) {
        throw std::invalid_argument("offsets ends at " + std::to_string(offsets.back()) +
                                    " but columns has " + std::to_string(num_entries) +
                                    " entries; the two must agree");
    }
}

void check_columns(std::span<const EdgeOffset> offsets, std::span<const NodeId> columns,
                   NodeId num_columns) {
    for (std::size_t row = 0; row + 1 < offsets.size(); ++row) {
        NodeId previous = -1;
        for (std::size_t entry = position(offsets[row]); entry < position(offsets[row + 1]);
             ++entry) {
            const NodeId column = columns[entry];
            if (column < 0 || column >= num_columns) {
                throw std::out_of_range("row " + std::to_string(row) + " has column " +
                                        std::to_string(column) + ", outside [0, " +
                                        std::to_string(num_columns) + ")");
            }
            if (column <= previous) {
                throw std::invalid_argument("row " + std::to_string(row) + " has column " +
                                            std::to_string(column) + " after " +
                                            std::to_string(previous) +
                                            "; columns of a row must rise, without duplicates");
            }
            previous = column;
        }
    }
}

void check_values(std::span<const Weight> values, std::size_t num_entries) {
    if (values.size() != num_entries) {
        throw std::invalid_argument("values has " + std::to_string(values.size()) +
                                    " entries but columns has " + std::to_string(num_entries) +
                                    "; they must have one each");
    }
    for (std::size_t entry = 0; entry < values.size(); ++entry) {
        if (!(values[entry] >= 0.0F) || std::isinf(values[entry])) {
            throw std::invalid_argument("values[" + std::to_string(entry) + "] is " +
                                        std::to_string(values[entry]) +
                                        "; values must be finite and not negative");
        }
    }
}

}  // namespace

Weight to_weight(double sum) {
    if (!(sum <= static_cast<double>(std::numeric_limits<Weight>::max()))) {
        throw std::invalid_argument("the weights of an edge add up to " + std::to_string(sum) +
                                    ", more than float32 holds; scale all weights down");
    }
    return static_cast<Weight>(sum);
}

void check_csr_structure(std::span<const EdgeOffset> offsets, std::span<const NodeId> columns,
                         NodeId num_columns) {
    if (num_columns < 0) {
        throw std::invalid_argument("num_columns is " + std::to_string(num_columns) +
                                    "; it must not be negative");
    }
    check_offsets(offsets, columns.size());
    check_columns(offsets, columns, num_columns);
}

CsrMatrix::CsrMatrix(const CsrView& borrowed) : view_(borrowed) {
    check_csr_structure(view_.offsets, view_.columns, view_.num_columns);
    check_values(view_.values, view_.columns.size());
}

CsrMatrix::CsrMatrix(std::vector<EdgeOffset> offsets, std::vector<NodeId> columns,
                     std::vector<Weight> values, NodeId num_columns)
    : offsets_(std::move(offsets)),
      columns_(std::move(columns)),
      values_(std::move(values)),
      view_{
          .offsets = offsets_, .columns = columns_, .values = values_, .num_columns = num_columns} {
    check_csr_structure(view_.offsets, view_.columns, view_.num_columns);
    check_values(view_.values, view_.columns.size());
}

}  // namespace hippograph
