// The user's commands before and after each phase (--before-phase, --after-phase): what they are told, how long they
// may take, and what the report says about them.
#ifndef COORDINATOR_HOOK_PHASE_HOOKS_H_
#define COORDINATOR_HOOK_PHASE_HOOKS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "coordinator/cluster/cluster.h"
#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct HookCommands {
  std::string before_phase;  // for /bin/sh; empty: none
  std::string after_phase;
  double timeout_s = 60;

  bool any() const { return !before_phase.empty() || !after_phase.empty(); }
};

// One object per run, used on the cluster's thread. While a command runs, the workers' events are taken, so that no
// worker counts as silent. Each command's output is OUT/hooks/phase-NNN-before.log (or -after).
class PhaseHooks {
 public:
  // `out_directory` exists. The references must outlive it.
  PhaseHooks(HookCommands commands, std::string out_directory, Cluster& cluster)
      : commands_(std::move(commands)), out_directory_(std::move(out_directory)), cluster_(cluster) {}

  bool has_after() const { return !commands_.after_phase.empty(); }

  // Run the command, if there is one, and add it to record.hooks(). The message of an error names the command and its
  // log. Internal: it ended with another exit code than 0, or by a signal. DeadlineExceeded: it was killed after
  // timeout_s, with its whole process group. Cancelled: it was killed because the user interrupted: before a phase at
  // once, after a phase, where it may have to end what it began, 5 s later (0.2 s under mpirun). Otherwise the errors of
  // starting it, or the transport's.
  absl::Status Before(const v1::Plan& plan, v1::PhaseRecord& record);
  // `report`: of the same record. `ended`: how the phase ended.
  absl::Status After(const v1::Plan& plan, const v1::PhaseReport& report, const absl::Status& ended,
                     v1::PhaseRecord& record);

 private:
  enum class AtInterrupt { kKill, kLetEnd };
  absl::Status Run(const std::string& name, const std::string& command,
                   std::map<std::string, std::string> variables, AtInterrupt at_interrupt,
                   v1::PhaseRecord& record);

  const HookCommands commands_;
  const std::string out_directory_;
  Cluster& cluster_;
};

// The variables that tell a command about its phase: IOBENCH_PHASE (its name), _INDEX (within the run, from 0),
// _REPETITION (from 0), _OPERATION, _RECORD_BYTES, _PATHS (one per line), _OUT (the result directory, absolute). Pure
// except for making `out_directory` absolute.
std::map<std::string, std::string> VariablesOf(const v1::Plan& plan, const v1::PhaseRecord& record,
                                               const std::string& out_directory);
// IOBENCH_STATUS and IOBENCH_BYTES_PER_S, which only a finished phase has. The status is "ok", "partial" (lanes or
// workers are missing), "failed" (HasFailed, or `ended` says that the phase could not be run) or
// "interrupted"; the rate is that of the headline, empty if there is none.
std::map<std::string, std::string> VariablesOf(const v1::PhaseReport& report,
                                               const absl::Status& ended = absl::OkStatus());

}  // namespace iobench

#endif  // COORDINATOR_HOOK_PHASE_HOOKS_H_
