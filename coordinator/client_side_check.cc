#include "coordinator/client_side_check.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/operation.h"
#include "common/status_util.h"

namespace iobench {
namespace {

absl::Status CheckRemounts(const v1::Phase& phase) {
  for (const v1::Step& step : phase.before()) {
    if (!step.has_remount() || step.remount().mount_point().starts_with('/')) continue;
    return absl::InvalidArgumentError(absl::StrCat("phase ", phase.name(), ": -U \"",
                                                   step.remount().mount_point(),
                                                   "\" is not the absolute path of a mount point"));
  }
  return absl::OkStatus();
}

absl::Status CheckTrace(const v1::Phase& phase, const v1::Operation& operation) {
  const v1::Trace& trace = operation.trace();
  if (trace.read_file().empty() && trace.write_file().empty()) return absl::OkStatus();
  const auto spec = FindOperation(operation.name());
  if (!spec.ok()) return spec.status();
  const auto refuse = [&](const char* what) {
    return absl::InvalidArgumentError(absl::StrCat("phase ", phase.name(), ": ", what));
  };
  if ((*spec)->is_metadata()) return refuse("a trace (-X, -Y) is of reads and writes, not of names");
  if (trace.read_file().empty()) return absl::OkStatus();
  const bool one_kind = (*spec)->kinds == OpKinds(OpKind::kRead) || (*spec)->kinds == OpKinds(OpKind::kWrite);
  const bool anywhere = (*spec)->call == Call::kStream || (*spec)->call == Call::kPositional;
  if (one_kind && anywhere) return absl::OkStatus();
  return refuse(
      "a trace (-Y) can be replayed by operations that only read or only write, record by record: "
      "-i 0 to 5, 9 and 10");
}

}  // namespace

absl::Status CheckClientSide(const v1::Plan& plan) {
  std::map<std::string, const v1::Phase*> writers;  // of a trace file
  for (const v1::Phase& phase : plan.phases()) {
    IOBENCH_RETURN_IF_ERROR(CheckRemounts(phase));
    for (const v1::Assignment& assignment : phase.assignments()) {
      IOBENCH_RETURN_IF_ERROR(CheckTrace(phase, assignment.operation()));
      const std::string& file = assignment.operation().trace().write_file();
      if (file.empty()) continue;
      if (plan.repetitions() > 1) {
        return absl::InvalidArgumentError(absl::StrCat(
            "-X ", file, " cannot go with --repeat: each repetition would write the same trace"));
      }
      const v1::Phase* const writer = writers.emplace(file, &phase).first->second;
      if (writer == &phase) continue;  // its assignments are other workers' lanes
      return absl::InvalidArgumentError(absl::StrCat("phases ", writer->name(), " and ", phase.name(),
                                                     " would both write the trace ", file,
                                                     ": choose one operation, as in --op write -X ", file));
    }
  }
  return absl::OkStatus();
}

}  // namespace iobench
