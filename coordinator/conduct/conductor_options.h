// What the parts of a run need to know besides its plan.
#ifndef COORDINATOR_CONDUCT_CONDUCTOR_OPTIONS_H_
#define COORDINATOR_CONDUCT_CONDUCTOR_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coordinator/assemble/assembly.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/hook/phase_hooks.h"
#include "coordinator/report/result_lock.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct ConductorOptions : AssemblyOptions {
  std::string run_name;  // for display, and the name of its directory
  // Identifies the run in messages, in the manifest and in the data that it writes. Random and never 0, which stands
  // for no run. A run that is resumed gets a new one, so that workers of its earlier part, which may still be there,
  // cannot be mistaken for its own.
  uint64_t run_id = 0;
  std::string command;                     // as typed
  std::string label;                       // --label
  std::optional<v1::IozoneOutput> iozone;  // what IOzone's report formats show, besides the figures
  ClusterPatience patience;      // with workers that do not answer or make no progress
  int64_t phase_timeout_ns = 0;  // of each phase; workers that need longer are lost; 0: none
  int64_t sample_interval_ns = kNanosPerSecond / 4;  // between two readings of samplers
  bool in_process = false;  // workers are in this process, so messages arrive almost at once
  HookCommands hooks;  // REQUIRES, if there are any: an out_directory, which gets their output
  CoordClock clock = CoordNow;  // or a test clock
  double max_duration_s = 0;  // of all phases, from the first one's preparation; 0: no limit
  // Returns the hash of this program's file. Called once, on another thread, when everything has been measured; empty:
  // the results go without it.
  std::function<std::string()> program_digest;
  std::shared_ptr<ResultLock> results_lock;  // of out_directory, if it was there before; null: it is taken then
  std::string out_directory;  // for results; created when all checks have passed; empty: save nothing
};

}  // namespace iobench

#endif  // COORDINATOR_CONDUCT_CONDUCTOR_OPTIONS_H_
