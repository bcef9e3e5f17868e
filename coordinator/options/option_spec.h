// What a row of the option table says: letter, name, argument, and what the option sets. Its functions are in option.cc.
#ifndef COORDINATOR_OPTIONS_OPTION_SPEC_H_
#define COORDINATOR_OPTIONS_OPTION_SPEC_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
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
  kIozone,
  // Of other commands than `run`.
  kPlain,  // CLI11's own section
  kChecks,
  kLimits,
  kReport,
  kQuestions,
  kMeasurement,
  kObservation,
  kResult,
  kHidden  // not shown
};
std::string_view TitleOf(OptionGroup group);  // title of the help section; empty: kHidden

// Stands for a size that depends on the clients' memory; larger than any record.
inline constexpr uint64_t kSizeByMemory = uint64_t{1} << 50;
inline constexpr uint32_t kMaxMemoryPercent = 10'000;

// The third part of a rate that is in bytes per second.
inline constexpr std::string_view kInBytes = "bytes";

// How an argument is parsed. GivenOptions keeps sizes in bytes, and times in the unit of the kind. Options that fill a
// member of their command's struct are flags, words, whole numbers, decimals or seconds.
enum class OptionValue {
  kFlag,          // none
  kWord,          // any text
  kWhole,         // a whole number in [min, max]
  kDecimal,       // a number in [min, max]
  kSeconds,       // 5, 5s, 500ms, 2min: seconds in [min, max]
  kMilliseconds,  // the same in ms
  kSizeKib,       // 64k, 1m; a bare number is KiB, as in IOzone
  kRecordSize,    // the same, or with a share, 64k:30: two values, a size and a percentage (empty: none was given)
  kFileSize,   // a size as in kSizeKib, 2xram or 200%: two values, a size and a percentage of memory (0: a size was given)
  kSizeBytes,  // 64k, 1m; a bare number is bytes
  kSizeAndMs,  // 4m,20: two values
  kMapAdvice,  // a word, or IOzone's number for it
  kBinding,    // cores, cores:FIRST or numa: two values
  kStripe,     // 4, 4:1m or -1:1m: two values, the second one empty without ":"
  kEngine,     // a word, or sim:PARAMETERS: two values
  kRate,       // 500 or 100..500, in [min, max]: two values, the second one empty without ".."; 50MiB/s: bytes per second,
               // with kInBytes as the third value
  kDataContents,  // zero, same, incompressible or pattern:N: two values
};

// The phases that an option applies to. Giving an option that applies to no phase is an error, or noted (OptionSpec).
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
  kRandomOrder,    // operations in random order on existing records
};

// The commands that have an option, as bits.
enum OptionCommand : uint32_t {
  kForRun = 1 << 0,
  kForPreflight = 1 << 1,
  kForValidate = 1 << 2,
  kForCapacity = 1 << 3,
  kForWorker = 1 << 4,
  kForReport = 1 << 5,
  kForCompare = 1 << 6,
  kForHistory = 1 << 7,
  kForObserve = 1 << 8,
  kForSelftest = 1 << 9,
  kForClean = 1 << 10,
  kForTranslate = 1 << 11,
};
using OptionCommands = uint32_t;

// The member of a command's struct that an option fills: an accessor, with the type of the struct, which whoever passes
// an object checks.
template <typename Struct>
inline constexpr char kStructTag = 0;
template <typename Value>
using Accessor = Value* (*)(void*);
struct OptionField {
  const char* of = nullptr;  // &kStructTag of the struct; null: the option fills none
  std::variant<Accessor<bool>, Accessor<uint32_t>, Accessor<double>, Accessor<std::string>,
               Accessor<std::vector<std::string>>>
      access = Accessor<bool>(nullptr);
};
template <auto Member>
struct FieldOf;
template <typename Struct, typename Value, Value Struct::*Member>
struct FieldOf<Member> {
  static constexpr OptionField kField{
      &kStructTag<Struct>,
      Accessor<Value>([](void* object) -> Value* { return &(static_cast<Struct*>(object)->*Member); })};
};
// kInto<&ReportCommand::verbose>: the option is kept in this member.
template <auto Member>
inline constexpr OptionField kInto = FieldOf<Member>::kField;

// A row of the table. The command line, the help of each command, `--help iozone`, the man page, completion, messages and
// the test of docs/iozone.md all come from it. An option either describes what is measured (plan_options.h): GivenOptions
// keeps it, and it sets plan fields or shapes the list of phases. Or it fills a member of its command's struct
// (command_table.cc).
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
  // If no phase on data uses the option, a note of the plan says so, where others are refused: IOzone's users give it with
  // reads, too.
  bool noted_if_unused = false;
  bool adds = false;  // repeatable: each value is added to the field, which has several
  OptionGroup group = OptionGroup::kWhat;
  std::string_view help = {};
  OptionCommands commands = kForRun | kForPreflight | kForCapacity;  // which accept it
  OptionCommands hidden_by = kForPreflight | kForCapacity;           // of plan options: whose help leaves it out
  std::string_view capacity_help = {};                // in place of `help` where `capacity` means or defaults otherwise
  std::span<const std::string_view> choices = {};     // all values that it may have; empty: any
  OptionField field = {};                             // where the value goes
  OptionField given = {};                             // set to true if the option is given
  bool positional = false;                            // words that belong to no option; `name` stands for them in the help
  bool required = false;
  bool several_words = false;                         // takes all words up to the next option

  bool is_flag() const { return value == OptionValue::kFlag; }
};

// ShortNameOf returns "-c", "-+n", or "--name" if there is no letter; BothNamesOf returns "-c (--close-in-timing)", for
// messages.
std::string ShortNameOf(const OptionSpec& option);
std::string BothNamesOf(const OptionSpec& option);

// Returns the value of a flag: "1", "true", "yes" or nothing turn it on, "0", "false" and "no" off, in any case.
// InvalidArgument: any other text.
absl::StatusOr<bool> FlagValue(const std::string& text);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_OPTION_SPEC_H_
