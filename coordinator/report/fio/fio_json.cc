#include "coordinator/report/fio/fio_json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "common/model/engine.h"
#include "common/model/op.h"
#include "common/model/operation.h"
#include "common/model/plan_traits.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/across/phase_facts.h"
#include "coordinator/analysis/foreign/fio_figures.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/iozone/iozone_time.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/wall_time.h"
#include "nlohmann/json.hpp"

namespace iobench {
namespace {

using Json = nlohmann::ordered_json;

// The version whose layout this is.
constexpr char kFioVersion[] = "fio-3.33";

// fio's name for what the operations do.
std::string RwOf(const FioJob& job) {
  if (job.reads && job.writes) return job.random ? "randrw" : "rw";
  return absl::StrCat(job.random ? "rand" : "", job.reads ? "read" : "write");
}

std::string NameInFio(std::string_view engine) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"posix", "psync"}, {"posix-aio", "posixaio"}, {"uring", "io_uring"}, {"libnfs", "nfs"}};
  for (const auto& [ours, theirs] : kNames) {
    if (engine == ours) return std::string(theirs);
  }
  return Printable(engine);
}

// Of a phase with several engines, the operation's; without a plan, the first that is not for names only.
std::string IoEngineOf(const v1::Operation& operation, const v1::PhaseReport& phase) {
  if (const EngineSpec* const engine = EngineOf(operation)) return NameInFio(engine->name);
  const std::vector<std::string> names = absl::StrSplit(phase.engine(), '+');
  for (const std::string& name : names) {
    const auto found = FindEngine(name);
    if (!found.ok() || (*found)->calls != Calls(Call::kMetadata)) return NameInFio(name);
  }
  return NameInFio(phase.engine());
}

// fio's option that flushes after some writes; empty: none does.
std::string_view FlushOptionOf(const v1::Operation& operation) {
  if (!Writes(operation) || FlushEveryOps(operation) == 0) return "";
  const OperationSpec* const spec = SpecOf(operation);
  const bool by_itself = spec->flushes_each_with.has_value() && !operation.between().has_flush_call();
  const OpKind call = by_itself ? *spec->flushes_each_with : FlushCallOf(operation.between());
  if (call == OpKind::kSyncFileRange) return "";  // fio's flushes what was written since the last one, ours the file
  return call == OpKind::kFdatasync ? "fdatasync" : "fsync";
}

double Finite(double value) { return std::isfinite(value) ? value : 0; }

Json Spread(const v1::Latency& latency) {
  if (latency.count() == 0) return {{"min", 0}, {"max", 0}, {"mean", 0.0}, {"stddev", 0.0}, {"N", 0}};
  return {{"min", std::llround(Finite(latency.min()) * 1e3)},
          {"max", std::llround(Finite(latency.max()) * 1e3)},
          {"mean", Finite(latency.mean()) * 1e3},
          {"stddev", Finite(latency.stddev()) * 1e3},
          {"N", latency.count()}};
}

Json WithPercentiles(const FioLatencies& of) {
  Json latency = Spread(of.spread_us);
  if (of.percentiles.empty()) return latency;
  Json& percentiles = latency["percentile"];
  for (const FioPercentile& each : of.percentiles)
    percentiles[absl::StrFormat("%.6f", each.percent)] = std::llround(each.ns);
  return latency;
}

void AddSamples(const FioDirection& direction, Json& json) {
  if (!direction.has_samples) return;
  const FioSamples &bytes = direction.bytes_samples, &ops = direction.ops_samples;
  json["bw_min"] = std::llround(bytes.min / 1024);
  json["bw_max"] = std::llround(bytes.max / 1024);
  json["bw_agg"] = 100.0;  // of all jobs of a group, which is one phase
  json["bw_mean"] = bytes.mean / 1024;
  json["bw_dev"] = bytes.stddev / 1024;
  json["bw_samples"] = bytes.count;
  json["iops_min"] = std::llround(ops.min);
  json["iops_max"] = std::llround(ops.max);
  json["iops_mean"] = ops.mean;
  json["iops_stddev"] = ops.stddev;
  json["iops_samples"] = ops.count;
}

Json DirectionJson(const FioDirection& direction, double window_s) {
  Json json = {{"io_bytes", direction.bytes},
               {"io_kbytes", direction.bytes / 1024},
               {"bw_bytes", std::llround(direction.bytes_per_s)},
               {"bw", std::llround(direction.bytes_per_s / 1024)},
               {"iops", direction.ops_per_s},
               {"runtime", direction.ops > 0 ? std::llround(window_s * 1e3) : 0},
               {"total_ios", direction.ops},
               {"short_ios", 0},
               {"drop_ios", 0},
               {"slat_ns", Spread(v1::Latency())},
               {"clat_ns", WithPercentiles(direction.latencies)},
               {"lat_ns", Spread(direction.latencies.spread_us)}};
  AddSamples(direction, json);
  return json;
}

