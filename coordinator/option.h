// The options of `run` as data: a row says letter, name, argument, and which fields of the plan it fills.
#ifndef COORDINATOR_OPTION_H_
#define COORDINATOR_OPTION_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

enum class OptionGroup {
  kWhat,
  kAuto,
  kTimed,
  kEngine,
  kBetween,
  kData,
  kMetadata,
  kCaches,
  kWhere,
  kIozone
};
std::string_view TitleOf(OptionGroup group);  // of the help's section

// How an argument is read.
enum class OptionValue {
  kFlag,          // none
  kWord,          // any text
  kWhole,         // a whole number from least to most
  kDecimal,       // a number from least to most
  kSeconds,       // 5, 5s, 500ms, 2min: seconds from least to most
  kMilliseconds,  // the same in milliseconds
  kSizeKib,       // 64k, 1m; a bare number is KiB, as in IOzone
  kSizeBytes,     // 64k, 1m; a bare number is bytes
  kSizeAndMs,     // 4m,20: two values
  kMapAdvice,     // a word, or IOzone's number for it
  kBinding,       // cores, cores:FIRST or numa: two values
  kStripe,        // 4, 4:1m or -1:1m: two values
  kDataContents,  // zero, incompressible or pattern:N: two values
};

// Phases that an option is for. One that is given and finds no such phase is an error, not silently nothing.
enum class OptionFor {
  kEvery,
  kReading,        // operations that only read, and those on names that were there before
  kAnyReading,     // that read at all
  kAnyWriting,     // that write at all
  kRecords,        // on the records of files, not on names
  kOpening,        // on records, and of those on names the ones that write into files
  kMixing,         // that read and write
  kCreating,       // that make files
  kMetadata,       // that work on names
  kFinding,        // find alone
  kSequentialMix,  // sequential-mix alone
  kStriding,       // stride-read alone
};

struct OptionSpec {
  std::string_view letter = {};  // "c", "+n"; empty: IOzone has none
  std::string_view name = {};    // "close-in-timing"
  std::string_view argument = {};
  OptionValue value = OptionValue::kFlag;
  double least = 0, most = 0;  // of a size only the least
  bool repeatable = false;
  bool commas = false;  // repeatable, and one value may be several with commas between: 1m,4m
  // What it sets, separated by blanks: "operation.engine=posix-aio operation.depth=$". `$` is the value ($2 a second
  // one), which may be left out; a flag's value is true. Paths begin with plan, files, data, phase or operation. Empty:
  // it shapes the list of phases, or says where they run.
  std::string_view sets = {};
  OptionFor phases = OptionFor::kEvery;
  OptionGroup group = OptionGroup::kWhat;
  std::string_view help = {};

  bool is_flag() const { return value == OptionValue::kFlag; }
};

// All of `run`'s options but those of PlaceOptions, in the order of the help.
std::span<const OptionSpec> RunOptions();
const OptionSpec& OptionNamed(std::string_view name);  // REQUIRES: there is one

// "-c", "-+n", or "--name" where it has no letter; "-c (--close-in-timing)" for messages.
std::string ShortNameOf(const OptionSpec& option);
std::string BothNamesOf(const OptionSpec& option);

// What was typed. Names are those of the table.
class GivenOptions {
 public:
  // InvalidArgument: the value cannot be read, or the option was given before and is not repeatable.
  absl::Status Add(const OptionSpec& option, const std::string& text);
  absl::Status Add(std::string_view name, const std::string& text = "") {
    return Add(OptionNamed(name), text);
  }

  void Remove(std::string_view name) { given_.erase(&OptionNamed(name)); }
  // Options of `other` that are not given here.
  void AddMissing(const GivenOptions& other) { given_.insert(other.given_.begin(), other.given_.end()); }

  bool Has(std::string_view name) const { return given_.contains(&OptionNamed(name)); }
  size_t size() const { return given_.size(); }
  std::vector<const OptionSpec*> options() const;  // in the order of the table

  // Every text that was given; sizes in bytes, numbers as they stand.
  std::vector<std::string> Texts(std::string_view name) const;
  std::string Text(std::string_view name) const;  // the only one; empty: not given
  std::vector<uint64_t> Numbers(std::string_view name) const;
  uint64_t Number(std::string_view name, uint64_t otherwise) const;
  double Decimal(std::string_view name, double otherwise = 0) const;

  // The value's parts, as `$` and `$2` stand for them.
  const std::vector<std::string>& Parts(const OptionSpec& option) const { return given_.at(&option).front(); }

 private:
  std::map<const OptionSpec*, std::vector<std::vector<std::string>>> given_;
};

}  // namespace iobench

#endif  // COORDINATOR_OPTION_H_
