#include "coordinator/plan_builder.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/nfs_url.h"
#include "common/status_util.h"
#include "common/units.h"
#include "coordinator/metadata_plan.h"
#include "coordinator/mount_check.h"
#include "coordinator/phase_list.h"
#include "coordinator/plan_check.h"
#include "coordinator/plan_fields.h"
#include "coordinator/plan_yaml.h"
#include "coordinator/suite.h"

namespace iobench {
namespace {

std::string Absolute(const std::string& path) {
  if (IsNfsUrl(path)) {
    const auto url = ParseNfsUrl(path);
    return url.ok() ? url->ForLibnfs() : path;  // what is wrong with it is CheckPlan's to say
  }
  std::error_code ignored;
  std::filesystem::path absolute = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!absolute.has_filename() && absolute.has_parent_path() && absolute != absolute.root_path())
    absolute = absolute.parent_path();
  return absolute.string();
}

// The user's own files that are read: --existing, or those of -f and -F with -+E.
std::vector<std::string> ExistingFiles(const GivenOptions& given) {
  std::vector<std::string> files = given.Texts("existing");
  if (given.Has("read-existing")) files = given.Texts(given.Has("file") ? "file" : "files");
  for (std::string& file : files) file = Absolute(file);
  return files;
}

std::string DirectoryOf(const std::string& file) {
  if (const auto url = ParseNfsUrl(file); url.ok()) return url->Parent().ForLibnfs();
  return std::filesystem::path(Absolute(file)).parent_path().string();
}

// Where data go: what --path says, else the directories of the files that are named.
std::vector<std::string> Paths(const GivenOptions& given) {
  std::vector<std::string> paths = given.Texts("path");
  for (const char* option : {"file", "files", "existing"}) {
    for (const std::string& file : given.Texts(option)) {
      const std::string directory = DirectoryOf(file);
      if (std::find(paths.begin(), paths.end(), directory) == paths.end()) paths.push_back(directory);
    }
  }
  return paths;
}

absl::Status SetTargets(const GivenOptions& given, const PlanContext& context, v1::Plan& plan) {
  const std::vector<std::string> paths = Paths(given);
  if (paths.empty()) return absl::OkStatus();
  if (given.Has("files") && !given.Has("read-existing") && context.worker_count > 0 &&
      paths.size() > context.worker_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(OptionNamed("files")), " names files in ", paths.size(),
        " directories, and workers are spread over them, of which there are ", context.worker_count,
        ": use as many workers (--spawn, mpirun), or files of one directory"));
  }
  plan.clear_targets();
  for (const std::string& path : paths) plan.add_targets()->set_path(path);
  return absl::OkStatus();
}

// The stop kind follows from what is timed, which is known only now.
void StopAtStonewall(v1::Plan& plan) {
  for (v1::Phase& phase : *plan.mutable_phases()) {
    v1::TimedRegion effective = phase.region();
    const v1::Operation& operation = phase.assignments(0).operation();
    if (!Writes(operation)) effective.set_fsync(false);
    const v1::Stonewall usual = DefaultStonewall(operation, effective);
    phase.set_stonewall(usual == v1::STONEWALL_FLUSHED ? usual : v1::STONEWALL_STOP);
  }
}

// Names have neither records nor a size of a lane's file.
absl::Status CheckSizesHaveUse(const GivenOptions& given, const v1::Plan& plan) {
  if (WorksOnData(plan)) return absl::OkStatus();
  for (const char* const name : {"record", "size"}) {
    if (!given.Has(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(OptionNamed(name)),
        ": operations on names have no use for it, and there are no others here: --items says how "
        "many, --file-bytes how large"));
  }
  return absl::OkStatus();
}

constexpr double kUsualSeconds = 3;

bool SaysHowMuch(const GivenOptions& given) {
  static constexpr std::string_view kAmounts[] = {
      "size",     "auto",     "time",     "warmup", "deadline", "most-ops",   "constant-total",
      "existing", "read-existing", "read-trace", "write-trace"};
  return std::any_of(std::begin(kAmounts), std::end(kAmounts),
                     [&](std::string_view name) { return given.Has(name); });
}

