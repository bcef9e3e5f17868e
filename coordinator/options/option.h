// The options of a plan that a user gave, by names that are checked when the program is compiled.
#ifndef COORDINATOR_OPTIONS_OPTION_H_
#define COORDINATOR_OPTIONS_OPTION_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/options/option_spec.h"
#include "coordinator/options/plan_options.h"

namespace iobench {

// The name of a row of kPlanOptions. A literal that names no row does not compile.
class OptionName {
 public:
  consteval OptionName(const char* name) : spec_(Find(name)) {}  // NOLINT: a literal is a name
  // REQUIRES: `row` is an element of kPlanOptions.
  constexpr explicit OptionName(const OptionSpec& row) : spec_(&row) {}
  constexpr const OptionSpec& spec() const { return *spec_; }
  constexpr std::string_view text() const { return spec_->name; }

 private:
  static consteval const OptionSpec* Find(std::string_view name) {
    for (const OptionSpec& option : kPlanOptions) {
      if (option.name == name) return &option;
    }
    throw "no option of kPlanOptions has this name";
  }

  const OptionSpec* spec_;
};

// For messages.
constexpr const OptionSpec& OptionNamed(OptionName name) {
  return name.spec();
}

// True if the option has one of these names.
bool IsAmong(const OptionSpec& option, std::span<const OptionName> names);

// The options that the user gave. A value type; options of the table are identified by their address, so `option` must
// be an element of kPlanOptions.
class GivenOptions {
 public:
  // InvalidArgument: the value is invalid, or the option is not repeatable and was given before. After an error, do not
  // use the object. A flag that is given as false (FlagValue) is turned off: it is not among the options that this has.
  // Of several values of a flag, the last counts.
  absl::Status Add(const OptionSpec& option, const std::string& text);
  absl::Status Add(OptionName name, const std::string& text = "") { return Add(name.spec(), text); }

  void Remove(OptionName name) { given_.erase(&name.spec()); }
  // Adds the options of `other` that are neither given nor turned off here.
  void AddMissing(const GivenOptions& other);

  bool Has(OptionName name) const { return given_.contains(&name.spec()); }
  size_t size() const { return given_.size(); }
  std::vector<const OptionSpec*> options() const;  // in the order of the table
  const std::set<const OptionSpec*>& turned_off() const { return turned_off_; }  // flags, in the same order

  // Returns every value that was given; sizes in bytes, numbers as given.
  std::vector<std::string> Texts(OptionName name) const;
  // Returns the only value, or the last of several; empty: not given.
  std::string Text(OptionName name) const;
  // The same as numbers; `otherwise` if the option was not given. REQUIRES: the option's values are whole numbers or
  // sizes; for Decimal, numbers or times.
  std::vector<uint64_t> Numbers(OptionName name) const;
  uint64_t Number(OptionName name, uint64_t otherwise) const;
  // Returns the last part of every value, for options whose values have several.
  std::vector<std::string> LastParts(OptionName name) const;
  double Decimal(OptionName name, double otherwise = 0) const;

  // What the user should know about the values, one line each.
  const std::vector<std::string>& notes() const { return notes_; }

  // Returns the number of values that were given.
  size_t Count(const OptionSpec& option) const {
    const auto found = given_.find(&option);
    return found == given_.end() ? 0 : found->second.size();
  }
  // Returns the parts of the first value, which `$` and `$2` stand for. REQUIRES: the option was given.
  const std::vector<std::string>& Parts(const OptionSpec& option) const { return given_.at(&option).front(); }
  // The same of every value.
  const std::vector<std::vector<std::string>>& AllParts(const OptionSpec& option) const { return given_.at(&option); }

 private:
  std::map<const OptionSpec*, std::vector<std::vector<std::string>>> given_;
  std::set<const OptionSpec*> turned_off_;
  std::vector<std::string> notes_;
};

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_OPTION_H_
