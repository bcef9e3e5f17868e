#include "coordinator/options/option_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace iobench {
namespace {

constexpr std::string_view kOneSchedule = "both determine when ops begin";
constexpr std::string_view kOneLane =
    "automatic mode runs one lane per worker; with -t, use lists of -s and -r instead";
constexpr std::string_view kOneLaneLatency =
    "IOzone's -N is for one lane; the latency lines of the report need no option";
constexpr std::string_view kOneEngine = "an operation has one engine";
constexpr std::string_view kWhole =
    "deduplicated records are identical, so they cannot carry their writer's stamp";
constexpr std::string_view kOneContent = "they set different contents for the same bytes";
constexpr std::string_view kTraceRules = "the trace sets offsets and sizes";
constexpr std::string_view kAllPaths =
    "a run that uses kept data has workers for each path, and this one uses all workers on every path";
constexpr std::string_view kMixSays = "the mix says which operations run, and with which records";
constexpr std::string_view kMixRates = "the mix determines when ops begin";
constexpr std::string_view kOneWorkload =
    "a soak repeats one workload, whose rates it compares over time: name operations, a size and a record";
constexpr std::string_view kVerified =
    "a soak verifies what it reads, and these data carry no stamp of their writer";
constexpr std::string_view kReadOnly = "your own files are only read";

// clang-format off
constexpr ForbiddenPair kForbidden[] = {
    {"auto",       "lanes",     kOneLane},
    {"auto",       "max-lanes", kOneLane},
    {"min-size",   "lanes",     kOneLane},
    {"min-size",   "max-lanes", kOneLane},
    {"max-size",   "lanes",     kOneLane},
    {"max-size",   "max-lanes", kOneLane},
    {"min-record", "lanes",     kOneLane},
    {"min-record", "max-lanes", kOneLane},
    {"max-record", "lanes",     kOneLane},
    {"max-record", "max-lanes", kOneLane},
    {"lanes",      "max-lanes", "one lists numbers of lanes, the other sweeps over a range of them"},
    {"show-latency", "lanes",     kOneLaneLatency},
    {"show-latency", "max-lanes", kOneLaneLatency},
    {"show-latency", "show-ops", "both set the unit of the figures"},
    {"auto-read-write", "op",     "it stands for -a -z -i 0 -i 1"},
    {"size",       "min-size",  "one lists sizes, the other starts a range"},
    {"size",       "max-size",  "one lists sizes, the other ends a range"},
    {"record",     "min-record", "one lists records, the other starts a range"},
    {"record",     "max-record", "one lists records, the other ends a range"},
    {"file",       "files",     "one names a single file, the other one file per lane"},
    {"file",       "lanes",     "several lanes cannot use one file; use -F or --path"},
    {"file",       "max-lanes", "several lanes cannot use one file; use -F or --path"},
    {"files",      "auto",      "automatic mode runs one lane per worker; use -f or --path"},
    {"file",       "path",      "both name the directory"},
    {"files",      "path",      "both name the directories"},
    {"rate",       "lane-rate", "both set the rate of the open loop"},
    {"rate",       "ops-per-second", kOneSchedule},
    {"rate",       "think",     kOneSchedule},
    {"rate",       "burst",     kOneSchedule},
    {"rate",       "read-trace", kOneSchedule},
    {"lane-rate",  "ops-per-second", kOneSchedule},
    {"lane-rate",  "think",     kOneSchedule},
    {"lane-rate",  "burst",     kOneSchedule},
    {"lane-rate",  "read-trace", kOneSchedule},
    {"mmap",       "aio",       kOneEngine},
    {"mmap",       "aio-copy",  kOneEngine},
    {"mmap-async", "aio",       kOneEngine},
    {"mmap-async", "aio-copy",  kOneEngine},
    {"mmap-sync",  "aio",       kOneEngine},
    {"mmap-sync",  "aio-copy",  kOneEngine},
    {"aio",        "aio-copy",  "one copies, the other does not"},
    {"engine",     "mmap",      kOneEngine},
    {"engine",     "mmap-async", kOneEngine},
    {"engine",     "aio",       kOneEngine},
    {"engine",     "aio-copy",  kOneEngine},
    {"depth",      "aio",       "both set the number of ops in flight"},
    {"depth",      "aio-copy",  "both set the number of ops in flight"},
    {"mmap-async", "mmap-sync", "only one kind of msync per op is possible"},
    {"sync",       "dsync",     "O_SYNC includes O_DSYNC"},
    {"jitter",     "jitter-every", "both set the interval"},
    {"buffers",    "buffer-bytes", "both set the amount of memory"},
    {"verify",     "dedupe",        kWhole},
    {"verify",     "dedupe-within", kWhole},
    {"verify",     "verify-pattern", kOneContent},
    {"verify",     "data",          kOneContent},
    {"verify-pattern", "data",      kOneContent},
    {"verify-pattern", "compress",  kOneContent},
    {"verify-pattern", "dedupe",    kOneContent},
    {"data",       "compress",      kOneContent},
    {"data",       "dedupe",        kOneContent},
    {"read-trace", "auto",          kTraceRules},
    {"read-trace", "stride",        kTraceRules},
    {"read-trace", "jitter",        kTraceRules},
    {"read-trace", "jitter-every",  kTraceRules},
    {"read-trace", "verify",        "a trace may read what was never written"},
    {"read-trace", "verify-pattern", "a trace may read what was never written"},
    {"write-trace", "auto",         "every phase would write the same files"},
    {"bind",       "bind-from",     "both set the first lane's processor"},
    {"write-trace", "read-trace",   "a replayed trace exists already"},
    {"no-stonewall", "stop-at-stonewall", "one includes stragglers, the other stops them"},
    {"existing",   "keep",          kReadOnly},
    {"existing",   "data",          kReadOnly},
    {"existing",   "shared-file",   "each lane reads one of the files"},
    {"existing",   "files-per-lane", "each lane reads one of the files"},
    {"existing",   "path",          "the files already set the directories"},
    {"existing",   "read-existing", "both name the files"},
    {"existing",   "keep-existing", kReadOnly},
    {"existing",   "rotate-clients", "the files belong to no client"},
    {"existing",   "verify",        "the contents of your own files are not known"},
    {"existing",   "verify-pattern", "the contents of your own files are not known"},
    {"read-existing", "keep",       kReadOnly},
    {"read-existing", "data",       kReadOnly},
    {"read-existing", "shared-file", "each lane reads one of the files"},
    {"read-existing", "files-per-lane", "each lane reads one of the files"},
    {"read-existing", "keep-existing", kReadOnly},
    {"read-existing", "rotate-clients", "the files belong to no client"},
    {"read-existing", "verify",     "the contents of your own files are not known"},
    {"read-existing", "verify-pattern", "the contents of your own files are not known"},
    {"each-path",  "keep",          kAllPaths},
    {"each-path",  "existing",      "the files already set the directories"},
    {"each-path",  "read-existing", "the files already set the directories"},
    {"plan",       "suite",         "both define what to do"},
    {"mix", "op", kMixSays},
    {"mix", "record", kMixSays},
    {"mix", "auto", kMixSays},
    {"mix", "extended", kMixSays},
    {"mix", "no-retest", kMixSays},
    {"mix", "stride", kMixSays},
    {"mix", "mix-percent", kMixSays},
    {"mix", "mix-by-lane", kMixSays},
    {"mix", "reader-lanes", kMixSays},
    {"mix", "sequential-mix", kMixSays},
    {"mix", "min-record", kMixSays},
    {"mix", "max-record", kMixSays},
    {"mix", "max-lanes", "the workers of each client are divided among the parts of the mix"},
    {"mix", "constant-total", "the parts of a mix share no files: use -s"},
    {"mix", "existing", "a mix prepares files of its own"},
    {"mix", "read-existing", "a mix prepares files of its own"},
    {"mix", "per-client", "the clients share the rate of the mix"},
    {"mix", "rotate-clients", "only some workers of a client have files to read"},
    {"mix", "lane-rate", kMixRates},
    {"mix", "ops-per-second", kMixRates},
    {"mix", "think", kMixRates},
    {"mix", "burst", kMixRates},
    {"mix", "read-trace", kMixRates},
    {"mix", "deadline", "--time sets how long the mix lasts"},
    {"mix-factor", "rate",          "both set the load of the mix"},
    {"background", "mix",           "a mix uses all clients; its groups can separate a noisy client from the others"},
    {"background", "per-client",    "both divide the clients"},
    {"background", "each-path",     "compare paths in separate runs"},
    {"background", "suite",         "print the suite's plan with --print-plan, and use that with --plan"},
    {"background", "rotate-clients", "victims would read files of clients that run the load"},
    {"background", "constant-total", "a phase has fewer lanes than the run: use -s"},
    {"background", "max-lanes",     "the workers are divided already"},
    {"server-path", "existing",     "the servers measure with files of their own"},
    {"server-path", "read-existing", "the servers measure with files of their own"},
    {"soak", "repeat",              "it repeats everything until its time is over"},
    {"soak", "auto",                kOneWorkload},
    {"soak", "max-lanes",           kOneWorkload},
    {"soak", "per-client",          "compare clients in a run of its own"},
    {"soak", "background",          "compare loads in a run of its own"},
    {"soak", "data",                kVerified},
    {"soak", "dedupe",              kVerified},
    {"soak", "existing",            kVerified},
    {"soak", "read-existing",       kVerified},
    {"soak", "read-trace",          kVerified},
    {"soak", "buffer-bytes",        kVerified},
    {"soak", "write-trace",         "each round would write the same files"},
    {"soak", "offset-latency",      "each round would write the same files"},
    {"until", "soak",               "a soak says how long its rounds go on"},
    {"until", "repeat",             "--max-rounds says how often everything is repeated at most"},
    {"until", "per-client",         "compare clients in a run of its own"},
    {"until", "background",         "compare loads in a run of its own"},
    {"until", "write-trace",        "each round would write the same files"},
    {"until", "offset-latency",     "each round would write the same files"},
};
// clang-format on

struct Need {
  OptionName option;
  std::vector<OptionName> one_of;
};
const std::vector<Need>& Needs() {
  static const std::vector<Need> needs = {
      {"all-records", {"auto"}},
      {"min-size", {"auto"}},
      {"max-size", {"auto"}},
      {"min-record", {"auto"}},
      {"max-record", {"auto"}},
      {"multiplier", {"auto"}},
      {"min-lanes", {"max-lanes"}},
      {"mmap-sync", {"mmap"}},
      {"mmap-advice", {"mmap", "mmap-async"}},
      {"mmap-and-file", {"mmap", "mmap-async"}},
      {"processor-cache", {"purge-processor-cache"}},
      {"cache-line", {"purge-processor-cache"}},
      {"think-in-throughput", {"think"}},
      {"even-rate", {"rate", "lane-rate", "mix"}},
      {"mix-factor", {"mix"}},
      {"background-clients", {"background", "plan"}},
      {"dedupe-within", {"dedupe"}},
      {"dedupe-interior", {"dedupe-within"}},
      {"dedupe-seed", {"dedupe"}},
      {"dedupe-lane-offset", {"dedupe"}},
      {"interleaved", {"shared-file"}},
      {"block", {"interleaved"}},
      {"min-file-bytes", {"file-bytes"}},
      {"read-existing", {"file", "files"}},
      {"wear-out", {"deadline"}},
      {"server-memory", {"cold"}},
      {"steady-window", {"until", "plan", "suite"}},
      {"steady-range", {"until", "plan", "suite"}},
      {"steady-slope", {"until", "plan", "suite"}},
      {"max-rounds", {"until", "plan", "suite"}},
  };
  return needs;
}

// Options that shape the list of phases, which a plan or a suite already has. The defaults of a suite may be replaced.
bool CannotGoWithPlan(const OptionSpec& option) {
  static constexpr OptionName kFree[] = {
      "plan", "path",    "each-path",  "per-client",         "file",        "files",
      "keep", "require", "background", "background-clients", "server-path", "soak", "until"};
  if (option.group == OptionGroup::kIozone) return false;  // reports are no part of a plan
  return !IsAmong(option, kFree);
}
bool CannotGoWithSuite(const OptionSpec& option) {
  static constexpr OptionName kFree[] = {"suite", "path",  "each-path", "per-client",
                                               "file",  "files", "keep",      "record",
                                               "size",  "lanes", "require"};
  if (IsAmong(option, kFree)) return false;
  const bool shapes = option.group == OptionGroup::kWhat || option.group == OptionGroup::kAuto;
  return shapes && option.sets.empty();
}

}  // namespace

