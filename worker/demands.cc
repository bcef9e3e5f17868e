#include "worker/demands.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "worker/client/binding.h"
#include "worker/client/remount.h"
#include "worker/engine/io_engine.h"
#include "worker/op_log/op_log.h"
#include "worker/prepare/trace_file.h"
#include "worker/rights/worker_rights.h"

namespace iobench {

std::vector<absl::Status> UnmetDemands(const v1::Demands& demands) {
  std::vector<absl::Status> unmet;
  const auto note = [&](const absl::Status& status) {
    if (!status.ok()) unmet.push_back(status);
  };
  for (const std::string& engine : demands.engines()) note(CheckEngineHere(engine));
  note(BindingSlotsFor(demands.binding()).status());
  for (const std::string& mount_point : demands.remounts()) note(CheckRemount(mount_point));
  for (const v1::ReplayedTrace& trace : demands.replayed_traces()) {
    note(LoadTrace(trace.file(), trace.file_bytes()).status());
  }
  for (const std::string& file : demands.new_files()) note(CheckNewTrace(file));
  for (const std::string& file : demands.replaced_files()) note(CheckNewTrace(file, OldTrace::kReplaced));
  // A regular coordinator names no directory: these files are in the one that the worker was started in.
  const bool confined = !RightsOfThisWorker().paths.are_all();
  for (const std::string& file : demands.appended_files()) {
    if (confined && file.find('/') != std::string::npos) {
      note(
          absl::InvalidArgumentError(absl::StrCat("offset/latency file ", file, " is not a bare file name")));
    } else {
      note(CheckOpLog(file));
    }
  }
  return unmet;
}

}  // namespace iobench
