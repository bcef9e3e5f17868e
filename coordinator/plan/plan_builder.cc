#include "coordinator/plan/plan_builder.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/model/plan_targets.h"
#include "common/model/plan_traits.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/plan/background.h"
#include "coordinator/plan/check/mount_check.h"
#include "coordinator/plan/layout.h"
#include "coordinator/plan/mix_phases.h"
#include "coordinator/plan/phase_list.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_fields.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/plan/rounds.h"
#include "coordinator/plan/suite.h"

namespace iobench {
namespace {

// Returns the user's own files to read: --existing, or those of -f and -F with -+E.
std::vector<std::string> ExistingFiles(const GivenOptions& given) {
  std::vector<std::string> files = given.Texts("existing");
  if (given.Has("read-existing")) files = given.Has("file") ? given.Texts("file") : given.Texts("files");
  for (std::string& file : files) file = AbsolutePath(file);
  return files;
}

std::string DirectoryOf(const std::string& file) {
  if (const auto url = ParseNfsUrl(file); url.ok()) return url->Parent().ForLibnfs();
  return std::filesystem::path(AbsolutePath(file)).parent_path().string();
}

// Returns where data goes: the paths of --path, otherwise the directories of the named files.
std::vector<std::string> Paths(const GivenOptions& given) {
  std::vector<std::string> paths = given.Texts("path");
  for (const OptionName option : {OptionName("file"), OptionName("files"), OptionName("existing")}) {
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
  if (given.Has("files") && !given.Has("read-existing") && !given.Has("each-path") &&
      context.worker_count > 0 && paths.size() > context.worker_count) {
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(OptionNamed("files")), " names files in ", paths.size(),
                     " directories, and each needs a worker, but there are only ", context.worker_count,
                     ": use more workers (--spawn, mpirun), or files in one directory"));
  }
  plan.clear_targets();
  for (const std::string& path : paths) plan.add_targets()->set_path(path);
  return absl::OkStatus();
}

// --until: what is waited for, of which there is only one thing.
absl::Status SetUntil(const GivenOptions& given, v1::Plan& plan) {
  if (!given.Has("until")) return absl::OkStatus();
  if (given.Text("until") != "steady") {
    return absl::InvalidArgumentError(absl::StrCat("--until ", given.Text("until"), ": there is only `steady`"));
  }
  plan.mutable_until_steady();
  return absl::OkStatus();
}

// --each-path: repeats the list of phases for each target. The names tell the targets apart.
absl::Status UseEachPath(v1::Plan& plan) {
  const std::string option = BothNamesOf(OptionNamed("each-path"));
  if (plan.targets_size() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, " compares paths, and there is only one: give --path at least twice"));
  }
  if (!OnlyTargets(plan).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": the plan already selects the targets of its phases (only_target)"));
  }
  std::set<std::string> paths;
  const google::protobuf::RepeatedPtrField<v1::Phase> phases = std::move(*plan.mutable_phases());
  plan.clear_phases();
  for (v1::Target& target : *plan.mutable_targets()) {
    target.set_path(AbsolutePath(target.path()));
    if (!paths.insert(target.path()).second) {
      return absl::InvalidArgumentError(absl::StrCat(option, ": --path names ", target.path(), " twice"));
    }
    for (const v1::Phase& phase : phases) {
      v1::Phase& added = *plan.add_phases();
      added = phase;
      added.set_name(absl::StrCat(PhaseName(phase), " on ", target.path()));
      added.set_only_target(static_cast<uint32_t>(paths.size()));
    }
  }
  return absl::OkStatus();
}

// --rate 50MiB/s
absl::Status DivideRates(const GivenOptions& given, v1::Plan& plan) {
  for (const OptionName name : {OptionName("rate"), OptionName("lane-rate")}) {
    if (!given.Has(name) || given.LastParts(name).back() != kInBytes) continue;
    const auto refused = [&name](const char* why) {
      return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(name.spec()), " in bytes per second: ", why,
                                                     ": give it in ops per second"));
    };
    for (v1::Phase& phase : *plan.mutable_phases()) {
      for (v1::Assignment& assignment : *phase.mutable_assignments()) {
        v1::Operation& operation = *assignment.mutable_operation();
        const OperationSpec* const spec = SpecOf(operation);
        if (spec == nullptr || !operation.has_arrivals() || phase.background()) continue;
        if (spec->is_metadata() || operation.record_bytes() == 0) return refused("metadata operations move none");
        if (spec->call == Call::kVector) return refused("ops on vectors move several records");
        const auto op_bytes = MeanRecordBytes(operation);
        v1::Arrivals& arrivals = *operation.mutable_arrivals();
        arrivals.set_ops_per_s(arrivals.ops_per_s() / op_bytes);
        if (arrivals.has_end_ops_per_s()) arrivals.set_end_ops_per_s(arrivals.end_ops_per_s() / op_bytes);
      }
    }
  }
  return absl::OkStatus();
}

