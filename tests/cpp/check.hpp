// A few lines of test support: say what must hold, and where it did not.
#pragma once

#include <cstdio>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>

namespace hippograph::testing {

class Checks {
   public:
    void that(bool holds, std::string_view what,
              std::source_location where = std::source_location::current()) {
        ++num_checks_;
        if (holds) return;
        ++num_failures_;
        std::fprintf(stderr, "%s:%u: %.*s\n", where.file_name(),
                     static_cast<unsigned>(where.line()), static_cast<int>(what.size()),
                     what.data());
    }

    // action() must throw Error, with `fragment` in its message.
    template <typename Error, typename Action>
    void throws(Action&& action, std::string_view fragment,
                std::source_location where = std::source_location::current()) {
        try {
            action();
        } catch (const Error& error) {
            const std::string message = error.what();
            that(message.find(fragment) != std::string::npos,
                 "another message than expected: " + message, where);
            return;
        }
        that(false, "no exception; expected one about: " + std::string(fragment), where);
    }

    // A suite that checks nothing has failed.
    [[nodiscard]] bool passed() const { return num_checks_ > 0 && num_failures_ == 0; }
    [[nodiscard]] int num_checks() const { return num_checks_; }

   private:
    int num_checks_ = 0;
    int num_failures_ = 0;
};

}  // namespace hippograph::testing
