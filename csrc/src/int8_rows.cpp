#include "hippograph/int8_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "hippograph/types.hpp"

namespace hippograph {

namespace {

constexpr float kLargestCode = 127.0F;
constexpr std::int64_t kRowsPerItem = 512;

double squared_length(const float* row, std::int64_t dimension) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < dimension; ++i) sum += double{row[i]} * double{row[i]};
    return sum;
}

// Rounded up: the bound must hold after the conversion to float32 too.
float row_error(double squared_residual) {
    // The residual of each element is exact to 2^-53 of it, the sum to 2^-36 for 65,536 elements.
    const double residual = std::sqrt(squared_residual * (1.0 + 1e-9));
    const double error = kLongestRow * residual + residual * residual / 2.0 + kRoundingSlack;
    return std::nextafter(static_cast<float>(error), std::numeric_limits<float>::infinity());
}

void quantize_row(const float* row, std::int64_t dimension, std::int8_t* codes, float& scale,
                  float& error) {
    float largest = 0.0F;
    for (std::int64_t i = 0; i < dimension; ++i) largest = std::max(largest, std::abs(row[i]));
    if (largest == 0.0F) return;
    scale = largest / kLargestCode;
    const float inverse = kLargestCode / largest;
    double squared_residual = 0.0;
    for (std::int64_t i = 0; i < dimension; ++i) {
        const float scaled = std::clamp(row[i] * inverse, -kLargestCode, kLargestCode);
        // Half away from zero, whatever the rounding mode of the caller.
        const auto code = static_cast<std::int32_t>(scaled + std::copysign(0.5F, scaled));
        codes[i] = static_cast<std::int8_t>(std::clamp(code, -127, 127));
        const double residual = double{row[i]} - double{scale} * static_cast<double>(codes[i]);
        squared_residual += residual * residual;
    }
    error = row_error(squared_residual);
}

std::string describe(double squared) {
    std::string text = std::to_string(squared);
    if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace

void check_shape(const FloatRows& rows) {
    if (rows.num_rows < 0 || rows.num_rows > std::numeric_limits<NodeId>::max()) {
        throw std::invalid_argument("there are " + std::to_string(rows.num_rows) +
                                    " rows; at most 2147483647 can be numbered");
    }
    if (rows.dimension < 0 || rows.dimension > kMaxDimension) {
        throw std::invalid_argument("rows have " + std::to_string(rows.dimension) +
                                    " elements; at most " + std::to_string(kMaxDimension) +
                                    " can be compared");
    }
    if (rows.values.size() != position(rows.num_rows * rows.dimension)) {
        throw std::invalid_argument("there are " + std::to_string(rows.values.size()) +
                                    " values for " + std::to_string(rows.num_rows) + " rows of " +
                                    std::to_string(rows.dimension));
    }
}

Int8Arrays quantize_rows(const FloatRows& rows, int num_threads,
                         const CheckInterrupt& check_interrupt) {
    check_shape(rows);
    Int8Arrays result{.codes = std::vector<std::int8_t>(rows.values.size()),
                      .scales = std::vector<float>(position(rows.num_rows)),
                      .errors = std::vector<float>(position(rows.num_rows))};
    const std::int64_t num_items = (rows.num_rows + kRowsPerItem - 1) / kRowsPerItem;
    std::vector<std::int64_t> first_bad(position(num_items), -1);
    const auto body = [&](std::int64_t item, int worker) {
        if (worker == 0) check_interrupt();
        const std::int64_t end = std::min(rows.num_rows, (item + 1) * kRowsPerItem);
        for (std::int64_t i = item * kRowsPerItem; i < end; ++i) {
            const double squared = squared_length(rows.row(i), rows.dimension);
            if (!(squared == 0.0 || std::abs(squared - 1.0) <= kSquaredLengthSlack)) {
                first_bad[position(item)] = i;
                return;
            }
            quantize_row(rows.row(i), rows.dimension, result.codes.data() + i * rows.dimension,
                         result.scales[position(i)], result.errors[position(i)]);
        }
    };
    parallel_for(num_items, resolve_num_threads(num_threads, num_items), body);
    for (const std::int64_t bad : first_bad) {
        if (bad < 0) continue;
        throw std::invalid_argument(
            "row " + std::to_string(bad) + " has the squared length " +
            describe(squared_length(rows.row(bad), rows.dimension)) +
            "; rows must have length 1, or be all zero; divide each by its length");
    }
    return result;
}

}  // namespace hippograph
