#include "coordinator/suite.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/near_names.h"
#include "common/phase_shape.h"
#include "common/small_file.h"
#include "common/status_util.h"
#include "common/units.h"
#include "coordinator/metadata_plan.h"
#include "coordinator/plan_yaml.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

constexpr char kExtension[] = ".yaml";
constexpr char kOptionsKey[] = "options:";
constexpr uint64_t kLongestSuiteBytes = 1_MiB;
constexpr uint64_t kSizeUnit = 64_MiB;  // sizes made from a host's memory are round

// Beside an installed program (PREFIX/bin -> PREFIX/share/cluster-iobench/plans), else in the source tree that it was
// built from.
absl::StatusOr<fs::path> PlanDirectory() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> candidates;
  if (!error)
    candidates.push_back(program.parent_path().parent_path() / "share" / "cluster-iobench" / "plans");
  candidates.emplace_back(IOBENCH_SOURCE_PLANS);
  for (const fs::path& candidate : candidates) {
    if (fs::is_directory(candidate, error)) return candidate;
  }
  const auto append = [](std::string* text, const fs::path& path) { text->append(path.string()); };
  return absl::NotFoundError(absl::StrCat("the suites are not installed: there is no ",
                                          absl::StrJoin(candidates, " and no ", append)));
}

std::vector<fs::path> PlansIn(const fs::path& directory) {
  std::vector<fs::path> plans;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == kExtension) plans.push_back(entry.path());
  }
  std::sort(plans.begin(), plans.end());
  return plans;
}

std::string FirstCommentOf(const fs::path& plan) {
  const auto text = ReadSmallFile("suite", plan.string(), kLongestSuiteBytes);
  if (!text.ok()) return std::string(text.status().message());
  return std::string(absl::StripPrefix(absl::string_view(*text).substr(0, text->find('\n')), "# "));
}

// -s, -r, -t over the suite's usual values. Phases that are smaller on purpose stay so, but never larger than the plan.
void ReplaceUsualValues(const GivenOptions& given, v1::Plan& plan) {
  if (given.Has("record") && !plan.phases().empty() && !plan.phases(0).assignments().empty()) {
    const uint64_t usual = plan.phases(0).assignments(0).operation().record_bytes();
    for (v1::Phase& phase : *plan.mutable_phases()) {
      for (v1::Assignment& assignment : *phase.mutable_assignments()) {
        if (assignment.operation().record_bytes() == usual) {
          assignment.mutable_operation()->set_record_bytes(given.Number("record", usual));
        }
      }
    }
  }
  if (given.Has("size")) {
    const uint64_t bytes = given.Number("size", 0);
    plan.mutable_files()->set_bytes_per_lane(bytes);
    for (v1::Phase& phase : *plan.mutable_phases()) {
      if (phase.files().bytes_per_lane() <= bytes || phase.assignments().empty()) continue;
      const uint64_t record = std::max<uint64_t>(1, phase.assignments(0).operation().record_bytes());
      phase.mutable_files()->set_bytes_per_lane(std::max(bytes / record, uint64_t{1}) * record);
    }
  }
  if (given.Has("lanes")) {
    const auto lanes = static_cast<uint32_t>(given.Number("lanes", 1));
    plan.set_lanes_per_worker(lanes);
    for (v1::Phase& phase : *plan.mutable_phases()) {
      if (phase.lanes_per_worker() > lanes) phase.set_lanes_per_worker(lanes);
    }
  }
}

// Every phase needs a record at least.
absl::Status CheckSizeGiven(const GivenOptions& given, const v1::Plan& plan) {
  if (!given.Has("size")) return absl::OkStatus();
  for (const v1::Phase& phase : plan.phases()) {
    if (IsMetadata(phase) || phase.assignments().empty()) continue;
    const uint64_t record = phase.assignments(0).operation().record_bytes();
    if (record <= given.Number("size", 0)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "-s (--size) of ", FormatBytes(static_cast<double>(given.Number("size", 0))),
        " is less than one record of phase ", phase.name(), ", ", FormatBytes(static_cast<double>(record)),
        ": use a larger -s, or a smaller -r where that record is the suite's usual one"));
  }
  return absl::OkStatus();
}

void SizeByMemory(const PlanContext& context, bool size_given, v1::Plan& plan) {
  uint64_t lanes = 1;  // with files of their own
  for (const v1::Phase& phase : plan.phases()) {
    if (phase.assignments().empty() || phase.assignments(0).operation().first_lane_files()) continue;
    lanes = std::max<uint64_t>(lanes, ShapeOf(plan, phase).lanes_per_worker);
  }
  const uint64_t wanted = 2 * context.memory_bytes / lanes;
  if (!size_given) plan.mutable_files()->set_bytes_per_lane((wanted + kSizeUnit - 1) / kSizeUnit * kSizeUnit);
  if (plan.files().bytes_per_lane() >= wanted) return;
  plan.add_notes(
      absl::StrFormat("the files of a worker (%s) are smaller than twice this host's memory (%s): what is "
                      "read may come from memory",
                      FormatBytes(static_cast<double>(lanes * plan.files().bytes_per_lane())),
                      FormatBytes(static_cast<double>(2 * context.memory_bytes))));
}

}  // namespace

absl::StatusOr<std::string> SuiteList() {
  IOBENCH_ASSIGN_OR_RETURN(const fs::path directory, PlanDirectory());
  std::string text = absl::StrCat("Suites, which are plans in ", directory.string(), ":\n");
  for (const fs::path& plan : PlansIn(directory)) {
    absl::StrAppendFormat(&text, "  %-14s %s\n", plan.stem().string(), FirstCommentOf(plan));
  }
  return text;
}

absl::StatusOr<std::vector<std::string>> SuiteOptions(const std::string& name) {
  IOBENCH_ASSIGN_OR_RETURN(const fs::path directory, PlanDirectory());
  const auto text = ReadSmallFile("suite", directory / absl::StrCat(name, kExtension), kLongestSuiteBytes);
  if (absl::IsNotFound(text.status())) return std::vector<std::string>();  // LoadSuite lists what there is
  if (!text.ok()) return text.status();
  for (const absl::string_view line : absl::StrSplit(*text, '\n')) {
    if (!absl::StartsWith(line, kOptionsKey)) continue;
    return absl::StrSplit(line.substr(std::size(kOptionsKey) - 1), ' ', absl::SkipEmpty());
  }
  return std::vector<std::string>();
}

absl::StatusOr<v1::Plan> LoadSuite(const GivenOptions& given, const PlanContext& context) {
  IOBENCH_ASSIGN_OR_RETURN(const fs::path directory, PlanDirectory());
  const std::string name = given.Text("suite");
  std::vector<std::string> names;
  for (const fs::path& file : PlansIn(directory)) {
    names.push_back(file.stem().string());
    if (names.back() != name) continue;
    IOBENCH_ASSIGN_OR_RETURN(v1::Plan plan, LoadPlan(file.string(), context.drawn_seed));
    const bool by_memory = plan.files().bytes_per_lane() == 0;
    ReplaceUsualValues(given, plan);
    IOBENCH_RETURN_IF_ERROR(CheckSizeGiven(given, plan));
    if (by_memory) SizeByMemory(context, given.Has("size"), plan);
    return plan;
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return absl::NotFoundError(absl::StrCat("there is no suite \"", name, "\"; there are: ",
                                          absl::StrJoin(names, ", "), DidYouMean(name, known)));
}

}  // namespace iobench
