// Detects workers that have stopped answering: a stopped process, a hanging host, or a broken network.
#ifndef COORDINATOR_CLUSTER_SILENCE_WATCH_H_
#define COORDINATOR_CLUSTER_SILENCE_WATCH_H_

#include <cstdint>
#include <vector>

#include "common/time.h"

namespace iobench {

// The lease that a coordinator with so many workers grants to each: at least three beats of SilenceWatch, so that none
// leaves because one of them was late. `lease_ns`: that of --lease.
int64_t GrantedLeaseNs(uint32_t worker_count, int64_t lease_ns);

// Pure: its owner reports what it hears and sends, calls Look from time to time and acts on the result. A worker that
// has been silent, or has been sent nothing, for beat_ns() is asked. It is reported or given up if it stays silent in
// spite of the question. The questions are also the heartbeat of the workers' leases. Workers are numbered from 0.
class SilenceWatch {
 public:
  // A worker is given up if it has been silent for `lost_after_ns`. It is asked after a third of `lease_ns`, a quarter
  // of `lost_after_ns` or 5 s, whichever is shortest, but at most 500 workers are asked per second.
  SilenceWatch(uint32_t worker_count, int64_t lost_after_ns, int64_t lease_ns, CoordTime now);

  // Records any message to a worker.
  void Sent(uint32_t worker, CoordTime now) { workers_[worker].sent = now; }
  // Records any message from a worker. Returns true if its silence had been reported.
  bool Heard(uint32_t worker, CoordTime now);
  // The worker is lost or given up; it no longer appears in the findings.
  void Forget(uint32_t worker) { workers_[worker].gone = true; }

  // What the owner must do now, by worker number.
  struct Findings {
    std::vector<uint32_t> to_ask;      // send them a request that they answer at once
    std::vector<uint32_t> to_tell;     // silent for told_after_ns; reported once until heard again
    std::vector<uint32_t> to_give_up;  // the owner must call Forget
  };
  // Cheap, however often it is called. Time during which nobody called it does not count as silence: this process was
  // stopped or busy, and messages that arrived meanwhile have not been read yet.
  Findings Look(CoordTime now);

  // The silence that is reported: 10 s, or half of `lost_after_ns` if that is shorter.
  int64_t told_after_ns() const { return told_after_ns_; }
  int64_t beat_ns() const { return beat_ns_; }  // at most a third of GrantedLeaseNs
  // When the worker was last heard.
  CoordTime heard(uint32_t worker) const { return workers_[worker].heard; }

 private:
  struct Worker {
    CoordTime heard;
    CoordTime sent;
    CoordTime asked{INT64_MAX};  // time of the unanswered question; INT64_MAX: none
    bool told = false;
    bool gone = false;
  };

  const int64_t lost_after_ns_;
  const int64_t told_after_ns_;
  const int64_t beat_ns_;
  CoordTime looked_;
  std::vector<Worker> workers_;
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_SILENCE_WATCH_H_