std::span<const ForbiddenPair> ForbiddenPairs() {
  return kForbidden;
}

absl::Status CheckOptions(const GivenOptions& given) {
  for (const ForbiddenPair& pair : kForbidden) {
    if (!given.Has(pair.one) || !given.Has(pair.other)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(pair.one.spec()), " cannot be combined with ",
                     BothNamesOf(pair.other.spec()), ": ", std::string(pair.why)));
  }
  std::vector<const OptionSpec*> said = given.options();
  said.insert(said.end(), given.turned_off().begin(), given.turned_off().end());
  for (const OptionSpec* option : said) {
    if (given.Has("plan") && CannotGoWithPlan(*option)) {
      return absl::InvalidArgumentError(absl::StrCat(
          BothNamesOf(*option), " cannot be combined with --plan: write it into the plan instead"));
    }
    if (given.Has("suite") && CannotGoWithSuite(*option)) {
      return absl::InvalidArgumentError(absl::StrCat(
          BothNamesOf(*option),
          " cannot be combined with --suite, which defines the phases: print its plan with --print-plan and "
          "change that"));
    }
  }
  for (const Need& need : Needs()) {
    if (!given.Has(need.option)) continue;
    const bool met = std::any_of(need.one_of.begin(), need.one_of.end(),
                                 [&](OptionName name) { return given.Has(name); });
    if (met) continue;
    std::vector<std::string> names;
    names.reserve(need.one_of.size());
    for (const OptionName name : need.one_of) names.push_back(BothNamesOf(name.spec()));
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(need.option.spec()), " needs ", absl::StrJoin(names, " or ")));
  }
  // In other programs --files is their number, and data would go to the directory of a file "10".
  for (const OptionName name : {OptionName("file"), OptionName("files")}) {
    for (const std::string& file : given.Texts(name)) {
      if (file.find_first_not_of("0123456789") != std::string::npos) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(BothNamesOf(OptionNamed(name)), " names files, and \"", file,
                       "\" is a number: the number of files of a lane is --files-per-lane ", file,
                       "; a file of this name is ./", file));
    }
  }
  for (const OptionName name : {OptionName("record"), OptionName("size"), OptionName("lanes")}) {
    const bool is_list = given.Texts(name).size() > 1 && (name.text() != "record" || given.LastParts(name).back().empty());
    if (given.Has("suite") && is_list) {
      return absl::InvalidArgumentError(
          absl::StrCat(BothNamesOf(OptionNamed(name)), " with --suite takes one value"));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
