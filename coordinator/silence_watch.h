// Which workers have stopped answering: a process that is stopped, a host that hangs, a network that lets nothing
// through.
#ifndef COORDINATOR_SILENCE_WATCH_H_
#define COORDINATOR_SILENCE_WATCH_H_

#include <cstdint>
#include <vector>

#include "common/time.h"

namespace iobench {

// Pure: its owner tells it what it hears, looks now and then, and does what Look says. One that is silent for a while
// is asked, and only then is its silence counted. Workers are numbered from 0.
class SilenceWatch {
 public:
  // A worker is to be given up when it has not answered for `lost_after_ns`.
  SilenceWatch(uint32_t worker_count, int64_t lost_after_ns, CoordTime now);

  // Whatever it is. True: the worker's silence had been told.
  bool Heard(uint32_t worker, CoordTime now);
  // The worker is lost or given up: nothing more is said of it.
  void Forget(uint32_t worker) { workers_[worker].gone = true; }

  struct Findings {
    std::vector<uint32_t> to_ask;      // send it something that it answers at once
    std::vector<uint32_t> to_tell;     // silent for told_after_ns; each once until it is heard again
    std::vector<uint32_t> to_give_up;  // the owner forgets them
  };
  // Costs little, however often it is called. Time in which nobody looked is nobody's silence: we were stopped
  // ourselves, or busy, and what came meanwhile has not been heard yet.
  Findings Look(CoordTime now);

  int64_t told_after_ns() const { return told_after_ns_; }

 private:
  struct Worker {
    CoordTime heard;
    CoordTime asked{INT64_MAX};  // of the question that is not answered; INT64_MAX: there is none
    bool told = false;
    bool gone = false;
  };

  const int64_t lost_after_ns_;
  const int64_t told_after_ns_;
  const int64_t ask_after_ns_;
  CoordTime looked_;
  std::vector<Worker> workers_;
};

}  // namespace iobench

#endif  // COORDINATOR_SILENCE_WATCH_H_
