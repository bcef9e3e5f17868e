#include "coordinator/analysis/phase/phase_writes.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "common/model/plan_traits.h"
#include "coordinator/analysis/phase/host_delta.h"

namespace iobench {
namespace {

// The share of the written bytes that must be at the server for a close to count as a flush. The rest allows for a
// counter that is read just before the last reply.
constexpr double kFlushedShare = 0.95;

constexpr OpKinds kWritingKinds = {OpKind::kWrite, OpKind::kUpdate};

uint64_t WrittenBy(const v1::LaneResult& lane) {
  return static_cast<uint64_t>(TimedBytesOf(lane, kWritingKinds));
}

// Before Linux 5.12, kernel threads performed io_uring's buffered writes and were charged for them.
bool ChargesQueuedWrites(std::string_view kernel) {
  const char* const end = kernel.data() + kernel.size();
  const char* at =
      std::find_if(kernel.begin(), kernel.end(), [](unsigned char c) { return std::isdigit(c); });
  int major = 0, minor = 0;
  at = std::from_chars(at, end, major).ptr;
  if (at == end || *at != '.') return false;
  std::from_chars(at + 1, end, minor);
  return std::pair(major, minor) >= std::pair(5, 12);
}

// Writes to directly mapped persistent memory do not dirty any page.
bool HasDax(const v1::TargetFacts& target) {
  for (const absl::string_view option : absl::StrSplit(target.mount_options(), ',')) {
    if (option == "dax" || absl::StartsWith(option, "dax=")) return option != "dax=never";
  }
  return false;
}

// Lanes of a client whose writes appear in the same counter.
struct SameCounter {
  std::set<uint32_t> targets;  // on one mount
  bool is_nfs4 = false;
  uint64_t buffered = 0, unbuffered = 0;
  bool known = true;

  // Derives the buffered writes from a counter of all its writes: other writes cannot have stayed in memory.
  uint64_t BufferedOf(uint64_t counted) const {
    return std::min(buffered, counted - std::min(counted, unbuffered));
  }
};

// Returns what the mount of these targets had sent to its server. Each worker reads the mount's counters for its own
// targets when its own lanes have ended. Those that ended earlier saw less, so the largest reading counts.
std::optional<uint64_t> SentBytesOf(const ClientPart& part, const std::set<uint32_t>& targets) {
  std::optional<uint64_t> bytes;
  for (const AlignedWorker* worker : part.workers) {
    for (const auto& [target, nfs] : worker->result->host().nfs()) {
      if (!targets.contains(target) || !nfs.has_server_write_bytes()) continue;
      bytes = std::max(bytes.value_or(0), nfs.server_write_bytes());
    }
  }
  return bytes;
}

// Sums over all participating processes, counting each once: several workers may run in one process.
std::optional<uint64_t> DiskWriteBytesOf(const PhaseView& view, const ClientPart& part) {
  std::map<ProcessKey, uint64_t> bytes_of;
  for (const AlignedWorker* worker : part.workers) {
    if (worker->result->lanes().empty()) continue;
    const v1::HostDelta& host = worker->result->host();
    if (!host.has_disk_write_bytes()) return std::nullopt;
    uint64_t& bytes = bytes_of[ProcessKeyOf(view.run, worker->number)];
    bytes = std::max(bytes, host.disk_write_bytes());
  }
  uint64_t sum = 0;
  for (const auto& [process, bytes] : bytes_of) sum += bytes;
  return sum;
}

// Groups one client's lanes by the counter that covers their writes.
class ClientSorter {
 public:
  ClientSorter(const PhaseView& view, const ClientPart& part) : view_(view), part_(part) {
    for (const AlignedLane* lane : part.lanes) Add(*lane);
  }

  std::optional<ClientWrites> Writes() const {
    if (!any_) return std::nullopt;
    ClientWrites writes;
    uint64_t reached = unmounted_.buffered;
    bool known = others_.buffered == 0;
    writes.written_bytes = unmounted_.buffered + others_.buffered + local_.buffered;
    for (const auto& [mount, lanes] : mounts_) {
      if (lanes.buffered == 0) continue;
      const std::optional<uint64_t> sent = SentBytesOf(part_, lanes.targets);
      known &= sent.has_value();
      writes.written_bytes += lanes.buffered;
      writes.more_may_follow |= !Waited(lanes);
      if (sent) reached += lanes.BufferedOf(*sent);
    }
    if (local_.buffered > 0) {
      // A process is also charged for its writes to NFS, and these cannot be separated.
      const std::optional<uint64_t> counted =
          local_.known && mounts_.empty() ? DiskWriteBytesOf(view_, part_) : std::nullopt;
      known &= counted.has_value();
      if (counted) reached += local_.BufferedOf(*counted);
    }
    if (known) writes.reached_bytes = reached;
    return writes;
  }

  // True if the closes of all lanes waited for the server.
  bool CloseFlushes() const {
    if (others_.buffered > 0 || local_.buffered > 0 || in_memory_) return false;
    return std::all_of(mounts_.begin(), mounts_.end(), [this](const auto& mount) {
      return mount.second.buffered == 0 || CloseWaited(mount.second);
    });
  }

 private:
  // With a write delegation close() does not wait, so for NFSv4 the counters must confirm it.
  bool CloseWaited(const SameCounter& lanes) const {
    if (!lanes.is_nfs4) return true;
    const std::optional<uint64_t> sent = SentBytesOf(part_, lanes.targets);
    return sent && static_cast<double>(lanes.BufferedOf(*sent)) >=
                       kFlushedShare * static_cast<double>(lanes.buffered);
  }

