#include "coordinator/analysis/marks/cold_report.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/model/phase_shape.h"
#include "common/text/mark_codes.h"
#include "common/text/units.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/phase_reads.h"

namespace iobench {
namespace {

constexpr double kWarmPercent = 5.0;

// What the counters of one client say.
struct Coldness {
  double resident_percent = 0;  // of its files, before the start
  double cached_percent = 0;    // of what it read
  bool known = false;
  bool in_memory = false;  // its files are nowhere else, which the mark memory_fs says

  double percent() const { return std::max(resident_percent, cached_percent); }
};

double PercentOf(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

Coldness ColdnessOf(const PhaseView& view, const v1::ClientPhaseReport& client, const ClientPart& part) {
  Coldness cold;
  double resident = 0;
  bool all_resident_known = !part.lanes.empty();
  std::set<uint32_t> owners;
  for (const AlignedLane* lane : part.lanes) {
    all_resident_known &= lane->result->has_resident_bytes();
    if (owners.insert(lane->result->file_owner()).second) {
      resident += static_cast<double>(lane->result->resident_bytes());
    }
  }
  if (all_resident_known) {
    cold.resident_percent = PercentOf(resident, static_cast<double>(FileBytesOf(view, part.lanes)));
  }
  const v1::ReadSources& sources = client.read_sources();
  const uint64_t counted = sources.asked_bytes() - std::min(sources.asked_bytes(), sources.unknown_bytes());
  cold.cached_percent = PercentOf(static_cast<double>(sources.cache_bytes()), static_cast<double>(counted));
  for (const v1::Mark& mark : client.marks()) {  // of metadata ops: the mark compared their requests
    if (view.traits.metadata && mark.code() == mark_code::kCached) cold.cached_percent = mark.value();
  }
  cold.in_memory = !part.lanes.empty() &&
                   std::all_of(part.lanes.begin(), part.lanes.end(), [&view](const AlignedLane* lane) {
                     const v1::TargetFacts* const target = view.TargetOf(*lane);
                     return target != nullptr && target->memory();
                   });
  const bool names_counted = view.traits.metadata && client.has_nfs_rpc();
  cold.known = names_counted || (client.has_read_sources() && sources.unknown_bytes() == 0);
  return cold;
}

bool AnyOnServer(const PhaseView& view) {
  return std::any_of(view.aligned.lanes.begin(), view.aligned.lanes.end(), [&view](const AlignedLane& lane) {
    const v1::TargetFacts* const target = view.TargetOf(lane);
    return target != nullptr && target->network();
  });
}

// "a, b, c and 4 more"
std::string SomeOf(std::vector<std::string> clients) {
  constexpr size_t kMaxNamed = 3;
  const size_t more = clients.size() - std::min(clients.size(), kMaxNamed);
  clients.resize(clients.size() - more);
  return absl::StrCat(absl::StrJoin(clients, ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : std::string());
}

// ", after a remount on 2 clients", or nothing: the clients where dropping caches was not enough.
std::string AboutRemounts(const PhaseView& view) {
  std::set<uint32_t> clients;
  for (const AlignedWorker& worker : view.aligned.workers) {
    for (const v1::StepResult& step : worker.result->steps()) {
      if (step.name() == "cold-remount") clients.insert(view.roster.ClientOf(worker.result->worker()));
    }
  }
  if (clients.empty()) return "";
  return absl::StrCat(", after a remount on ", clients.size(), clients.size() == 1 ? " client" : " clients");
}

// Of all servers, as the user gives it, or as their samplers report it; 0: unknown.
double ServerMemoryOf(const v1::RunRecord& run) {
  if (run.plan().server_memory_bytes() > 0) return static_cast<double>(run.plan().server_memory_bytes());
  double sum = 0;
  for (const v1::WorkerFacts& sampler : run.samplers()) sum += static_cast<double>(sampler.memory_bytes());
  return sum;
}

// Why servers did not drop their caches; empty: all did, or none was asked.
std::string WhyNotDropped(const PhaseView& view) {
  for (const v1::ServerRecord& server : view.phase.servers()) {
    if (server.has_dropped_caches() && !server.dropped_caches().system_caches()) {
      return absl::StrCat("; ", server.dropped_caches().outcome());
    }
  }
  return "";
}

// What the servers' own counters show; empty: nothing.
std::string ShownOfServer(const PhaseView& view, const v1::ReadSources& sources) {
  if (!sources.has_server_memory_bytes()) return "";
  const auto returned = static_cast<double>(sources.server_bytes());
  const double of_memory = PercentOf(static_cast<double>(sources.server_memory_bytes()), returned);
  if (of_memory > kWarmPercent) {
    return absl::StrFormat("not cold: at least %.0f %% of what the servers returned came from their memory%s",
                           of_memory, WhyNotDropped(view));
  }
  return absl::StrFormat("verified: the servers' disks delivered %.0f %% of what they returned",
                         100 - of_memory);
}

std::string AboutServer(const PhaseView& view, const v1::ReadSources& sources) {
  if (!AnyOnServer(view)) return "";
  if (std::string shown = ShownOfServer(view, sources); !shown.empty()) return shown;
  for (const v1::StepResult& hook : view.phase.hooks()) {
    if (hook.name() == "before-phase") return "left to the hook of --before-phase";
  }
  const double memory = ServerMemoryOf(view.run);
  if (memory == 0) {
    return "unknown: drop it with a sampler (worker --sampler --allow drop-caches) or a --before-phase hook, or use files "
           "larger than the server's memory and give that with --server-memory";
  }
  std::vector<const AlignedLane*> lanes;
  for (const AlignedLane& lane : view.aligned.lanes) lanes.push_back(&lane);
  const auto files = static_cast<double>(FileBytesOf(view, lanes));
  if (files <= memory) {
    return absl::StrCat("may be warm: the files of ", FormatBytes(files), " fit into its memory of ",
                        FormatBytes(memory), WhyNotDropped(view));
  }
  return absl::StrFormat("at most %.0f %% of the files of %s fit into its memory of %s", 100 * memory / files,
                         FormatBytes(files), FormatBytes(memory));
}

}  // namespace

void FillCold(const PhaseView& view, v1::PhaseReport& report) {
  const auto& steps = view.phase.phase().before();
  const bool asked = std::any_of(steps.begin(), steps.end(),
                                 [](const v1::Step& step) { return step.drop_caches().verify(); });
  if (!asked || view.aligned.lanes.empty()) return;
  const std::vector<ClientPart> parts = ClientPartsOf(view);
  std::vector<std::string> unknown, in_memory;
  double warmest = 0;
  for (v1::ClientPhaseReport& client : *report.mutable_clients()) {
    const ClientPart& part = parts[view.roster.ClientOf(client.workers(0).worker())];
    if (part.lanes.empty()) continue;
    const Coldness cold = ColdnessOf(view, client, part);
    if (cold.in_memory) {
      in_memory.push_back(client.host());
      continue;
    }
    if (!cold.known) unknown.push_back(client.host());
    warmest = std::max(warmest, cold.percent());
    if (cold.percent() <= kWarmPercent) continue;
    v1::Mark mark = MakeMark(
        mark_code::kNotCold, client.host(), cold.percent(), kWarmPercent,
        "dropping its caches did not make this client cold",
        AdviceFor(
            "run the workers as root with --allow drop-caches or --allow remount, or use {-I|--rotate-clients|files "
            "larger than its memory (-s 2xram)}",
            view.phase.phase()));
    *report.add_marks() = mark;
    *client.add_marks() = std::move(mark);
  }
  v1::ColdReport& verdict = *report.mutable_cold();
  const v1::ReadSources& sources = report.read_sources();
  const double server_percent = PercentOf(static_cast<double>(sources.server_memory_bytes()),
                                          static_cast<double>(sources.server_bytes()));
  verdict.set_verified(unknown.empty() && in_memory.empty() && warmest <= kWarmPercent &&
                       server_percent <= kWarmPercent);
  if (!in_memory.empty()) {
    verdict.set_clients(
        absl::StrCat("not cold: the files of ", SomeOf(in_memory), " are in its memory and nowhere else"));
  } else if (!unknown.empty()) {
    verdict.set_clients(
        absl::StrCat("not verified: no counter of ", SomeOf(unknown), " shows where its reads came from"));
  } else {
    verdict.set_clients(absl::StrFormat("%s: at most %.1f %% of a client's reads came from its memory%s",
                                        warmest <= kWarmPercent ? "verified" : "not cold", warmest,
                                        AboutRemounts(view)));
  }
  verdict.set_server(AboutServer(view, report.read_sources()));
}

}  // namespace iobench
