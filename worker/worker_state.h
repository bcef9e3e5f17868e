// The state machine of a worker: one table of the state that follows each message in each state. control.proto shows
// the same table, and session_test.cc compares the two.
#ifndef WORKER_WORKER_STATE_H_
#define WORKER_WORKER_STATE_H_

#include <cstddef>
#include <optional>

#include "iobench/v1/control.pb.h"

namespace iobench {

enum class WorkerState {
  kIdle,       // no phase
  kPreparing,  // a phase is being prepared
  kPrepared,   // files are open, and the lanes wait for the start time
  kRunning,    // the start time is set
  kQuitting,   // as kRunning, and told to quit
  kDone,       // all timed regions have ended
  kEnded,      // as kDone, and told to quit
  kCollected,  // as kIdle, but the results of the last phase may be collected again
  kDisarming,  // the phase is being cancelled
};
// The sizes of the tables in worker_state.cc, which are in the order of the enumerators.
inline constexpr size_t kWorkerStateCount = 9;

// What changes a worker's state: the coordinator's requests, and the outcomes of its own work.
enum class WorkerMessage {
  kInspect,
  kDataStep,
  kClientStep,
  kNetTest,
  kFileActions,
  kSample,
  kFillSpace,
  kPrepare,
  kPing,
  kArm,
  kDisarm,
  kStop,
  kOpsGoal,
  kQuit,
  kPoll,
  kCollect,
  kLeave,
  // Outcomes.
  kPrepared,
  kUnprepared,  // the phase cannot be prepared
  kArmed,       // in time
  kLanesDone,
  kCollected,  // the last chunk is sent
  kDisarmed,
};
inline constexpr size_t kWorkerMessageCount = 23;

// Returns the state after the message; nullopt: a request is refused, an outcome is dropped. Pure: the session keeps
// the state and acts on it.
std::optional<WorkerState> NextState(WorkerState state, WorkerMessage message);

// Returns nullopt for a request without a body or with an unknown one.
std::optional<WorkerMessage> MessageOf(const v1::WorkerRequest& request);

// The names in the table of control.proto: "Idle", "Adjust.stop", "lanes_done".
const char* NameOf(WorkerState state);
const char* NameOf(WorkerMessage message);
// What the worker is doing, for messages to the user: "running a phase".
const char* ActivityOf(WorkerState state);

}  // namespace iobench

#endif  // WORKER_WORKER_STATE_H_
