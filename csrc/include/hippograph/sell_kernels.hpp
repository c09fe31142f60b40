// The inner loops over a SellMatrix, each in three widths of vectors that do the same operations in
// the same order and so give the same bytes (simd.hpp). They trust their arguments.
//
// Sixteen rows form a slice; entry e of a slice is a column of sixteen values, one per row, and all
// loops go over slices [first, last). "Relax" steps work in float32 and are unproven; "certify"
// steps add in float64 and report what a proof of the error needs (exact_solver.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hippograph {

inline constexpr std::size_t kLanes = 16;

// Loops fetch this many entry columns ahead (the processor alone does not keep two streams going
// from memory): arrays of entries go on for as many after the last.
inline constexpr std::size_t kColumnsAhead = 48;

struct SellSlices {
    const std::int64_t* offsets;  // entry columns of slice s: [offsets[s], offsets[s + 1])
    const std::int32_t* columns;
    const float* values;  // 0 after the end of a row
};

// A SellMatrix as the kernels see it; arrays by rank.
struct SellGraph {
    SellSlices slices;
    const double* degrees;
    const float* inverse_degrees;
    const float* late_shares;
};

// The unknowns are u = x / d. One relax step of a row: u += omega ((pull W u + restart) / d - u).
struct RelaxFactors {
    float pull;  // 1 - r
    float omega;
};

// Sums by lane over the rows of a certify step, which sets u to t / d with t = pull W u + restart,
// and one vector's scores to t. See exact_solver.hpp.
struct CertifySums {
    double rounding[kLanes];  // |t - d u|; of one vector times 1 - late share
    double change[kLanes];    // late share times |t - d u before|
    double mass[kLanes];      // t
};

struct SellKernels {
    // `restart` is null or holds one slice's r v (then last = first + 1).
    void (*relax)(const SellGraph&, const RelaxFactors&, const float* restart, float* u,
                  std::int64_t first, std::int64_t last);
    void (*certify)(const SellGraph&, double pull, const double* restart, float* u, float* scores,
                    std::int64_t first, std::int64_t last, CertifySums& sums);

    // Sixteen vectors at once: u holds 16 numbers a rank, `restart` 16 a row; sums are by vector.
    void (*relax_block)(const SellGraph&, const RelaxFactors&, const float* restart, float* u,
                        std::int64_t first, std::int64_t last);
    void (*certify_block)(const SellGraph&, double pull, const double* restart, float* u,
                          std::int64_t first, std::int64_t last, CertifySums& sums);

    // Entries [begin, end) of one long row: sum of values times u, by lane and then folded; and the
    // same for sixteen vectors.
    double (*long_row)(const std::int32_t* columns, const float* values, const float* u,
                       std::int64_t begin, std::int64_t end);
    void (*long_row_block)(const std::int32_t* columns, const float* values, const float* u,
                           std::int64_t begin, std::int64_t end, double* sums);

    // scores = max(scores, 0) scale; and max(d u, 0) scale in place of u, one scale per vector.
    void (*scale)(double scale, float* scores, std::int64_t first, std::int64_t last);
    void (*scale_block)(const double* degrees, const double* scales, float* u, std::int64_t first,
                        std::int64_t last);

    // products[16 (s - first) + lane] = sum of values times x over each row.
    void (*multiply)(const SellSlices&, const float* x, std::int64_t first, std::int64_t last,
                     double* products);
};

// Those for simd_level().
[[nodiscard]] const SellKernels& sell_kernels() noexcept;

}  // namespace hippograph
