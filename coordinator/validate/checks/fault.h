// The fault that the user's hook makes while the clients write: a restart, a power cut or a takeover of the server.
#ifndef COORDINATOR_VALIDATE_CHECKS_FAULT_H_
#define COORDINATOR_VALIDATE_CHECKS_FAULT_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "coordinator/validate/checks/check_context.h"
#include "coordinator/validate/checks/fault_evidence.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// The outcome of one client's writes. Blocks are written and flushed one after the other.
struct WriterStory {
  v1::BlockWrites writes;  // acknowledged in the end
  double longest_s = 0;    // of one write with its flush
  int first_errno = 0;     // 0: none failed
  bool hangs = false;      // its last write had not returned when the waiting ended
  bool full = false;      // its file reached its max. size (1 GiB), so it stopped before the end of the check
  v1::BlockCounts found;  // what another client read afterwards; nothing if `unread` says why
  std::string unread;
};

struct Fault {
  std::string hook_problem;  // empty: the hook exited with 0
  double hook_s = 0;
  FaultSigns signs;
  FaultKind kind() const { return KindOf(signs); }
  std::map<uint32_t, WriterStory> writers;  // by worker
  // What was wrong with a lock that the first peer held, as seen by another peer; empty: nothing, or lock_checked is
  // false.
  std::string lock_problem;
  bool lock_checked = false;
};

// Returns context.fault, after making it if no check has done so yet. The hook gets IOBENCH_PATH and IOBENCH_CLIENTS
// (one per line) in its environment. Errors are those of FileCalls.
absl::StatusOr<const Fault*> FaultOf(CheckContext& context);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_FAULT_H_
