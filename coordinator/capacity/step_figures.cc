#include "coordinator/capacity/step_figures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/capacity/load_curve.h"
#include "coordinator/analysis/phase/latency.h"

namespace iobench {
namespace {

using Figure = Criterion::Figure;

double FigureOf(const v1::Latency& latency, Figure figure) {
  switch (figure) {
    case Figure::kMean:
      return latency.mean();
    case Figure::kP50:
      return latency.p50();
    case Figure::kP90:
      return latency.p90();
    case Figure::kP95:
      return latency.p95();
    case Figure::kP99:
      return latency.p99();
    case Figure::kP99_9:
      return latency.p99_9();
    case Figure::kP99_99:
      return latency.p99_99();
    case Figure::kMax:
      return latency.max();
    default:
      return kNotMeasured;
  }
}

void AddUse(ResourceUse use, std::vector<ResourceUse>& uses) {
  if (std::isfinite(use.share) && use.share > 0) uses.push_back(std::move(use));
}

// The run can grow only into what nobody uses. What others take of a client, such as the kernel's threads, stays taken.
double ProcessorShareOf(const v1::ClientPhaseReport& client) {
  const double own = client.own_cpu_percent();
  const double idle = std::clamp(100 - client.cpu_percent(), 0.0, 100.0);
  return own / (own + idle);
}

std::vector<ResourceUse> UsesIn(const v1::PhaseReport& phase) {
  std::vector<ResourceUse> uses;
  for (const v1::ServerReport& server : phase.servers()) {
    const std::string& host = server.host();
    if (server.has_cpu_busy()) AddUse({absl::StrCat("processors of ", host), server.cpu_busy(), host}, uses);
    for (const v1::ServerDisk& disk : server.disks())
      AddUse({absl::StrCat("disk ", disk.name(), " of ", host), disk.busy(), host}, uses);
    for (const v1::ServerNic& nic : server.nics()) {
      if (!nic.has_link_bytes_per_s() || nic.link_bytes_per_s() == 0) continue;
      const auto link_bytes_per_s = static_cast<double>(nic.link_bytes_per_s());
      AddUse({absl::StrCat("link ", nic.name(), " of ", host),
              std::max(nic.receive_bytes_per_s(), nic.send_bytes_per_s()) / link_bytes_per_s, host,
              link_bytes_per_s},
             uses);
    }
  }
  for (const v1::ClientPhaseReport& client : phase.clients())
    AddUse({absl::StrCat("processors of ", client.host()), ProcessorShareOf(client)}, uses);
  std::stable_sort(uses.begin(), uses.end(),
                   [](const ResourceUse& a, const ResourceUse& b) { return a.share > b.share; });
  return uses;
}

uint64_t ErrorsIn(const v1::PhaseReport& phase) {
  uint64_t errors = phase.lanes_failed();
  for (const v1::FailedOps& failed : phase.failed_ops()) errors += failed.count();
  return errors;
}

double FairnessIn(const v1::PhaseReport& phase) {
  if (phase.clients_size() < 2) return kNotMeasured;
  std::vector<double> rates;
  for (const v1::ClientPhaseReport& client : phase.clients()) rates.push_back(client.ops_per_s());
  return FairnessOf(rates);
}

}  // namespace

StepFigures FiguresOf(const v1::PhaseReport& phase, const std::optional<Slo>& slo) {
  const v1::Latency& latency = phase.latency_us();
  StepFigures figures{
      .ops_per_s = phase.headline().ops_per_s(),
      .bytes_per_s = phase.metadata() ? 0 : phase.headline().bytes_per_s(),
      .mean_us = latency.mean(),
      .p50_us = latency.p50(),
      .p99_us = latency.p99(),
      .slo_figure_us = slo.has_value() ? FigureOf(latency, slo->figure) : kNotMeasured,
      .slo_service_figure_us = slo.has_value() ? FigureOf(ServiceTimesIn(phase), slo->figure) : kNotMeasured,
      .percentiles_us = {latency.p50(), latency.p90(), latency.p99(), latency.p99_9()},
      .ops = latency.count(),
      .errors = ErrorsIn(phase),
      .worker_lost = phase.workers_lost() > 0,
      .whole = phase.not_whole().empty(),
      .lane_count = static_cast<double>(phase.lane_count()),
      .fairness = FairnessIn(phase),
      .limits = {phase.limits().begin(), phase.limits().end()},
      .uses = UsesIn(phase),
      .measured_s = phase.duration_s()};
  if (!std::isfinite(figures.ops_per_s)) figures.ops_per_s = 0;
  if (!std::isfinite(figures.bytes_per_s)) figures.bytes_per_s = 0;
  if (phase.has_open_loop()) {
    figures.done_share = phase.open_loop().done_percent() / 100;
    figures.due_per_s = phase.open_loop().asked_ops_per_s();
  }
  std::set<std::string> codes;
  for (const v1::Mark& mark : phase.marks()) codes.insert(mark.code());
  for (const v1::ClientPhaseReport& client : phase.clients()) {
    for (const v1::Mark& mark : client.marks()) codes.insert(mark.code());
  }
  figures.generator_bound = codes.contains(std::string(mark_code::kGeneratorBound));
  figures.marks.assign(codes.begin(), codes.end());
  return figures;
}

}  // namespace iobench