// --depth asks for several ops in flight, of which the default engine has one.
void UseQueues(const GivenOptions& given, const PlanContext& context, v1::Plan& plan) {
  if (!given.Has("depth")) return;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      v1::Operation& operation = *assignment.mutable_operation();
      const OperationSpec* const spec = SpecOf(operation);
      if (spec == nullptr || operation.depth() <= 1 || operation.has_engine()) continue;
      if (EngineFor(*spec, context.queue_engine).ok()) operation.set_engine(context.queue_engine);
    }
  }
}

// The stonewall kind depends on the timed region, which is known only now.
void StopAtStonewall(v1::Plan& plan) {
  for (v1::Phase& phase : *plan.mutable_phases()) {
    // CheckPlan refuses it.
    if (phase.assignments().empty()) continue;
    const v1::Stonewall stonewall = DefaultStonewall(phase);
    phase.set_stonewall(stonewall == v1::STONEWALL_FLUSHED ? stonewall : v1::STONEWALL_STOP);
  }
}

// Metadata operations have neither records nor a file size per lane.
absl::Status CheckSizesHaveUse(const GivenOptions& given, const v1::Plan& plan) {
  if (WorksOnData(plan)) return absl::OkStatus();
  for (const OptionName name : {OptionName("record"), OptionName("size")}) {
    if (!given.Has(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        BothNamesOf(OptionNamed(name)),
        ": metadata operations ignore it, and this run has no others: use --items for the number of files, "
        "--file-bytes for their size"));
  }
  return absl::OkStatus();
}

// Reads of a soak check everything that has been written.
void EndWithWholePasses(v1::Plan& plan) {
  for (v1::Phase& phase : *plan.mutable_phases()) {
    if (phase.stop().time_s() > 0) phase.mutable_stop()->set_whole_passes(true);
  }
}

// -s 2xram. The size is provisional until the workers have joined: it is that of workers on hosts like this one.
absl::Status SetMemoryPercent(const GivenOptions& given, const PlanContext& context, v1::Plan& plan) {
  const OptionSpec& size = OptionNamed("size");
  if (!given.Has("size")) return absl::OkStatus();
  const std::vector<std::string> percents = given.LastParts("size");
  const bool any =
      std::any_of(percents.begin(), percents.end(), [](const std::string& part) { return part != "0"; });
  if (!any) return absl::OkStatus();
  for (const OptionName other :
       {OptionName("suite"), OptionName("auto"), OptionName("constant-total"), OptionName("plan")}) {
    if (!given.Has(other)) continue;
    return absl::InvalidArgumentError(absl::StrCat(BothNamesOf(size), " by memory cannot be combined with ",
                                                   BothNamesOf(OptionNamed(other)), ": give a size"));
  }
  if (percents.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(size), " by memory can only be given once, without other sizes"));
  }
  plan.mutable_files()->set_memory_percent(static_cast<uint32_t>(std::stoul(percents.front())));
  const ClientMemory like_this{.memory_bytes = std::max<uint64_t>(1_GiB, context.memory_bytes),
                               .lane_count = std::max(1u, plan.lanes_per_worker())};
  return SizeFilesByMemory({&like_this, 1}, plan);
}

absl::StatusOr<v1::Plan> PlanOfOptions(const GivenOptions& given, const PlanContext& context) {
  v1::Plan plan;
  plan.set_seed(context.drawn_seed);
  plan.add_targets()->set_path(".");
  if (given.Has("mix")) {
    IOBENCH_RETURN_IF_ERROR(ListMix(given, context, plan));
    return plan;
  }
  IOBENCH_RETURN_IF_ERROR(ListPhases(given, context, plan));
  // With a client list, this is done when it is known which clients take part.
  if (LanesAreWorkers(given, context) && !context.client_list) LanesBecomeWorkers(context.worker_count, plan);
  for (std::string& file : ExistingFiles(given)) plan.mutable_files()->add_existing_files(std::move(file));
  return plan;
}

