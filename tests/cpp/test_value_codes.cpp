#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.hpp"
#include "hippograph/value_codes.hpp"
#include "serving_graphs.hpp"

namespace hippograph::testing {

namespace {

void errors_are_those_stated(Checks& check, const std::vector<Weight>& values) {
    const CodeBook book = make_code_book(values);
    check.that(std::ranges::is_sorted(book.values), "the values of a book must rise");
    double largest = 0.0;
    for (const Weight value : values) {
        const double coded = book.values[encode(book, value)];
        largest = std::max(largest, value > 0.0F ? std::abs(coded / value - 1.0) : coded);
    }
    check.that(largest <= book.relative_error, "no value may be further off than stated");
}

std::vector<Weight> spread_values(double lowest_exponent, double highest_exponent) {
    Dice dice(5);
    std::vector<Weight> values;
    for (int i = 0; i < 3000; ++i) {
        const double share = static_cast<double>(dice.below(1U << 20U)) / (1U << 20U);
        values.push_back(static_cast<Weight>(
            std::pow(10.0, lowest_exponent + share * (highest_exponent - lowest_exponent))));
    }
    return values;
}

void few_values_are_exact(Checks& check) {
    std::vector<Weight> counts;
    for (int count = 1; count <= 200; ++count) counts.push_back(static_cast<Weight>(count));
    const CodeBook book = make_code_book(counts);
    check.that(book.relative_error == 0.0, "200 counts fit a book");
    for (const Weight count : counts) {
        check.that(book.values[encode(book, count)] == count, "a count must be kept");
    }
}

void many_values_are_near(Checks& check) {
    std::vector<Weight> mixed = spread_values(-0.1, 0.0);
    errors_are_those_stated(check, mixed);
    check.that(make_code_book(mixed).relative_error < 1e-3, "similarities lie close together");
    for (int count = 1; count <= 60; ++count) mixed.push_back(static_cast<Weight>(count));
    errors_are_those_stated(check, mixed);
    errors_are_those_stated(check, spread_values(-12.0, 12.0));
    errors_are_those_stated(check, spread_values(-37.0, 38.0));
}

void ends_of_the_range_are_kept(Checks& check) {
    using Limits = std::numeric_limits<float>;
    const std::vector<Weight> ends{0.0F,          -0.0F, Limits::denorm_min(),
                                   Limits::min(), 1.0F,  Limits::max()};
    const CodeBook book = make_code_book(ends);
    check.that(book.values[encode(book, Limits::max())] == Limits::max(), "the largest float");
    check.that(book.values[encode(book, -0.0F)] == 0.0F, "-0 is 0");
    const CodeBook none = make_code_book({});
    check.that(none.values[encode(none, 3.0F)] == 0.0F, "without values, a book of zeros");
}

}  // namespace

void test_value_codes(Checks& check) {
    few_values_are_exact(check);
    many_values_are_near(check);
    ends_of_the_range_are_kept(check);
}

}  // namespace hippograph::testing
