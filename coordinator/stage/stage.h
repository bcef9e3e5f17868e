// What a command finds once its transport is set up.
#ifndef COORDINATOR_STAGE_STAGE_H_
#define COORDINATOR_STAGE_STAGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "common/transport/transport.h"
#include "coordinator/cluster/interrupt.h"
#include "coordinator/launch/join_watch.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

class ResultLock;
struct ResumePoint;

// The environment that a command runs in. The thread that calls the command must own the transport.
struct Stage {
  Transport& transport;
  uint32_t worker_count = 1;  // how many must join
  const Interrupt& interrupt;
  v1::WorkerFacts coordinator;  // host, boot id and clock of this process
  std::string command;          // as typed
  JoinWatch join_watch = {};
  const ResumePoint* resume = nullptr;  // the saved run to resume; null: a new run
  std::shared_ptr<ResultLock> results_lock = nullptr;  // of the directory for results; null: there is none yet
};

}  // namespace iobench

#endif  // COORDINATOR_STAGE_STAGE_H_
