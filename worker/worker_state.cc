#include "worker/worker_state.h"

#include <array>
#include <span>

#include "common/model/enum_set.h"

namespace iobench {
namespace {

struct StateWords {
  const char* name;
  const char* activity;
};
// In the order of WorkerState.
constexpr std::array<StateWords, kWorkerStateCount> kStateWords = {{
    {"Idle", "idle"},
    {"Preparing", "preparing a phase"},
    {"Prepared", "prepared"},
    {"Running", "running a phase"},
    {"Quitting", "running a phase"},
    {"Done", "done with a phase"},
    {"Ended", "done with a phase"},
    {"Collected", "idle"},
    {"Disarming", "disarming"},
}};

// In the order of WorkerMessage.
constexpr std::array<const char*, kWorkerMessageCount> kMessageNames = {
    "Inspect",         "DataStep",    "ClientStep", "NetTest",   "FileActions",   "Sample",
    "FillSpace",       "Prepare",     "Ping",       "Arm",       "Adjust.disarm", "Adjust.stop",
    "Adjust.ops_goal", "Adjust.quit", "Poll",       "Collect",   "Leave",         "prepared",
    "unprepared",      "armed",       "lanes_done", "collected", "disarmed"};

// The states in which a message is accepted, and the state that follows.
struct Transition {
  WorkerMessage message;
  EnumSet<WorkerState> in;
  std::optional<WorkerState> next;  // nullopt: the same
};

// In any other state, a request is refused and an outcome is dropped.
std::span<const Transition> Transitions() {
  using enum WorkerState;
  using M = WorkerMessage;
  constexpr EnumSet<WorkerState> kAny = {kIdle, kPreparing, kPrepared,  kRunning,  kQuitting,
                                         kDone, kEnded,     kCollected, kDisarming};
  constexpr std::nullopt_t kSame = std::nullopt;
  // clang-format off
  static constexpr Transition kTransitions[] = {
      {M::kInspect,     kAny,                                          kSame},
      {M::kDataStep,    {kIdle, kQuitting, kDone, kEnded, kCollected}, kSame},
      {M::kClientStep,  {kIdle, kCollected},                           kSame},
      {M::kNetTest,     {kIdle, kCollected},                           kSame},
      {M::kFileActions, {kIdle, kCollected},                           kSame},
      {M::kSample,      kAny,                                          kSame},
      {M::kFillSpace,   {kIdle, kCollected},                           kSame},
      {M::kPrepare,     {kIdle, kCollected},                           kPreparing},
      {M::kPing,        kAny,                                          kSame},
      {M::kArm,         kPrepared,                                     kSame},
      {M::kDisarm,      kAny,                                          kDisarming},
      {M::kStop,        {kRunning, kQuitting, kDone, kEnded},          kSame},
      {M::kOpsGoal,     {kRunning, kQuitting, kDone, kEnded},          kSame},
      {M::kQuit,        {kRunning, kQuitting},                         kQuitting},
      {M::kQuit,        {kDone, kEnded},                               kEnded},
      {M::kPoll,        kAny,                                          kSame},
      {M::kCollect,     {kQuitting, kDone, kEnded, kCollected},        kSame},
      {M::kLeave,       kAny,                                          kSame},
      {M::kPrepared,    kPreparing,                                    kPrepared},
      {M::kUnprepared,  kPreparing,                                    kIdle},
      {M::kArmed,       kPrepared,                                     kRunning},
      {M::kLanesDone,   kRunning,                                      kDone},
      {M::kLanesDone,   kQuitting,                                     kEnded},
      {M::kCollected,   {kDone, kEnded},                               kCollected},
      {M::kDisarmed,    kDisarming,                                    kIdle},
  };
  // clang-format on
  return kTransitions;
}

}  // namespace

std::optional<WorkerState> NextState(WorkerState state, WorkerMessage message) {
  for (const Transition& transition : Transitions()) {
    if (transition.message != message || !transition.in.Has(state)) continue;
    return transition.next.value_or(state);
  }
  return std::nullopt;
}

std::optional<WorkerMessage> MessageOf(const v1::WorkerRequest& request) {
  switch (request.body_case()) {
    case v1::WorkerRequest::kInspect:
      return WorkerMessage::kInspect;
    case v1::WorkerRequest::kDataStep:
      return WorkerMessage::kDataStep;
    case v1::WorkerRequest::kClientStep:
      return WorkerMessage::kClientStep;
    case v1::WorkerRequest::kNetTest:
      return WorkerMessage::kNetTest;
    case v1::WorkerRequest::kFileActions:
      return WorkerMessage::kFileActions;
    case v1::WorkerRequest::kSample:
      return WorkerMessage::kSample;
    case v1::WorkerRequest::kFillSpace:
      return WorkerMessage::kFillSpace;
    case v1::WorkerRequest::kPrepare:
      return WorkerMessage::kPrepare;
    case v1::WorkerRequest::kPing:
      return WorkerMessage::kPing;
    case v1::WorkerRequest::kArm:
      return WorkerMessage::kArm;
    case v1::WorkerRequest::kPoll:
      return WorkerMessage::kPoll;
    case v1::WorkerRequest::kCollect:
      return WorkerMessage::kCollect;
    case v1::WorkerRequest::kLeave:
      return WorkerMessage::kLeave;
    case v1::WorkerRequest::kAdjust:
      switch (request.adjust().body_case()) {
        case v1::Adjust::kDisarm:
          return WorkerMessage::kDisarm;
        case v1::Adjust::kStop:
          return WorkerMessage::kStop;
        case v1::Adjust::kOpsGoal:
          return WorkerMessage::kOpsGoal;
        case v1::Adjust::kQuit:
          return WorkerMessage::kQuit;
        case v1::Adjust::BODY_NOT_SET:
          break;
      }
      break;
    case v1::WorkerRequest::BODY_NOT_SET:
      break;
  }
  return std::nullopt;
}

const char* NameOf(WorkerState state) {
  return kStateWords[static_cast<size_t>(state)].name;
}

const char* NameOf(WorkerMessage message) {
  return kMessageNames[static_cast<size_t>(message)];
}

const char* ActivityOf(WorkerState state) {
  return kStateWords[static_cast<size_t>(state)].activity;
}

}  // namespace iobench