// An option that says how long phases last takes the place of the other one in a plan or suite.
void ReplaceTimes(const GivenOptions& given, v1::Plan& plan) {
  if (given.Has("time") == given.Has("deadline")) return;
  for (v1::Phase& phase : *plan.mutable_phases()) {
    if (!phase.has_stop()) continue;
    if (given.Has("deadline")) {
      phase.mutable_stop()->clear_time_s();
    } else {
      phase.mutable_stop()->clear_deadline_s();
      phase.mutable_stop()->clear_wear_out();
    }
  }
}

}  // namespace

absl::StatusOr<v1::Plan> BuildPlan(const GivenOptions& given, const PlanContext& context) {
  absl::StatusOr<v1::Plan> plan = given.Has("plan")    ? LoadPlan(given.Text("plan"), context.drawn_seed)
                                  : given.Has("suite") ? LoadSuite(given, context)
                                                       : PlanOfOptions(given, context);
  if (!plan.ok()) return plan.status();
  ReplaceTimes(given, *plan);
  IOBENCH_RETURN_IF_ERROR(AddBackground(given, context.drawn_seed, *plan));
  IOBENCH_RETURN_IF_ERROR(SetUntil(given, *plan));
  const v1::Plan before_options = *plan;
  IOBENCH_RETURN_IF_ERROR(SetTargets(given, context, *plan));
  GivenOptions fields = given;
  if (given.Has("mix")) fields.Remove("rate");  // which ListMix has divided among the parts
  IOBENCH_RETURN_IF_ERROR(SetPlanFields(fields, *plan));
  IOBENCH_RETURN_IF_ERROR(DivideRates(given, *plan));
  UseQueues(given, context, *plan);
  KeepPaceOfBackground(before_options, *plan);
  IOBENCH_RETURN_IF_ERROR(SetMemoryPercent(given, context, *plan));
  for (const std::string& note : given.notes()) plan->add_notes(note);
  for (std::string& criterion : given.Texts("require")) plan->add_criteria(std::move(criterion));
  if (!given.Has("plan") && !given.Has("suite") && !given.Has("mix")) {
    LeaveOutWhatTheEngineCannot(given, *plan);
    if (!context.has_own_method) MeasureAsUsual(given, *plan);
    if (plan->soak_s() > 0) EndWithWholePasses(*plan);
  }
  if (plan->soak_s() > 0) FitToSoak(*plan);
  IOBENCH_RETURN_IF_ERROR(CheckSizesHaveUse(given, *plan));
  // Settings that the user did not request must not be refused as if they were.
  if (given.Has("suite"))
    IOBENCH_RETURN_IF_ERROR(CheckSteps(*plan, absl::StrCat("suite ", given.Text("suite"))));
  if (given.Has("plan"))
    IOBENCH_RETURN_IF_ERROR(CheckSteps(*plan, absl::StrCat("plan ", given.Text("plan"))));
  if (given.Has("each-path")) IOBENCH_RETURN_IF_ERROR(UseEachPath(*plan));
  IOBENCH_RETURN_IF_ERROR(AddSteps(given, context, *plan));
  if (given.Has("stop-at-stonewall")) StopAtStonewall(*plan);
  CompletePlan(*plan);
  for (v1::Target& target : *plan->mutable_targets()) {
    if (!target.path().empty()) target.set_path(AbsolutePath(target.path()));
  }
  for (v1::Phase& phase : *plan->mutable_phases()) {
    for (v1::Assignment& assignment : *phase.mutable_assignments()) {
      if (!assignment.operation().has_trace()) continue;
      v1::Trace& trace = *assignment.mutable_operation()->mutable_trace();
      if (!trace.read_file().empty()) trace.set_read_file(AbsolutePath(trace.read_file()));
      if (!trace.write_file().empty()) trace.set_write_file(AbsolutePath(trace.write_file()));
    }
  }
  return plan;
}

std::string AbsolutePath(const std::string& path) {
  if (IsNfsUrl(path)) {
    const auto url = ParseNfsUrl(path);
    return url.ok() ? url->ForLibnfs() : path;  // CheckPlan reports what is wrong with it
  }
  std::error_code ignored;
  std::filesystem::path absolute = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!absolute.has_filename() && absolute.has_parent_path() && absolute != absolute.root_path())
    absolute = absolute.parent_path();
  return absolute.string();
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
