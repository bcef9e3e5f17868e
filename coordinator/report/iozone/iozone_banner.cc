#include "coordinator/report/iozone/iozone_banner.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "coordinator/report/iozone/iozone_figures.h"
#include "coordinator/report/iozone/iozone_time.h"

namespace iobench {
namespace {

// The version whose format this is.
constexpr char kIozoneVersion[] = "3.471";
// In IOzone's words.
#if defined(__x86_64__)
constexpr char kBuild[] = "linux-AMD64";
#elif defined(__aarch64__)
constexpr char kBuild[] = "linux-arm";
#else
constexpr char kBuild[] = "linux";
#endif

void AppendLine(const std::string& line, std::string& text) {
  absl::StrAppend(&text, "\t", line, "\n");
}

bool AnyPhase(const v1::Plan& plan, absl::FunctionRef<bool(const v1::Phase&)> is_so) {
  return std::any_of(plan.phases().begin(), plan.phases().end(),
                     [&](const v1::Phase& phase) { return is_so(phase); });
}

bool AnyOperation(const v1::Plan& plan, absl::FunctionRef<bool(const v1::Operation&)> is_so) {
  return AnyPhase(plan, [&](const v1::Phase& phase) {
    return std::any_of(phase.assignments().begin(), phase.assignments().end(),
                       [&](const v1::Assignment& assignment) { return is_so(assignment.operation()); });
  });
}

// What -n, -g, -y, -q, -r and -s set.
v1::IozoneOutput GivenSizes(const v1::RunReport& report) {
  const v1::IozoneOutput& output = report.run().iozone();
  v1::IozoneOutput given;
  given.set_min_file_bytes(output.min_file_bytes());
  given.set_max_file_bytes(output.max_file_bytes());
  given.set_min_record_bytes(output.min_record_bytes());
  given.set_max_record_bytes(output.max_record_bytes());
  *given.mutable_file_bytes() = output.file_bytes();
  *given.mutable_record_bytes() = output.record_bytes();
  return given;
}

// The sizes that the run used: one of each, or the range of file sizes of a sweep.
v1::IozoneOutput UsedSizes(const v1::RunReport& report) {
  std::set<uint64_t> files, records;
  for (const v1::PhaseReport& phase : report.phases()) {
    if (phase.metadata()) continue;
    files.insert(phase.bytes_per_lane());
    records.insert(phase.record_bytes());
  }
  v1::IozoneOutput used;
  if (files.size() > 1) {
    used.set_min_file_bytes(*files.begin());
    used.set_max_file_bytes(*files.rbegin());
  }
  if (files.size() == 1) used.add_file_bytes(*files.begin());
  if (records.size() == 1) used.add_record_bytes(*records.begin());
  return used;
}

// Sizes of files and records. For a run without any of these options, from a plan or by an earlier version, names those
// that it used, except in automatic mode, where IOzone names only the options.
void AppendSizes(const v1::RunReport& report, std::string& text) {
  v1::IozoneOutput sizes = GivenSizes(report);
  if (sizes.ByteSizeLong() == 0 && !report.run().iozone().auto_mode()) sizes = UsedSizes(report);
  const auto of_range = [&text](const char* end, uint64_t bytes) {
    if (bytes > 0)
      AppendLine(absl::StrCat("Using ", end, " file size of ", KilobytesText(bytes), " kilobytes."), text);
  };
  of_range("minimum", sizes.min_file_bytes());
  of_range("maximum", sizes.max_file_bytes());
  const auto of_records = [&text](const char* end, uint64_t bytes) {
    if (bytes > 0) AppendLine(absl::StrCat("Using ", end, " Record Size ", KilobytesText(bytes), " kB"), text);
  };
  of_records("Minimum", sizes.min_record_bytes());
  of_records("Maximum", sizes.max_record_bytes());
  for (const uint64_t bytes : sizes.record_bytes())
    AppendLine(absl::StrCat("Record Size ", KilobytesText(bytes), " kB"), text);
  for (const uint64_t bytes : sizes.file_bytes())
    AppendLine(absl::StrCat("File size set to ", KilobytesText(bytes), " kB"), text);
}

void AppendOptions(const v1::RunReport& report, std::string& text) {
  const v1::RunInfo& run = report.run();
  const v1::Plan& plan = run.plan();
  const v1::IozoneOutput& output = run.iozone();
  const auto when = [&text](bool given, const char* line) {
    if (given) AppendLine(line, text);
  };
  when(output.auto_mode(), "Auto Mode");
  when(output.all_records(), "Cross over of record size disabled.");
  when(output.excel(), "Excel chart generation enabled");
  AppendSizes(report, text);
  when(AnyPhase(plan, [](const v1::Phase& phase) { return phase.region().close(); }),
       "Include close in write timing");
  when(AnyPhase(plan, [](const v1::Phase& phase) { return phase.region().fsync(); }),
       "Include fsync in write timing");
  when(AnyOperation(plan, [](const v1::Operation& each) { return each.direct(); }),
       "O_DIRECT feature enabled");
  when(AnyOperation(plan, [](const v1::Operation& each) { return each.sync(); }), "SYNC Mode. ");
  when(AnyOperation(plan, [](const v1::Operation& each) { return each.engine() == "mmap"; }),
       "Using mmap files");
  when(AnyPhase(plan, [](const v1::Phase& phase) { return phase.stonewall() == v1::STONEWALL_NONE; }),
       "Stonewall disabled");
  when(output.no_retest(), "No retest option selected");
  when(run.transport() != "local", "Network distribution mode enabled.");
  if (run.transport() != "local")
    AppendLine(absl::StrCat("Hostname = ", Printable(run.coordinator_host())), text);
  // getrusage() counts microseconds.
  when(output.cpu(), "CPU utilization Resolution = 0.000 seconds.");
  when(output.cpu() && output.excel(), "CPU utilization Excel chart enabled");
  when(AnyOperation(plan, [](const v1::Operation& each) { return each.trace().offset_latency(); }),
       "Offset/latency files enabled.");
  when(plan.keep_data(), "Setting no_unlink");
  when(output.ops_per_s(), "OPS Mode. Output is in operations per second.");
  when(output.us_per_op(), "Microseconds/op Mode. Output is in microseconds per operation.");
}

// -M: one line for all clients that are alike.
void AppendMachines(const v1::RunReport& report, std::string& text) {
  struct Alike {
    std::string first_host;
    int count = 0;
  };
  std::map<std::tuple<std::string, uint32_t, uint64_t>, Alike> machines;
  for (const v1::ClientReport& client : report.clients()) {
    Alike& alike = machines[{client.kernel(), client.processors(), client.memory_bytes()}];
    if (alike.count++ == 0) alike.first_host = client.host();
  }
  for (const auto& [machine, alike] : machines) {
    const auto& [kernel, processors, memory_bytes] = machine;
    absl::StrAppend(&text, "\n\tMachine = ", Printable(kernel), " ", Printable(alike.first_host),
                    alike.count > 1 ? absl::StrCat(" and ", alike.count - 1, " like it") : "", ", ",
                    processors, processors == 1 ? " processor, " : " processors, ", memory_bytes / 1024,
                    " kB of memory\n");
  }
}

constexpr uint32_t kStrideRecords = 17;  // of IOzone and of plans

// The parts of a machine that the figures depend on.
void AppendResolution(const v1::RunReport& report, std::string& text) {
  double clock_read_ns = 0;
  for (const v1::ClientReport& client : report.clients())
    clock_read_ns = std::max(clock_read_ns, client.clock_read_ns());
  if (clock_read_ns > 0)
    AppendLine(absl::StrFormat("Time Resolution = %.9f seconds.", clock_read_ns / 1e9), text);
  std::set<std::pair<uint64_t, uint32_t>> caches;
  std::set<uint32_t> strides;
  for (const v1::Phase& phase : report.run().plan().phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Between& between = assignment.operation().between();
      // -S and -L may stand alone in a run that behaves as IOzone, which then uses them for nothing.
      if (between.purge_processor_cache() || between.has_processor_cache_bytes() ||
          between.has_processor_cache_line_bytes())
        caches.emplace(ProcessorCacheBytes(between), ProcessorCacheLineBytes(between));
      if (assignment.operation().stride_records() > 0)
        strides.insert(assignment.operation().stride_records());
    }
  }
  // Programs look for these lines, which IOzone prints whether a test uses the settings or not.
  if (caches.empty()) caches.emplace(ProcessorCacheBytes({}), ProcessorCacheLineBytes({}));
  if (strides.empty()) strides.insert(kStrideRecords);
  for (const auto& [cache_bytes, line_bytes] : caches) {
    AppendLine(absl::StrCat("Processor cache size set to ", KilobytesText(cache_bytes), " kBytes."), text);
    AppendLine(absl::StrCat("Processor cache line size set to ", line_bytes, " bytes."), text);
  }
  for (const uint32_t stride : strides) {
    AppendLine(absl::StrCat("File stride size set to ", stride, " * record size."), text);
  }
}

// As -l and -u say, or what a sweep from a plan had.
void AppendLaneCounts(const v1::RunReport& report, std::string& text) {
  const v1::IozoneOutput& output = report.run().iozone();
  std::set<size_t> counts;
  for (const v1::PhaseReport& phase : report.phases())
    counts.insert(ChildrenOf(phase, IozoneUnit::kOps).size());
  const bool is_given = output.max_lanes() > 0;
  if (!is_given && counts.size() < 2) return;
  const size_t min = is_given ? std::max<size_t>(1, output.min_lanes()) : *counts.begin();
  const size_t max = is_given ? output.max_lanes() : *counts.rbegin();
  AppendLine(absl::StrCat("Min ", ChildWord(output), " = ", min, " "), text);
  AppendLine(absl::StrCat("Max ", ChildWord(output), " = ", max, " "), text);
}

// In the place of IOzone's contributors: as many lines, because scripts take figures by the number of their line.
void AppendOrigin(const v1::RunInfo& run, std::string& text) {
  constexpr size_t kContributorLines = 9;
  std::vector<std::string> lines = {
      absl::StrCat("Figures of cluster-iobench ", Printable(run.program_version()),
                   " in the format of this version of IOzone;"),
      "docs/reports.md lists what differs."};
  if (!run.label().empty()) lines.push_back(absl::StrCat("Label: ", Printable(run.label())));
  lines.resize(kContributorLines);
  for (const std::string& line : lines) AppendLine(line, text);
}

}  // namespace

std::string IozoneBanner(const v1::RunReport& report) {
  const v1::RunInfo& run = report.run();
  // Programs look for the name, for a version within the first four lines, and for the build in the fifth.
  std::string text = absl::StrCat("\tIozone: Performance Test of File I/O\n\t        Version $Revision: ",
                                  kIozoneVersion, " $\n\t\tCompiled for ", 8 * sizeof(void*),
                                  " bit mode.\n\t\tBuild: ", kBuild, " \n\n");
  AppendOrigin(run, text);
  absl::StrAppend(&text, "\n\tRun began: ", CtimeText(run.started_at(), 0), "\n\n");
  AppendOptions(report, text);
  if (run.iozone().machine()) AppendMachines(report, text);
  AppendLine(absl::StrCat("Command line used: ", Printable(run.command())), text);
  if (UnitOf(run.iozone()) == IozoneUnit::kKilobytes) AppendLine("Output is in kBytes/sec", text);
  AppendResolution(report, text);
  if (!HasTable(report)) AppendLaneCounts(report, text);
  return text;
}

}  // namespace iobench