  // True if the lanes' timed regions ended with a step that waits for all writes.
  bool Waited(const SameCounter& lanes) const {
    const v1::TimedRegion& region = view_.phase.phase().region();
    return region.fsync() || (region.close() && CloseWaited(lanes));
  }

  void Add(const AlignedLane& lane) {
    const v1::Assignment* const assignment = view_.assignments.Of(lane.worker);
    if (assignment == nullptr || MovesNothing(assignment->operation())) return;
    const v1::Operation& operation = assignment->operation();
    const uint64_t bytes = WrittenBy(*lane.result);
    uint32_t target_index = 0;
    const v1::TargetFacts* const target = view_.TargetOf(lane, &target_index);
    if (bytes == 0) return;
    if (target != nullptr && target->memory()) {
      in_memory_ |= WritesThroughMemory(operation);
      return;
    }
    SameCounter& same = CounterOf(lane, operation, target, target_index);
    if (!WritesThroughMemory(operation)) {
      same.unbuffered += bytes;
      return;
    }
    any_ = true;
    same.buffered += bytes;
  }

  SameCounter& CounterOf(const AlignedLane& lane, const v1::Operation& operation,
                         const v1::TargetFacts* target, uint32_t target_index) {
    if (IsUnmounted(operation)) return unmounted_;
    if (target == nullptr) return others_;
    if (IsNfs(*target)) {
      // Targets on the same mount have the same counters.
      SameCounter& same = mounts_[MountOf(*target, target_index)];
      same.targets.insert(target_index);
      same.is_nfs4 = target->filesystem() == "nfs4";
      return same;
    }
    if (!ChargesItsProcesses(*target)) return others_;
    const std::string& kernel = view_.run.workers(static_cast<int>(lane.worker)).kernel();
    const EngineSpec* const engine = EngineOf(operation);
    const bool by_kernel = engine != nullptr && engine->threads == CallThreads::kKernel;
    local_.known &= !HasDax(*target) && (!by_kernel || ChargesQueuedWrites(kernel));
    return local_;
  }

  const PhaseView& view_;
  const ClientPart& part_;
  bool any_ = false;        // buffered writes
  bool in_memory_ = false;  // buffered writes to a file system in memory
  SameCounter unmounted_, local_, others_;
  std::map<std::string, SameCounter> mounts_;
};

// How much of a lane's writes can at most be unflushed at any time, with flushes among them; nullopt: there are none. As
// for a flush after each write (WritesThroughMemory), sync_file_range is none.
std::optional<uint64_t> MostUnflushed(const v1::Operation& operation) {
  const v1::Between& between = operation.between();
  std::optional<uint64_t> bytes;
  if (const uint64_t every = FlushEveryOps(operation); every > 0 && FlushCallOf(between) != OpKind::kSyncFileRange)
    bytes = (every - 1) * operation.record_bytes();
  if (between.burst_bytes() > 0) bytes = std::min(bytes.value_or(UINT64_MAX), between.burst_bytes());
  return bytes;
}

// True if flushes among the writes of all lanes left only so little in memory as counts as flushed.
bool FlushOften(const PhaseView& view) {
  bool any = false;
  for (const AlignedLane& lane : view.aligned.lanes) {
    const v1::Assignment* const assignment = view.assignments.Of(lane.worker);
    const auto bytes = static_cast<double>(WrittenBy(*lane.result));
    if (assignment == nullptr || bytes == 0 || !WritesThroughMemory(assignment->operation())) continue;
    const std::optional<uint64_t> most = MostUnflushed(assignment->operation());
    if (!most || static_cast<double>(*most) > (1 - kFlushedShare) * bytes) return false;
    any = true;
  }
  return any;
}

}  // namespace

PhaseWrites PhaseWritesOf(const PhaseView& view) {
  PhaseWrites writes;
  const bool often = FlushOften(view);
  writes.flushed = view.traits.headline_fsyncs || view.traits.headline_closes || often;
  for (const ClientPart& part : ClientPartsOf(view)) {
    const ClientSorter client(view, part);
    writes.clients.push_back(client.Writes());
    if (!view.traits.headline_fsyncs && !often) writes.flushed &= client.CloseFlushes();
  }
  return writes;
}

double AllWrittenBytesOf(const PhaseView& view) {
  double bytes = 0;
  for (const AlignedLane& lane : view.aligned.lanes) {
    const v1::Assignment* const assignment = view.assignments.Of(lane.worker);
    if (assignment == nullptr || MovesNothing(assignment->operation())) continue;
    bytes += TimedBytesOf(*lane.result, kWritingKinds);
  }
  return bytes;
}

void FillWrites(const PhaseView& view, v1::PhaseReport& report) {
  uint64_t written = 0, reached = 0;
  bool any = false;
  for (v1::ClientPhaseReport& client : *report.mutable_clients()) {
    const std::optional<ClientWrites>& writes =
        view.writes->clients[view.roster.ClientOf(client.workers(0).worker())];
    if (!writes) continue;
    client.set_written_bytes(writes->written_bytes);
    if (!writes->reached_bytes) continue;
    client.set_reached_bytes(*writes->reached_bytes);
    any = true;
    written += writes->written_bytes;
    reached += *writes->reached_bytes;
  }
  if (any) {
    report.set_written_bytes(written);
    report.set_reached_bytes(reached);
  }
}

}  // namespace iobench