// Where nobody says how much or how long, every phase lasts long enough for a figure without a mark of our own making:
// lanes go round, and so each pass of writes is flushed, that it does not write over what has not left memory.
void MeasureForUsualTime(const GivenOptions& given, v1::Plan& plan) {
  const bool says_region = given.Has("close-in-timing") || given.Has("fsync-in-timing");
  for (v1::Phase& phase : *plan.mutable_phases()) {
    const v1::Operation& operation = phase.assignments(0).operation();
    if (IsMetadata(operation)) continue;  // --items says how many
    phase.mutable_stop()->set_time_s(kUsualSeconds);
    if (says_region || !Writes(operation) || operation.engine() == "null") continue;
    v1::TimedRegion region = phase.region();
    region.set_fsync(true);
    region.set_close(true);
    // Writes that bypass memory or flush it by themselves need no flush.
    if (DefaultStonewall(operation, region) == v1::STONEWALL_FLUSHED) *phase.mutable_region() = region;
  }
}

absl::StatusOr<v1::Plan> PlanOfOptions(const GivenOptions& given, const PlanContext& context) {
  v1::Plan plan;
  plan.set_seed(context.drawn_seed);
  plan.add_targets()->set_path(".");
  IOBENCH_RETURN_IF_ERROR(ListPhases(given, context, plan));
  // With a list of clients it is done once it is known which of them take part.
  if (LanesAreWorkers(given, context) && !context.client_list) LanesBecomeWorkers(context.worker_count, plan);
  for (std::string& file : ExistingFiles(given)) plan.mutable_files()->add_existing_files(std::move(file));
  return plan;
}

}  // namespace

absl::StatusOr<v1::Plan> BuildPlan(const GivenOptions& given, const PlanContext& context) {
  absl::StatusOr<v1::Plan> plan = given.Has("plan")    ? LoadPlan(given.Text("plan"), context.drawn_seed)
                                  : given.Has("suite") ? LoadSuite(given, context)
                                                       : PlanOfOptions(given, context);
  if (!plan.ok()) return plan.status();
  IOBENCH_RETURN_IF_ERROR(SetTargets(given, context, *plan));
  IOBENCH_RETURN_IF_ERROR(SetPlanFields(given, given.Has("suite"), *plan));
  if (!given.Has("plan") && !given.Has("suite")) {
    LeaveOutWhatTheEngineCannot(given, *plan);
    if (!SaysHowMuch(given)) MeasureForUsualTime(given, *plan);
  }
  IOBENCH_RETURN_IF_ERROR(CheckSizesHaveUse(given, *plan));
  // What is asked for by nobody here must not be refused as if it were.
  if (given.Has("suite"))
    IOBENCH_RETURN_IF_ERROR(CheckSteps(*plan, absl::StrCat("suite ", given.Text("suite"))));
  if (given.Has("plan"))
    IOBENCH_RETURN_IF_ERROR(CheckSteps(*plan, absl::StrCat("plan ", given.Text("plan"))));
  IOBENCH_RETURN_IF_ERROR(AddSteps(given, *plan));
  if (given.Has("stop-at-stonewall")) StopAtStonewall(*plan);
  CompletePlan(*plan);
  for (v1::Target& target : *plan->mutable_targets()) {
    if (!target.path().empty()) target.set_path(Absolute(target.path()));
  }
  for (v1::Phase& phase : *plan->mutable_phases()) {
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      if (!assignment.operation().has_trace()) continue;
      v1::Trace& trace = *assignment.mutable_operation()->mutable_trace();
      if (!trace.read_file().empty()) trace.set_read_file(Absolute(trace.read_file()));
      if (!trace.write_file().empty()) trace.set_write_file(Absolute(trace.write_file()));
    }
  }
  return plan;
}

v1::Plan EmptyPhases(uint32_t phase_count, uint32_t lanes_per_worker) {
  v1::Plan plan;
  plan.add_targets()->set_path("/");
  plan.mutable_files()->set_bytes_per_lane(4_KiB);
  plan.set_lanes_per_worker(lanes_per_worker);
  plan.set_repetitions(phase_count);
  plan.set_seed(1);
  v1::Operation& operation = *plan.add_phases()->add_assignments()->mutable_operation();
  operation.set_name("read");
  operation.set_engine("null");
  operation.set_record_bytes(4_KiB);
  CompletePlan(plan);
  return plan;
}

}  // namespace iobench
