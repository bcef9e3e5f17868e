#include "coordinator/cluster/samplers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "common/status_util.h"
#include "common/time.h"

namespace iobench {
namespace {

constexpr int kSamplerPings = 8;
// A server may be busy on all processors: its sampler then answers late, which must not cost its figures.
constexpr int64_t kWithinNs = 5 * kNanosPerSecond;
// Writing back a server's memory before it is dropped may take minutes.
constexpr int64_t kDropWithinNs = 600 * kNanosPerSecond;
constexpr size_t kMaxOutcomeBytes = 1024;
constexpr int64_t kAfterInterruptNs = kNanosPerSecond / 2;

// More than a sampler keeps, and more than a host has.
constexpr int kMaxIntervals = 5000;
constexpr int kMaxDevices = 4096;
constexpr size_t kMaxNameBytes = 128;

bool IsAmount(double value) {
  return std::isfinite(value) && value >= 0;
}

// True if what a sampler reports is possible: it comes from another host, which may be anybody's.
bool IsPossible(const v1::ServerInterval& interval) {
  const bool shares = IsAmount(interval.cpu_busy()) && interval.cpu_busy() <= 1 &&
                      IsAmount(interval.busiest_processor()) && interval.busiest_processor() <= 1;
  bool possible = shares && interval.disks_size() <= kMaxDevices && interval.nics_size() <= kMaxDevices &&
                  interval.begin_worker_ns() >= 0 && interval.end_worker_ns() <= INT64_MAX / 4;
  for (const v1::DiskDelta& disk : interval.disks()) {
    possible = possible && disk.name().size() <= kMaxNameBytes && IsAmount(disk.busy_s()) &&
               IsAmount(disk.waited_s());
  }
  for (const v1::NicDelta& nic : interval.nics()) possible = possible && nic.name().size() <= kMaxNameBytes;
  return possible;
}

bool ArePossible(const v1::Samples& samples) {
  return samples.intervals_size() <= kMaxIntervals &&
         std::all_of(samples.intervals().begin(), samples.intervals().end(), IsPossible);
}

}  // namespace

absl::Status Samplers::Ping(Waiting waiting) {
  std::map<uint32_t, v1::PingBurst> bursts;
  for (int round = 0; round < kSamplerPings; ++round) {
    std::map<uint32_t, CoordTime> sent;
    IOBENCH_RETURN_IF_ERROR(cluster_.CallSamplers(
        [&](const Member& sampler) -> std::optional<v1::WorkerRequest> {
          v1::WorkerRequest request;
          request.mutable_ping();
          sent[sampler.number] = cluster_.Now();
          return request;
        },
        [&](const Member& sampler, const ReceivedEvent& received) {
          v1::PingSample& sample = *bursts[sampler.number].add_samples();
          sample.set_sent_coord_ns(sent[sampler.number].ns);
          sample.set_received_worker_ns(received.event.pong().received_worker_ns());
          sample.set_replied_worker_ns(received.event.pong().replied_worker_ns());
          sample.set_returned_coord_ns(received.received_at.ns);
        },
        waiting.within_ns, waiting.interruptible));
  }
  for (auto& [number, burst] : bursts) *records_[number].add_bursts() = std::move(burst);
  return absl::OkStatus();
}

absl::Status Samplers::Take(Waiting waiting) {
  return cluster_.CallSamplers(
      [&](const Member&) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request;
        request.mutable_sample()->set_interval_ms(static_cast<uint32_t>(interval_ns_ / 1'000'000));
        return request;
      },
      [&](const Member& sampler, const ReceivedEvent& received) {
        v1::ServerRecord& record = RecordOf(sampler);
        if (received.event.problem().code() != 0) {
          record.set_lost_reason(received.event.problem().message());
          return;
        }
        if (ArePossible(received.event.samples())) {
          *record.mutable_intervals() = received.event.samples().intervals();
        } else {
          record.set_lost_reason("it reported what no host can have done");
        }
      },
      waiting.within_ns, waiting.interruptible);
}

absl::Status Samplers::DropCaches() {
  return cluster_.CallSamplers(
      [](const Member&) -> std::optional<v1::WorkerRequest> {
        v1::WorkerRequest request;
        request.mutable_client_step()->mutable_step()->mutable_drop_caches();
        return request;
      },
      [&](const Member& sampler, const ReceivedEvent& received) {
        v1::StepResult& step = dropped_[sampler.number];
        step = received.event.client_step_done().step();
        if (received.event.problem().code() != 0) {
          step.clear_system_caches();
          step.set_outcome(received.event.problem().message());
        }
        step.set_name("drop-server-caches");
        step.set_seconds(IsAmount(step.seconds()) ? step.seconds() : 0);
        step.set_outcome(step.outcome().substr(0, kMaxOutcomeBytes));
      },
      kDropWithinNs, true);
}

absl::Status Samplers::Begin() {
  records_.assign(cluster_.samplers().size(), {});
  if (records_.empty()) return absl::OkStatus();
  for (uint32_t i = 0; i < records_.size(); ++i) records_[i].set_sampler(first_index_ + i);
  constexpr Waiting kBefore = {.within_ns = kWithinNs, .interruptible = true};
  IOBENCH_RETURN_IF_ERROR(Ping(kBefore));
  IOBENCH_RETURN_IF_ERROR(Take(kBefore));
  for (v1::ServerRecord& record : records_) record.clear_intervals();
  return absl::OkStatus();
}

std::vector<v1::ServerRecord> Samplers::End() {
  if (records_.empty()) return {};
  // Not interruptible: an answer that nobody waits for would be lost with its figures.
  const Waiting after = {.within_ns = cluster_.interrupted() ? kAfterInterruptNs : kWithinNs,
                         .interruptible = false};
  Take(after).IgnoreError();
  Ping(after).IgnoreError();
  for (const Member& sampler : cluster_.samplers()) {
    if (!sampler.lost) continue;
    RecordOf(sampler).set_lost(true);
    RecordOf(sampler).set_lost_reason(sampler.lost_reason);
  }
  for (auto& [number, step] : std::exchange(dropped_, {})) {
    *records_[number].mutable_dropped_caches() = std::move(step);
  }
  return std::exchange(records_, {});
}

}  // namespace iobench