// fio measures a trim apart; there is none here.
Json NoTrim() {
  FioDirection nothing;
  nothing.has_samples = true;
  return DirectionJson(nothing, 0);
}

// fio itself counts only some kinds of syncs in total_ios.
Json SyncJson(const FioLatencies& syncs) {
  return {{"total_ios", syncs.spread_us.count()}, {"lat_ns", WithPercentiles(syncs)}};
}

Json OptionsOf(const v1::RunReport& report, const v1::PhaseReport& phase, const FioJob& job) {
  const v1::Operation& operation = RecordOperationOf(report.run().plan(), phase);
  Json options = {{"name", Printable(phase.name())},
                  {"rw", RwOf(job)},
                  {"ioengine", IoEngineOf(operation, phase)},
                  {"bs", ShortSize(phase.record_bytes())},
                  {"size", ShortSize(FileBytesPerLane(phase))},
                  {"iodepth", absl::StrCat(std::max(1u, operation.depth()))},
                  {"numjobs", absl::StrCat(phase.lane_count())},
                  {"direct", operation.direct() ? "1" : "0"}};
  if (!operation.access().empty()) options["random_distribution"] = Printable(operation.access());
  if (const std::string_view flush = FlushOptionOf(operation); !flush.empty())
    options[std::string(flush)] = absl::StrCat(FlushEveryOps(operation));
  if (job.time_based) {
    options["time_based"] = "1";
    options["runtime"] = absl::StrFormat("%.10g", job.runtime_s);
  }
  if (job.ramp_s > 0) options["ramp_time"] = absl::StrFormat("%.10g", job.ramp_s);
  return options;
}

Json Bands(const std::vector<FioBand>& bands) {
  Json json = Json::object();
  for (const FioBand& band : bands) json[band.label] = band.percent;
  return json;
}

// What puts the figures in doubt, which fio has no place for.
Json DoubtsOf(const v1::PhaseReport& phase) {
  Json marks = Json::array();
  for (const GroupedMark& mark : MarksOf(phase)) {
    if (std::find(marks.begin(), marks.end(), mark.code) == marks.end()) marks.push_back(mark.code);
  }
  return {{"repetition", phase.repetition()},
          {"operation", phase.operation()},
          {"not_whole", Printable(phase.not_whole())},
          {"marks", std::move(marks)}};
}

Json JobJson(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const FioJob job = FioJobOf(report.run().plan(), phase);
  return {{"jobname", Printable(phase.name())},
          {"groupid", phase.index()},
          {"error", job.error},
          {"eta", 0},
          {"elapsed", std::llround(std::ceil(Finite(phase.duration_s())))},
          {"job options", OptionsOf(report, phase, job)},
          {"read", DirectionJson(job.read, job.window_s)},
          {"write", DirectionJson(job.write, job.window_s)},
          {"trim", NoTrim()},
          {"sync", SyncJson(job.syncs)},
          {"job_runtime", std::llround(job.window_s * 1e3)},
          {"usr_cpu", job.cpu_user_percent},
          {"sys_cpu", job.cpu_system_percent},
          {"latency_ns", Bands(job.bands_ns)},
          {"latency_us", Bands(job.bands_us)},
          {"latency_ms", Bands(job.bands_ms)},
          {"cluster_iobench", DoubtsOf(phase)}};
}

}  // namespace

absl::Status WriteFioJson(const v1::RunReport& report, std::ostream& out) {
  Json jobs = Json::array();
  for (const v1::PhaseReport& phase : report.phases()) {
    if (IsFioJob(report.run().plan(), phase)) jobs.push_back(JobJson(report, phase));
  }
  if (jobs.empty()) {
    return absl::FailedPreconditionError(
        "no phase of this run reads or writes records, as fio's jobs do: use -i or --op, or another format");
  }
  const int64_t started_ms = EpochMsOf(report.run().started_at());
  const Json json = {
      {"fio version", absl::StrCat(kFioVersion, ", by cluster-iobench ", Printable(report.run().program_version()))},
      {"timestamp", started_ms / 1000},
      {"timestamp_ms", started_ms},
      {"time", CtimeText(report.run().started_at(), 0)},
      {"global options", Json::object()},
      {"jobs", std::move(jobs)},
      {"disk_util", Json::array()}};
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  return Flush(out, "fio's JSON");
}

}  // namespace iobench
