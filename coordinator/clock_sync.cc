#include "coordinator/clock_sync.h"

#include <algorithm>
#include <map>

#include "common/clock.h"

namespace iobench {
namespace {

constexpr int kVerifyPings = 4;
constexpr int kBurstPings = 16;
constexpr int kMostPingsPerBurst = 4000;  // over all clocks: about 70 us of CPU each over gRPC
constexpr size_t kAtATime = 32;
constexpr size_t kMostNotesPerPhase = 16;

v1::PingSample SampleFrom(CoordTime sent, const v1::Pong& pong, CoordTime returned) {
  v1::PingSample sample;
  sample.set_sent_coord_ns(sent.ns);
  sample.set_received_worker_ns(pong.received_worker_ns());
  sample.set_replied_worker_ns(pong.replied_worker_ns());
  sample.set_returned_coord_ns(returned.ns);
  return sample;
}

int64_t RoundTripNs(const v1::PingSample& sample) {
  return (sample.returned_coord_ns() - sample.sent_coord_ns()) -
         (sample.replied_worker_ns() - sample.received_worker_ns());
}

bool Disjoint(const OffsetInterval& a, const OffsetInterval& b) {
  return a.low_ns > b.high_ns || b.low_ns > a.high_ns;
}

}  // namespace

absl::Status ClockSync::PingAll(const std::vector<uint32_t>& workers, int count, std::vector<Pings>& pings) {
  pings.assign(workers.size(), {});
  for (size_t first = 0; first < workers.size(); first += kAtATime) {
    const size_t end = std::min(first + kAtATime, workers.size());
    std::map<uint32_t, size_t> index_of;
    for (size_t i = first; i < end; ++i) index_of[workers[i]] = i;
    for (int round = 0; round < count; ++round) {
      std::map<uint32_t, CoordTime> sent;
      absl::Status status = cluster_.Call(
          [&](const Member& member) -> std::optional<v1::WorkerRequest> {
            if (!index_of.contains(member.number)) return std::nullopt;
            v1::WorkerRequest request;
            request.mutable_ping();
            sent[member.number] = CoordNow();
            return request;
          },
          [&](const Member& member, const ReceivedEvent& received) {
            Pings& mine = pings[index_of[member.number]];
            v1::PingSample sample =
                SampleFrom(sent[member.number], received.event.pong(), received.received_at);
            mine.best_round_trip_ns = std::min(mine.best_round_trip_ns, RoundTripNs(sample));
            *mine.burst.add_samples() = std::move(sample);
          },
          {});
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ClockSync::Verify() {
  const std::vector<Member>& members = cluster_.members();
  std::vector<uint32_t> everybody;
  everybody.reserve(members.size());
  for (const Member& member : members) everybody.push_back(member.number);
  std::vector<Pings> pings;
  const CoordTime begin = CoordNow();
  if (absl::Status status = PingAll(everybody, kVerifyPings, pings); !status.ok()) return status;
  round_ns_ = (CoordNow() - begin) / kVerifyPings;

  clock_of_.assign(members.size(), 0);
  worker_of_clock_.assign(1, 0);
  std::map<std::string, uint32_t> clock_of_boot_id;
  std::map<uint32_t, OffsetInterval> interval_of_clock;
  if (!always_measure_) {
    clock_of_boot_id[own_boot_id_] = 0;
    interval_of_clock[0] = {};
  }
  for (const Member& member : members) {
    if (member.lost) continue;
    const Pings& mine = pings[member.number];
    longest_round_trip_ns_ = std::max(longest_round_trip_ns_, mine.best_round_trip_ns);
    absl::StatusOr<OffsetInterval> interval = IntervalOf(mine.burst);
    const auto known = clock_of_boot_id.find(member.facts.boot_id());
    // A burst that a clock step spoilt says nothing; then the boot id decides.
    if (known != clock_of_boot_id.end() &&
        (!interval.ok() || !Disjoint(*interval, interval_of_clock[known->second]))) {
      clock_of_[member.number] = known->second;
      continue;
    }
    const uint32_t clock = static_cast<uint32_t>(worker_of_clock_.size());
    worker_of_clock_.push_back(member.number);
    clock_of_[member.number] = clock;
    if (known == clock_of_boot_id.end()) clock_of_boot_id[member.facts.boot_id()] = clock;
    if (interval.ok()) interval_of_clock[clock] = *interval;
  }
  bursts_.assign(worker_of_clock_.size(), {});
  return absl::OkStatus();
}

absl::Status ClockSync::Burst() {
  const size_t clock_count = worker_of_clock_.size() - 1;
  if (clock_count == 0) return absl::OkStatus();
  const int count = std::clamp(static_cast<int>(kMostPingsPerBurst / clock_count), kVerifyPings, kBurstPings);
  // A clock is pinged through any worker that is still there.
  std::vector<uint32_t> workers, clocks;
  for (uint32_t clock = 1; clock <= clock_count; ++clock) {
    for (const Member& member : cluster_.members()) {
      if (clock_of_[member.number] != clock || member.lost) continue;
      workers.push_back(member.number);
      clocks.push_back(clock);
      break;
    }
  }
  for (int attempt = 0; attempt < 3 && !workers.empty(); ++attempt) {
    std::vector<Pings> pings;
    if (absl::Status status = PingAll(workers, count, pings); !status.ok()) return status;
    std::vector<uint32_t> again_workers, again_clocks;
    for (size_t i = 0; i < workers.size(); ++i) {
      if (pings[i].burst.samples().empty()) continue;  // lost meanwhile
      if (IntervalOf(pings[i].burst).ok()) {
        longest_round_trip_ns_ = std::max(longest_round_trip_ns_, pings[i].best_round_trip_ns);
        bursts_[clocks[i]].push_back(std::move(pings[i].burst));
      } else {  // the clock stepped inside the burst
        again_workers.push_back(workers[i]);
        again_clocks.push_back(clocks[i]);
      }
    }
    workers = std::move(again_workers);
    clocks = std::move(again_clocks);
  }
  return absl::OkStatus();
}

void ClockSync::Note(const Member& member, const v1::PingSample& sample) {
  const uint32_t clock = clock_of_[member.number];
  if (clock == 0 || worker_of_clock_[clock] != member.number) return;
  std::vector<v1::PingBurst>& bursts = bursts_[clock];
  if (bursts.size() >= kMostNotesPerPhase) return;
  v1::PingBurst burst;
  *burst.add_samples() = sample;
  if (IntervalOf(burst).ok()) bursts.push_back(std::move(burst));
}

void ClockSync::StartPhase() {
  for (std::vector<v1::PingBurst>& bursts : bursts_) {
    if (bursts.size() > 1) bursts.erase(bursts.begin(), bursts.end() - 1);
  }
}

ClockMap ClockSync::MapOf(uint32_t worker) const {
  const std::vector<v1::PingBurst>& bursts = BurstsOf(worker);
  if (bursts.empty()) return ClockMap::Same();
  absl::StatusOr<ClockMap> map = ClockMap::Fit(bursts);
  if (!map.ok()) map = ClockMap::Fit(std::span(bursts).last(1));
  return map.ok() ? *std::move(map) : ClockMap::Same();
}

}  // namespace iobench
