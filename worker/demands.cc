#include "worker/demands.h"

#include <string>

#include "worker/client/binding.h"
#include "worker/client/remount.h"
#include "worker/engine/io_engine.h"
#include "worker/lane/trace_file.h"

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
  return unmet;
}

}  // namespace iobench
