// Adds options to a command of CLI11, in a section of its help.
#ifndef COORDINATOR_COMMAND_LINE_OPTION_ADDER_H_
#define COORDINATOR_COMMAND_LINE_OPTION_ADDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "coordinator/option/option.h"

namespace iobench {

inline constexpr double kMaxTimeoutSeconds = 1e7;

// In place of CLI11's Range, which accepts "nan" and prints 1e12 as 1000000000000.000000. Adds no text to the help.
inline CLI::Validator InRange(double min, double max) {
  const auto check = [min, max](std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= min && value <= max) return std::string();
    return absl::StrCat("\"", text, "\" is not a number from ", min, " to ", max);
  };
  return CLI::Validator(check, "");
}

// For whole numbers, as `->transform(WholeInRange(1, 8))`: CLI11 reads "010" as 8, and refuses "08".
inline CLI::Validator WholeInRange(uint32_t min, uint32_t max) {
  const auto take = [min, max](std::string& text) {
    uint32_t value = 0;
    if (!absl::SimpleAtoi(text, &value) || value < min || value > max) {
      return absl::StrCat("\"", text, "\" is not a number from ", min, " to ", max);
    }
    text = absl::StrCat(value);
    return std::string();
  };
  return CLI::Validator(take, "");
}

// A flag that accepts the values of FlagValue, and no others. CLI11 alone would take many more for true: 7, on, +.
inline CLI::Option* AddFlag(CLI::App& app, const char* names, bool& value, const char* help) {
  const auto take = [](std::string& text) {
    const absl::StatusOr<bool> on = FlagValue(text);
    if (!on.ok()) return std::string(on.status().message());
    text = *on ? "true" : "false";
    return std::string();
  };
  return app.add_flag(names, value, help)->transform(CLI::Validator(take, ""));
}

// Borrows the command; options store into variables that must outlive the parsing.
class Adder {
 public:
  Adder(CLI::App& app, std::string group) : app_(app), group_(std::move(group)) {}
  template <typename T>
  CLI::Option* Value(const char* names, T& value, const char* help, const char* type) {
    return app_.add_option(names, value, help)->group(group_)->type_name(type)->allow_extra_args(false);
  }
  // Parses 5, 5s, 500ms, 2min.
  CLI::Option* Seconds(const char* name, double& value, double min, const char* help) {
    const auto take = [&value, name, min](const std::string& text) {
      const absl::StatusOr<double> seconds = ParseSeconds(text, 1);
      if (!seconds.ok()) throw CLI::ValidationError(name, std::string(seconds.status().message()));
      if (*seconds < min || *seconds > kMaxTimeoutSeconds) {
        throw CLI::ValidationError(name, absl::StrCat("\"", text, "\" is not a time from ", min, " to ",
                                                      kMaxTimeoutSeconds, " seconds"));
      }
      value = *seconds;
    };
    return app_.add_option_function<std::string>(name, take, help)
        ->group(group_)
        ->type_name("S")
        ->allow_extra_args(false);
  }
  CLI::Option* Flag(const char* names, bool& value, const char* help) {
    return AddFlag(app_, names, value, help)->group(group_);
  }

 private:
  CLI::App& app_;
  std::string group_;
};

}  // namespace iobench

#endif  // COORDINATOR_COMMAND_LINE_OPTION_ADDER_H_
