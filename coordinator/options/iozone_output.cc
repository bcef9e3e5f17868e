#include "coordinator/options/iozone_output.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

struct OutputOption {
  OptionName name;
  void (v1::IozoneOutput::*set)(bool);
};

constexpr OutputOption kOutputOptions[] = {
    {"excel", &v1::IozoneOutput::set_excel},
    {"show-ops", &v1::IozoneOutput::set_ops_per_s},
    {"show-latency", &v1::IozoneOutput::set_us_per_op},
    {"show-lanes", &v1::IozoneOutput::set_children},
    {"machine", &v1::IozoneOutput::set_machine},
    {"show-cpu", &v1::IozoneOutput::set_cpu},
    {"latency-bands", &v1::IozoneOutput::set_histograms},
    {"time-log", &v1::IozoneOutput::set_log},
    {"auto", &v1::IozoneOutput::set_auto_mode},
    {"all-records", &v1::IozoneOutput::set_all_records},
    {"no-retest", &v1::IozoneOutput::set_no_retest},
    {"posix-threads", &v1::IozoneOutput::set_threads},
};

struct NumberOption {
  OptionName name;
  void (*set)(v1::IozoneOutput&, uint64_t number);  // sizes are in bytes
};

constexpr NumberOption kNumberOptions[] = {
    {"min-size", [](v1::IozoneOutput& output, uint64_t bytes) { output.set_min_file_bytes(bytes); }},
    {"max-size", [](v1::IozoneOutput& output, uint64_t bytes) { output.set_max_file_bytes(bytes); }},
    {"size",
     [](v1::IozoneOutput& output, uint64_t bytes) {
       if (bytes != kSizeByMemory) output.add_file_bytes(bytes);
     }},
    {"record", [](v1::IozoneOutput& output, uint64_t bytes) { output.add_record_bytes(bytes); }},
    {"min-record", [](v1::IozoneOutput& output, uint64_t bytes) { output.set_min_record_bytes(bytes); }},
    {"max-record", [](v1::IozoneOutput& output, uint64_t bytes) { output.set_max_record_bytes(bytes); }},
    {"min-lanes", [](v1::IozoneOutput& output, uint64_t lanes) { output.set_min_lanes(static_cast<uint32_t>(lanes)); }},
    {"max-lanes", [](v1::IozoneOutput& output, uint64_t lanes) { output.set_max_lanes(static_cast<uint32_t>(lanes)); }},
};

// IOzone's tests in its throughput mode, in its order. Those by name have no retest there.
constexpr const char* kThroughputTests[] = {"0",          "1",      "backward-read", "stride-read", "2",
                                            "random-mix", "pwrite", "pread",         "fwrite",      "fread"};
// Those with a column of their own in any table, with their retests.
constexpr const char* kTableTests[] = {"0", "1", "2", "3", "4", "5", "6", "7"};

// With mapped files and asynchronous I/O, IOzone has neither the tests of stdio nor those with a position.
bool IsLeftOutByEngine(std::string_view test, const GivenOptions& given) {
  static constexpr OptionName kEngines[] = {"mmap", "mmap-async", "aio", "aio-copy", "engine"};
  static constexpr std::string_view kLeftOut[] = {"6", "7", "pwrite", "pread", "fwrite", "fread"};
  return std::any_of(std::begin(kEngines), std::end(kEngines),
                     [&given](OptionName name) { return given.Has(name); }) &&
         std::find(std::begin(kLeftOut), std::end(kLeftOut), test) != std::end(kLeftOut);
}

void AddTo(GivenOptions& given, OptionName name, const std::string& text) {
  // Every text here is one that the option accepts, and options that are given already keep their values.
  if (!given.Has(name)) given.Add(name, text).IgnoreError();
}

}  // namespace

bool IsIozonesName(std::string_view program) {
  return program.substr(program.rfind('/') + 1) == "iozone";
}

bool BehavesAsIozone(AsIozone said, const GivenOptions& given, bool names_format, const ProgramStart& start) {
  if (said != AsIozone::kUnsaid) return said == AsIozone::kYes;
  if (names_format) return false;
  return start.by_iozones_name || (given.Has("excel") && !start.stdout_is_terminal);
}

bool IsThroughputMode(const GivenOptions& given) {
  return given.Has("lanes") || given.Has("min-lanes") || given.Has("max-lanes");
}

IozonesOwn TakeIozonesOwn(bool has_workbook, GivenOptions& given) {
  IozonesOwn own;
  if (has_workbook) AddTo(given, "excel", "");
  if (given.Has("min-lanes")) AddTo(given, "max-lanes", given.Text("min-lanes"));
  if (given.Has("mmap-sync") && !given.Has("mmap")) {
    given.Remove("mmap-sync");
    own.notes.push_back(absl::StrCat(ShortNameOf(OptionNamed("mmap-sync")), " has no effect without ",
                                     ShortNameOf(OptionNamed("mmap")), ", as in IOzone"));
  }
  if (given.Has("purge-processor-cache")) return own;
  for (const OptionName name : {OptionName("processor-cache"), OptionName("cache-line")}) {
    if (!given.Has(name)) continue;
    // Sizes are kept in bytes, and a bare number of this option may be in KiB.
    AddTo(own.unruled, name,
          absl::StrCat(given.Text(name), name.spec().value == OptionValue::kSizeKib ? "b" : ""));
    given.Remove(name);
  }
  return own;
}

void AddIozonesDefaults(const IozonesOwn& own, bool lists_clients, GivenOptions& given) {
  given.AddMissing(own.unruled);
  if (given.Has("plan") || given.Has("suite") || given.Has("mix")) return;
  const bool throughput = IsThroughputMode(given);
  // Automatic mode and -E have their tests anyway.
  if (!given.Has("op") && !given.Has("soak") && !given.Has("auto") && !given.Has("extended")) {
    for (const char* const test : throughput ? std::span<const char* const>(kThroughputTests) : kTableTests) {
      if (!IsLeftOutByEngine(test, given)) given.Add("op", test).IgnoreError();
    }
  }
  if (given.Has("auto")) return;
  AddTo(given, "size", "512k");
  AddTo(given, "record", "4k");
  if (!throughput && !lists_clients) AddTo(given, "lanes", "1");
}

std::optional<v1::IozoneOutput> IozoneOutputOf(const GivenOptions& given) {
  v1::IozoneOutput output;
  for (const OutputOption& option : kOutputOptions) {
    if (given.Has(option.name)) (output.*option.set)(true);
  }
  for (const NumberOption& option : kNumberOptions) {
    for (const uint64_t number : given.Numbers(option.name)) option.set(output, number);
  }
  if (output.ByteSizeLong() == 0) return std::nullopt;
  return output;
}

}  // namespace iobench
