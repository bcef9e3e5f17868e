#include "coordinator/cluster/clock_sync.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "common/text/units.h"
#include "common/time.h"

namespace iobench {
namespace {

constexpr int kVerifyPings = 4;
constexpr int kBurstPings = 16;
// Over all clocks, but at least one for each: a ping costs about 70 us of CPU over gRPC.
constexpr int kMaxPingsPerBurst = 2 * ClockSync::kMaxBurstClocks;
constexpr size_t kAtATime = 32;
// With one poll per second, a clock's error grows by 0.25 ms. If there are many clocks, they are polled less often,
// such that it stays below 5 ms.
constexpr int64_t kPollNs = kNanosPerSecond;
constexpr int64_t kLongestPollNs = 10 * kNanosPerSecond;
constexpr int64_t kPollNsPerClock = 1'000'000;
// Pings up to this age are new: very many clocks go unpolled for this long, which adds at most 5 ms to a clock's error.
constexpr int64_t kNewNs = kLongestPollNs;

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

// A worker cannot have spent longer on its answer than the time that passed here, even if one of the clocks is slewed.
constexpr int64_t kPossibleSlackNs = 1'000'000;
constexpr int64_t kPossibleDriftDivisor = 1000;

int PingsFor(size_t clocks, int most) {
  return std::clamp(static_cast<int>(kMaxPingsPerBurst / std::max<size_t>(1, clocks)), 1, most);
}

bool Disjoint(const OffsetInterval& a, const OffsetInterval& b) {
  return a.low_ns > b.high_ns || b.low_ns > a.high_ns;
}

}  // namespace

absl::Status ClockSync::PingAll(const std::vector<uint32_t>& workers, int count, std::vector<Pings>& pings) {
  pings.assign(workers.size(), {});
  for (size_t first = 0; first < workers.size(); first += kAtATime) {
    const size_t end = std::min(first + kAtATime, workers.size());
    const std::span<const uint32_t> some = std::span(workers).subspan(first, end - first);
    std::unordered_map<uint32_t, size_t> index_of;
    for (size_t i = first; i < end; ++i) index_of[workers[i]] = i;
    for (int round = 0; round < count; ++round) {
      std::unordered_map<uint32_t, CoordTime> sent;
      absl::Status status = cluster_.CallSome(
          some,
          [&](const Member& member) -> std::optional<v1::WorkerRequest> {
            v1::WorkerRequest request;
            request.mutable_ping();
            sent[member.number] = cluster_.Now();
            return request;
          },
          [&](const Member& member, const ReceivedEvent& received) {
            Pings& mine = pings[index_of[member.number]];
            v1::PingSample sample =
                SampleFrom(sent[member.number], received.event.pong(), received.received_at);
            if (!IsPossible(member.number, sample)) return;
            mine.best_round_trip_ns = std::min(mine.best_round_trip_ns, RoundTripNs(sample));
            *mine.burst.add_samples() = std::move(sample);
          },
          {});
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

bool ClockSync::IsPossible(uint32_t worker, const v1::PingSample& sample) {
  const int64_t here_ns = sample.returned_coord_ns() - sample.sent_coord_ns();
  const auto too_much_ns = here_ns + here_ns / kPossibleDriftDivisor + kPossibleSlackNs;
  // Unsigned, because the worker's numbers may be anything.
  const uint64_t there_ns =
      static_cast<uint64_t>(sample.replied_worker_ns()) - static_cast<uint64_t>(sample.received_worker_ns());
  const bool in_range = sample.received_worker_ns() > 0 && sample.replied_worker_ns() <= INT64_MAX / 4;
  const bool in_order = sample.replied_worker_ns() >= sample.received_worker_ns();
  if (in_range && in_order && there_ns <= static_cast<uint64_t>(too_much_ns)) return true;
  impossible_.resize(std::max<size_t>(impossible_.size(), worker + 1));
  impossible_[worker] =
      !in_range   ? "a ping arrived there at no time that a clock can show"
      : !in_order ? "it answered a ping before the ping had arrived"
                  : absl::StrCat("it spent ", FormatSeconds(SecondsFrom(static_cast<int64_t>(there_ns))),
                                 " on a ping that was back after ", FormatSeconds(SecondsFrom(here_ns)));
  return false;
}

void ClockSync::AddRoundTrip(int64_t round_trip_ns) {
  longest_round_trip_ns_ = std::max(longest_round_trip_ns_, std::min(round_trip_ns, kLongestRoundTripNs));
}

absl::Status ClockSync::Verify() {
  const std::vector<Member>& members = cluster_.members();
  std::vector<uint32_t> everybody;
  everybody.reserve(members.size());
  for (const Member& member : members) everybody.push_back(member.number);
  impossible_.assign(members.size(), "");
  std::vector<Pings> pings;
  const int count = PingsFor(everybody.size(), kVerifyPings);
  const CoordTime begin = cluster_.Now();
  if (absl::Status status = PingAll(everybody, count, pings); !status.ok()) return status;
  round_ns_ = (cluster_.Now() - begin) / count;

  // The clocks with one boot id, in the order in which they were found. Several mean that machines were cloned.
  struct Clock {
    uint32_t number = 0;
    OffsetInterval interval;
    std::string first_worker;
  };
  std::map<std::string, std::vector<Clock>> clocks_of_boot_id;
  if (measured_ == Measured::kOtherClocks)
    clocks_of_boot_id[own_boot_id_].push_back({0, {}, "the coordinator"});
  clock_of_.assign(members.size(), 0);
  std::vector<uint32_t> clone_of_worker(members.size(), 0);
  uint32_t clock_count = 1;
  for (const Member& member : members) {
    if (member.lost) {
      clone_of_worker[member.number] = member.facts.clone();  // as found while it answered
      continue;
    }
    const Pings& mine = pings[member.number];
    if (!mine.burst.samples().empty()) AddRoundTrip(mine.best_round_trip_ns);
    const absl::StatusOr<OffsetInterval> interval = IntervalOf(mine.burst);
    std::vector<Clock>& known = clocks_of_boot_id[member.facts.boot_id()];
    // A burst that contains a clock step proves nothing; then the boot id decides.
    auto clock = std::find_if(known.begin(), known.end(), [&](const Clock& other) {
      return !interval.ok() || !Disjoint(*interval, other.interval);
    });
    if (clock == known.end()) {
      const OffsetInterval measured = interval.ok() ? *interval : OffsetInterval{{}, INT64_MIN, INT64_MAX};
      clock = known.insert(known.end(), {clock_count++, measured, member.Name()});
      if (known.size() > 1) {
        notes_.push_back(absl::StrCat(
            member.Name(), " has the same boot id as ", known.front().first_worker,
            " but another clock: cloned machines. It counts as a separate client with its own clock; give each clone "
            "its own identity"));
      }
    }
    clock_of_[member.number] = clock->number;
    clone_of_worker[member.number] = static_cast<uint32_t>(clock - known.begin());
  }
  logs_.assign(clock_count, {});
  cluster_.SeparateClones(clone_of_worker);
  return absl::OkStatus();
}

std::vector<uint32_t> ClockSync::OneOfEachClock(const std::function<bool(const Member&)>& fits) const {
  std::vector<bool> found(logs_.size(), false);
  std::vector<uint32_t> workers;
  for (const Member& member : cluster_.members()) {
    const uint32_t clock = clock_of_[member.number];
    if (clock == 0 || found[clock] || member.lost || !fits(member)) continue;
    found[clock] = true;
    workers.push_back(member.number);
  }
  return workers;
}

int64_t ClockSync::poll_interval_ns() const {
  if (measured_clock_count() == 0) return 0;
  return std::clamp(static_cast<int64_t>(measured_clock_count()) * kPollNsPerClock, kPollNs, kLongestPollNs);
}

bool ClockSync::pings_ride() const {
  return measured_clock_count() > max_burst_clocks_;
}

bool ClockSync::HasNewPings(uint32_t worker) const {
  const std::vector<v1::PingBurst>& bursts = BurstsOf(worker);
  if (bursts.empty()) return false;
  const v1::PingBurst& newest = bursts.back();
  const CoordTime at{newest.samples(newest.samples_size() - 1).returned_coord_ns()};
  return cluster_.Now() - at < kNewNs;
}

absl::Status ClockSync::Burst() {
  std::vector<uint32_t> workers =
      OneOfEachClock([this](const Member& member) { return !pings_ride() || !HasNewPings(member.number); });
  if (workers.empty()) return absl::OkStatus();
  const int count = pings_ride() ? 1 : PingsFor(workers.size(), kBurstPings);
  for (int attempt = 0; attempt < 3 && !workers.empty(); ++attempt) {
    std::vector<Pings> pings;
    if (absl::Status status = PingAll(workers, count, pings); !status.ok()) return status;
    std::vector<uint32_t> again;
    for (size_t i = 0; i < workers.size(); ++i) {
      if (pings[i].burst.samples().empty()) continue;  // lost in the meantime, or impossible
      if (IntervalOf(pings[i].burst).ok()) {
        AddRoundTrip(pings[i].best_round_trip_ns);
        logs_[clock_of_[workers[i]]].Add(std::move(pings[i].burst));
      } else {  // the clock was stepped within the burst
        again.push_back(workers[i]);
      }
    }
    workers = std::move(again);
  }
  return absl::OkStatus();
}

void ClockSync::Note(const Member& member, CoordTime sent, const v1::Pong& pong, CoordTime returned) {
  const v1::PingSample sample = SampleFrom(sent, pong, returned);
  const uint32_t clock = clock_of_[member.number];
  if (clock == 0 || !IsPossible(member.number, sample)) return;
  v1::PingBurst burst;
  *burst.add_samples() = sample;
  if (IntervalOf(burst).ok()) logs_[clock].Add(std::move(burst));
}

void ClockSync::KeepAround(CoordTime instant) {
  for (PingLog& log : logs_) log.KeepAround(instant);
}

void ClockSync::StartPhase() {
  for (PingLog& log : logs_) log.StartPhase();
}

ClockMap ClockSync::MapOf(uint32_t worker) const {
  const std::vector<v1::PingBurst>& bursts = BurstsOf(worker);
  if (bursts.empty()) return ClockMap::Same();
  absl::StatusOr<ClockMap> map = ClockMap::Fit(bursts);
  if (!map.ok()) map = ClockMap::Fit(std::span(bursts).last(1));
  return map.ok() ? *std::move(map) : ClockMap::Same();
}

}  // namespace iobench
