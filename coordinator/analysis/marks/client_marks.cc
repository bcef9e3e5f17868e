// The marks of one client: its clock, its writes, network errors. For its caches see cache_marks.cc, for its load
// load_marks.cc.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/text/mark_codes.h"
#include "coordinator/analysis/marks/advice.h"
#include "coordinator/analysis/marks/cache_marks.h"
#include "coordinator/analysis/marks/marks.h"
#include "coordinator/analysis/phase/host_delta.h"
#include "coordinator/analysis/phase/phase_writes.h"

namespace iobench {
namespace {

constexpr double kClockErrorMs = 5.0;
constexpr double kClockErrorShare = 0.01;  // of the phase's duration
constexpr double kReachedPercent = 90.0;

void AddClockMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                   std::span<const AlignedWorker* const> workers, std::vector<v1::Mark>& marks) {
  const double error_ms = client.clock_error_us() / 1e3;
  if (std::any_of(workers.begin(), workers.end(),
                  [](const AlignedWorker* worker) { return worker->clock_stepped; })) {
    marks.push_back(MakeMark(
        mark_code::kClockStep, client.host(), error_ms, 0,
        "its clock was stepped during the phase, so its times depend on a single burst of pings"));
  }
  const double phase_ms = 1e3 * view.figures.duration_s;
  const double threshold_ms =
      phase_ms > 0 ? std::min(kClockErrorMs, kClockErrorShare * phase_ms) : kClockErrorMs;
  if (error_ms > threshold_ms) {
    marks.push_back(MakeMark(
        mark_code::kClockUncertain, client.host(), error_ms, threshold_ms,
        "its clock offset is too uncertain for this phase"));
  }
}

void AddAbsorbed(const PhaseView& view, size_t client_index, std::vector<v1::Mark>& marks) {
  const std::optional<ClientWrites>& writes = view.writes->clients[client_index];
  if (!writes || !writes->reached_bytes || writes->more_may_follow) return;
  const double reached_percent =
      100 * static_cast<double>(*writes->reached_bytes) / static_cast<double>(writes->written_bytes);
  if (reached_percent >= kReachedPercent) return;
  marks.push_back(MakeMark(
      mark_code::kAbsorbed, view.roster.NameOf(client_index), reached_percent, kReachedPercent,
      "less than 90 % of the bytes written reached the server or device; the rest were overwritten in the client's memory "
      "before they left it",
      AdviceFor("use {-e, which with --time flushes each pass|-o|-I|records that do not overlap}", view.phase.phase())));
}

// What happened to a mount's READ, WRITE and COMMIT.
struct RpcTroubles {
  uint64_t retransmissions = 0, timeouts = 0, errors = 0;
};

RpcTroubles TroublesIn(const v1::NfsDelta& nfs) {
  RpcTroubles troubles;
  for (const char* name : {"READ", "WRITE", "COMMIT"}) {
    const auto op = nfs.ops().find(name);
    if (op == nfs.ops().end()) continue;
    const v1::NfsOpDelta& delta = op->second;
    // The kernel's counters have transmissions >= ops, but they are not read at the same instant.
    troubles.retransmissions += delta.transmissions() - std::min(delta.transmissions(), delta.ops());
    troubles.timeouts += delta.major_timeouts();
    troubles.errors += delta.errors();
  }
  return troubles;
}

void AddRetransmits(const PhaseView& view, const v1::ClientPhaseReport& client,
                    std::vector<v1::Mark>& marks) {
  const size_t index = view.roster.ClientOf(client.workers(0).worker());
  std::map<std::string, RpcTroubles> mounts;
  // Targets on one mount have the same counters. The largest count, because protobuf's maps have no fixed order.
  for (const auto& [target_index, nfs] : client.host_delta().nfs()) {
    std::string mount = absl::StrCat("target ", target_index);
    const v1::TargetFacts* const seen = SeenOf(view.run, view.roster.WorkersOf(index), target_index);
    if (seen != nullptr) mount = MountOf(*seen, target_index);
    const RpcTroubles troubles = TroublesIn(nfs);
    RpcTroubles& largest = mounts[mount];
    largest.retransmissions = std::max(largest.retransmissions, troubles.retransmissions);
    largest.timeouts = std::max(largest.timeouts, troubles.timeouts);
    largest.errors = std::max(largest.errors, troubles.errors);
  }
  RpcTroubles sum;
  for (const auto& [mount, troubles] : mounts) {
    sum.retransmissions += troubles.retransmissions;
    sum.timeouts += troubles.timeouts;
    sum.errors += troubles.errors;
  }
  const uint64_t all = sum.retransmissions + sum.timeouts + sum.errors;
  if (all == 0) return;
  marks.push_back(MakeMark(
      mark_code::kRetransmits, client.host(), static_cast<double>(all), 0,
      absl::StrCat("READ, WRITE and COMMIT had ", sum.retransmissions, " retransmissions, ", sum.timeouts,
                   " timeouts, ", sum.errors, " errors")));
}

void AddRetransmissions(const v1::ClientPhaseReport& client, std::vector<v1::Mark>& marks) {
  if (!client.has_transport() || !Loses(client.transport())) return;
  marks.push_back(MakeMark(
      mark_code::kRetransmissions, client.host(), 100 * client.transport().retransmitted_share(), 100 * kLossyShare,
      "TCP had to send 0.1 % of its segments again, or more: the network lost them"));
}

}  // namespace

std::vector<v1::Mark> ClientMarks(const PhaseView& view, const v1::ClientPhaseReport& client,
                                  const ClientPart& part) {
  std::vector<v1::Mark> marks;
  AddClockMarks(view, client, part.workers, marks);
  for (v1::Mark& mark : CacheMarks(view, client, part)) marks.push_back(std::move(mark));
  AddAbsorbed(view, view.roster.ClientOf(client.workers(0).worker()), marks);
  if (std::optional<v1::Mark> stall = StallMark(view, client, part)) marks.push_back(*std::move(stall));
  AddLoadMarks(view, client, part.lanes, marks);
  AddRetransmits(view, client, marks);
  AddRetransmissions(client, marks);
  return marks;
}

}  // namespace iobench
