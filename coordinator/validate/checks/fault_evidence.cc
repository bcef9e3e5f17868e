#include "coordinator/validate/checks/fault_evidence.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/text/display_text.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr double kNoticedS = 1;  // a write that is held up for less may have waited for a disk
// TCP repeats after 0.2, 0.4, 0.8 … s: so many in vain are a host that was silent for a second and a half.
constexpr uint64_t kSilentTimeouts = 3;

void AddRise(const std::optional<uint64_t>& before, const std::optional<uint64_t>& after,
             std::optional<uint64_t>& sum) {
  if (before && after && *after >= *before) sum = sum.value_or(0) + (*after - *before);
}

}  // namespace

absl::StatusOr<ServerSights> LookAtServer(CheckContext& context, uint32_t directory) {
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : context.peers) {
    v1::FileAction& action = calls.emplace(worker, directory).first->second.Add(v1::FileAction::TRY, 1);
    for (const char* const name : {"server-connects", "server-introductions", "tcp-timeouts"})
      action.add_trials(name);
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers tried, context.files.DoAll(calls));
  ServerSights sights;
  for (const auto& [worker, results] : tried) {
    ServerSight& sight = sights[worker];
    for (const v1::TrialResult& trial : results[0].trials()) {
      if (!trial.has_number()) continue;
      if (trial.name() == "server-connects") sight.connects = trial.number();
      if (trial.name() == "server-introductions") sight.introductions = trial.number();
      if (trial.name() == "tcp-timeouts") sight.tcp_timeouts = trial.number();
    }
  }
  return sights;
}

FaultSigns SignsBetween(const ServerSights& before, const ServerSights& after) {
  FaultSigns signs;
  for (const auto& [worker, was] : before) {
    const auto is = after.find(worker);
    if (is == after.end()) continue;
    AddRise(was.connects, is->second.connects, signs.reconnects);
    AddRise(was.introductions, is->second.introductions, signs.introductions);
    std::optional<uint64_t> timeouts;
    AddRise(was.tcp_timeouts, is->second.tcp_timeouts, timeouts);
    if (timeouts) signs.tcp_timeouts = std::max(signs.tcp_timeouts.value_or(0), *timeouts);
  }
  return signs;
}

FaultKind KindOf(const FaultSigns& signs) {
  const bool noticed = signs.held_up_s > kNoticedS || signs.write_failed;
  const bool silent = signs.tcp_timeouts.value_or(0) >= kSilentTimeouts;
  // Over NFSv3, a new connection is all that a client sees of a restart.
  const bool anew = signs.introductions ? *signs.introductions > 0 : signs.reconnects.value_or(0) > 0;
  if (anew) return silent ? FaultKind::kHostRestarted : FaultKind::kServiceRestarted;
  if (signs.reconnects.value_or(0) > 0) return FaultKind::kSilence;
  if (!noticed) return FaultKind::kNone;
  return signs.reconnects ? FaultKind::kSilence : FaultKind::kUnknown;
}

const char* Describe(FaultKind kind) {
  switch (kind) {
    case FaultKind::kNone:
      return "no write was held up for a second, and no client saw the server lose a connection or its state";
    case FaultKind::kUnknown:
      return "writes were held up, and these clients cannot tell by what";
    case FaultKind::kSilence:
      return "the server did not answer for a while and then went on as before: it was not restarted";
    case FaultKind::kServiceRestarted:
      return "the NFS service was restarted, on a host that answered all the time";
    case FaultKind::kHostRestarted:
      return "the server's host did not answer for a while, and its NFS service then began anew, there or on another "
             "host";
  }
  return "";
}

std::vector<std::string> Lines(const FaultSigns& signs) {
  std::vector<std::string> lines = {
      absl::StrCat("the longest write took ", FormatSeconds(signs.held_up_s),
                   signs.write_failed ? "; at least one failed or never returned" : "")};
  if (signs.reconnects) lines.push_back(absl::StrCat("new connections to the server: ", *signs.reconnects));
  if (signs.introductions) {
    lines.push_back(
        absl::StrCat("times that the server no longer knew its clients (NFSv4): ", *signs.introductions));
  }
  if (signs.tcp_timeouts) {
    lines.push_back(
        absl::StrCat("TCP segments that no host acknowledged in time, on one client: ", *signs.tcp_timeouts));
  }
  return lines;
}

std::vector<std::string> AsyncExports(const CheckContext& context) {
  std::vector<std::string> lines;
  for (const Member& sampler : context.files.cluster().samplers()) {
    for (const v1::NfsExport& each : sampler.facts.nfs_server().exports()) {
      const std::vector<std::string> options = absl::StrSplit(each.options(), ',');
      if (std::find(options.begin(), options.end(), "async") == options.end()) continue;
      lines.push_back(absl::StrCat(Printable(sampler.facts.host()), " exports ", Printable(each.path()),
                                   " to ", Printable(each.clients()), " with async"));
    }
  }
  return lines;
}

}  // namespace iobench
