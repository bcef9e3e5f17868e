// The option table of `run`: each row has the letter, name, argument, and the plan fields that the option sets.
#ifndef COORDINATOR_OPTION_OPTION_H_
#define COORDINATOR_OPTION_OPTION_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// The sections of the help, in its order.
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
std::string_view TitleOf(OptionGroup group);  // title of the help section

// Stands for a size that depends on the clients' memory; larger than any record.
inline constexpr uint64_t kSizeByMemory = uint64_t{1} << 50;
inline constexpr uint32_t kMaxMemoryPercent = 10'000;

// How an argument is parsed. GivenOptions keeps sizes in bytes, and times in the unit of the kind.
enum class OptionValue {
  kFlag,          // none
  kWord,          // any text
  kWhole,         // a whole number in [min, max]
  kDecimal,       // a number in [min, max]
  kSeconds,       // 5, 5s, 500ms, 2min: seconds in [min, max]
  kMilliseconds,  // the same in ms
  kSizeKib,       // 64k, 1m; a bare number is KiB, as in IOzone
  kFileSize,   // the same, 2xram or 200%: two values, a size and a percentage of memory (0: a size was given)
  kSizeBytes,  // 64k, 1m; a bare number is bytes
  kSizeAndMs,  // 4m,20: two values
  kMapAdvice,  // a word, or IOzone's number for it
  kBinding,    // cores, cores:FIRST or numa: two values
  kStripe,     // 4, 4:1m or -1:1m: two values, the second one empty without ":"
  kEngine,     // a word, or sim:PARAMETERS: two values
  kRate,       // 500 or 100..500, in [min, max]: two values, the second one empty without ".."
  kDataContents,  // zero, incompressible or pattern:N: two values
};

// The phases that an option applies to. Giving an option that applies to no phase is an error.
enum class OptionFor {
  kEvery,
  kReading,        // operations that only read, and metadata operations on existing items
  kAnyReading,     // operations that read at all
  kAnyWriting,     // operations that write at all
  kRecords,        // operations on records of files, not metadata
  kOpening,        // operations on records, and metadata operations that write files
  kMixing,         // operations that read and write
  kCreating,       // operations that create files
  kMetadata,       // metadata operations
  kFinding,        // find only
  kSequentialMix,  // sequential-mix only
  kStriding,       // stride-read only
};

// A row of the table. The command line, the help, `--help iozone`, the messages and the test of docs/iozone.md all come
// from it, so a new option that only sets plan fields is one new row.
struct OptionSpec {
  std::string_view letter = {};    // "c", "+n"; empty: no IOzone letter
  std::string_view name = {};      // "close-in-timing"
  std::string_view argument = {};  // the help's name for it, "SIZE"; empty for flags
  OptionValue value = OptionValue::kFlag;
  double min = 0, max = 0;  // in the unit of `value`; sizes have only a min
  bool repeatable = false;  // giving it again adds a value; otherwise it is an error, except for flags
  bool commas = false;      // repeatable, and one value may be a comma-separated list: 1m,4m
  // The fields that the option sets, separated by blanks: "operation.engine=posix-aio operation.depth=$". `$` stands
  // for the value and may be omitted, `$2` for a second value; a flag's value is true. Paths begin with plan, files,
  // data, phase or operation. Empty: the option shapes the list of phases or selects where they run.
  std::string_view sets = {};
  OptionFor phases = OptionFor::kEvery;
  OptionGroup group = OptionGroup::kWhat;
  std::string_view help = {};

  bool is_flag() const { return value == OptionValue::kFlag; }
};

// All options of `run` except those of ClusterOptions, in the order of the help.
std::span<const OptionSpec> RunOptions();
const OptionSpec& OptionNamed(std::string_view name);  // REQUIRES: it exists

// ShortNameOf returns "-c", "-+n", or "--name" if there is no letter; BothNamesOf returns "-c (--close-in-timing)", for
// messages.
std::string ShortNameOf(const OptionSpec& option);
std::string BothNamesOf(const OptionSpec& option);

// Returns the value of a flag: "1", "true", "yes" or nothing turn it on, "0", "false" and "no" off, in any case.
// InvalidArgument: any other text.
absl::StatusOr<bool> FlagValue(const std::string& text);

// The options that the user gave. Names are those of the table; REQUIRES, for every function that takes one: it exists.
// A value type; options of the table are identified by their address, so `option` must be an element of RunOptions().
class GivenOptions {
 public:
  // InvalidArgument: the value is invalid, or the option is not repeatable and was given before. After an error, do not
  // use the object. A flag that is given as false (FlagValue) is turned off: it is not among the options that this has.
  // Of several values of a flag, the last counts.
  absl::Status Add(const OptionSpec& option, const std::string& text);
  absl::Status Add(std::string_view name, const std::string& text = "") {
    return Add(OptionNamed(name), text);
  }

  void Remove(std::string_view name) { given_.erase(&OptionNamed(name)); }
  // Adds the options of `other` that are neither given nor turned off here.
  void AddMissing(const GivenOptions& other);

  bool Has(std::string_view name) const { return given_.contains(&OptionNamed(name)); }
  size_t size() const { return given_.size(); }
  std::vector<const OptionSpec*> options() const;  // in the order of the table
  const std::set<const OptionSpec*>& turned_off() const { return turned_off_; }  // flags, in the same order

  // Returns every value that was given; sizes in bytes, numbers as given.
  std::vector<std::string> Texts(std::string_view name) const;
  // Returns the only value, or the last of several; empty: not given.
  std::string Text(std::string_view name) const;
  // The same as numbers; `otherwise` if the option was not given. REQUIRES: the option's values are whole numbers or
  // sizes; for Decimal, numbers or times.
  std::vector<uint64_t> Numbers(std::string_view name) const;
  uint64_t Number(std::string_view name, uint64_t otherwise) const;
  // Returns the last part of every value, for options whose values have several.
  std::vector<std::string> LastParts(std::string_view name) const;
  double Decimal(std::string_view name, double otherwise = 0) const;

  // Returns the parts of the first value, which `$` and `$2` stand for. REQUIRES: the option was given.
  const std::vector<std::string>& Parts(const OptionSpec& option) const { return given_.at(&option).front(); }

 private:
  std::map<const OptionSpec*, std::vector<std::vector<std::string>>> given_;
  std::set<const OptionSpec*> turned_off_;
};

}  // namespace iobench

#endif  // COORDINATOR_OPTION_OPTION_H_
