#include "hippograph/value_codes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace hippograph {

namespace {

// Values whose bits agree but for the last ten share a bin: a relative width of 2^-13.
constexpr unsigned kBinShift = 10;
constexpr std::size_t kNumBins = std::size_t{1} << (31U - kBinShift);
constexpr int kWidthSteps = 40;  // of the bisection; each halves the interval

struct Bin {
    double sum = 0.0;
    std::int64_t count = 0;
    float least = 0.0F;
    float most = 0.0F;
};

std::size_t bin_of(float value) noexcept {
    // A matrix may hold -0, whose bits are no bin's; the sum is +0.
    return std::bit_cast<std::uint32_t>(value + 0.0F) >> kBinShift;
}

std::vector<Bin> occupied_bins(std::span<const Weight> values) {
    std::vector<Bin> bins(kNumBins);
    for (const float value : values) {
        Bin& bin = bins[bin_of(value)];
        bin.sum += value;
        bin.least = bin.count == 0 ? value : std::min(bin.least, value);
        bin.most = std::max(bin.most, value);
        ++bin.count;
    }
    std::erase_if(bins, [](const Bin& bin) { return bin.count == 0; });
    return bins;
}

// Calls visit(first, last) for runs of bins whose values lie within a factor 1 + width.
template <typename Visit>
std::size_t cover(const std::vector<Bin>& bins, double width, Visit&& visit) {
    std::size_t num_runs = 0;
    for (std::size_t first = 0; first < bins.size();) {
        const double limit = static_cast<double>(bins[first].least) * (1.0 + width);
        std::size_t last = first + 1;
        while (last < bins.size() && static_cast<double>(bins[last].most) <= limit) ++last;
        visit(first, last);
        ++num_runs;
        first = last;
    }
    return num_runs;
}

std::size_t num_runs(const std::vector<Bin>& bins, double width) {
    return cover(bins, width, [](std::size_t, std::size_t) {});
}

// The smallest width at which kNumCodes runs cover all bins.
double smallest_width(const std::vector<Bin>& bins) {
    if (bins.size() <= kNumCodes) return 0.0;
    double too_small = 0.0;
    double enough = 1e-4;
    while (num_runs(bins, enough) > kNumCodes) enough *= 4.0;
    for (int step = 0; step < kWidthSteps; ++step) {
        const double middle = 0.5 * (too_small + enough);
        (num_runs(bins, middle) > kNumCodes ? too_small : enough) = middle;
    }
    return enough;
}

}  // namespace

CodeBook make_code_book(std::span<const Weight> values) {
    CodeBook book;
    const std::vector<Bin> bins = occupied_bins(values);
    if (bins.empty()) return book;
    std::size_t code = 0;
    cover(bins, smallest_width(bins), [&](std::size_t first, std::size_t last) {
        double sum = 0.0;
        std::int64_t count = 0;
        for (std::size_t bin = first; bin < last; ++bin) {
            sum += bins[bin].sum;
            count += bins[bin].count;
        }
        const double least = bins[first].least;
        const double most = bins[last - 1].most;
        // The mean keeps the total weight; clamped, it stays within the run in spite of rounding.
        const auto value =
            static_cast<float>(std::clamp(sum / static_cast<double>(count), least, most));
        book.values[code++] = value;
        if (least > 0.0) {
            book.relative_error = std::max(
                {book.relative_error, std::abs(value / least - 1.0), std::abs(value / most - 1.0)});
        }
    });
    std::fill(book.values.begin() + static_cast<std::ptrdiff_t>(code), book.values.end(),
              book.values[code - 1]);
    return book;
}

std::uint8_t encode(const CodeBook& book, Weight value) noexcept {
    const auto above = std::ranges::lower_bound(book.values, value);
    auto code = static_cast<std::size_t>(above - book.values.begin());
    if (code == kNumCodes) {
        code = kNumCodes - 1;
    } else if (code > 0 && value - book.values[code - 1] < book.values[code] - value) {
        --code;
    }
    return static_cast<std::uint8_t>(code);
}

}  // namespace hippograph
