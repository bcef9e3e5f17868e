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

// fio's name for what the operation does.
std::string RwOf(const std::string& operation) {
  const auto found = FindOperation(operation);
  if (!found.ok()) return Printable(operation);
  const OperationSpec& spec = **found;
  const bool random = spec.pattern == Pattern::kRandom || spec.pattern == Pattern::kRandomMix;
  if (spec.reads() && spec.writes()) return random ? "randrw" : "rw";
  return absl::StrCat(random ? "rand" : "", spec.reads() ? "read" : "write");
}

std::string EngineOf(const std::string& engine) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"posix", "psync"}, {"posix-aio", "posixaio"}, {"uring", "io_uring"}, {"libnfs", "nfs"}};
  for (const auto& [ours, theirs] : kNames) {
    if (engine == ours) return std::string(theirs);
  }
  return Printable(engine);
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

Json OptionsOf(const v1::RunReport& report, const v1::PhaseReport& phase) {
  const v1::Phase* const planned = PlannedPhase(report.run().plan(), phase);
  const v1::Operation& operation = FirstOperationOf(planned == nullptr ? v1::Phase::default_instance() : *planned);
  Json options = {{"name", Printable(phase.name())},
                  {"rw", RwOf(phase.operation())},
                  {"ioengine", EngineOf(phase.engine())},
                  {"bs", ShortSize(phase.record_bytes())},
                  {"size", ShortSize(phase.bytes_per_lane())},
                  {"iodepth", absl::StrCat(std::max(1u, operation.depth()))},
                  {"numjobs", absl::StrCat(phase.lane_count())},
                  {"direct", operation.direct() ? "1" : "0"}};
  if (planned != nullptr && planned->stop().time_s() > 0) {
    options["time_based"] = "1";
    options["runtime"] = absl::StrFormat("%.10g", planned->stop().time_s());
  }
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
  const FioJob job = FioJobOf(phase);
  return {{"jobname", Printable(phase.name())},
          {"groupid", phase.index()},
          {"error", phase.errors().empty() ? 0 : phase.errors(0).errno_value()},
          {"eta", 0},
          {"elapsed", std::llround(std::ceil(Finite(phase.duration_s())))},
          {"job options", OptionsOf(report, phase)},
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
    if (IsFioJob(phase)) jobs.push_back(JobJson(report, phase));
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
