#include "worker/check/trial/trial.h"

#include <sys/stat.h>

#include <cerrno>

#include "common/status_util.h"
#include "worker/check/trial/acting_user.h"

namespace iobench {
namespace {

// Calls that take a flag or a request number are refused in more ways.
bool IsMissing(int error) {
  return IsNotOffered(error) || error == EINVAL || error == ENOTTY || error == EXDEV || error == ENODEV ||
         error == EISDIR;
}

void RunOne(const std::string& name, const TrialPlace& place, v1::TrialResult& result) {
  result.set_name(name);
  const Trial* const trial = TrialNamed(name);
  const absl::Status ran = trial == nullptr ? absl::UnimplementedError("this worker does not know this trial")
                                            : trial->run(place, result);
  if (!ran.ok()) *result.mutable_problem() = ToProblem(ran);
}

}  // namespace

absl::Status Offered(int error, const char* call, const TrialPlace& place, v1::TrialResult& result) {
  if (error != 0) result.set_failed_call(call);
  if (error != 0 && !IsMissing(error)) return ErrnoStatus(absl::StrCat(call, " in ", place.path), error);
  result.set_answer(error == 0 ? "yes" : "no");
  return absl::OkStatus();
}

const Trial* TrialNamed(std::string_view name) {
  for (const std::span<const Trial> table : {FeatureTrials(), NameTrials(), NetworkTrials(), OwnerTrials(),
                                             RuleTrials(), ServerTrials(), SizeTrials()}) {
    for (const Trial& trial : table) {
      if (trial.name == name) return &trial;
    }
  }
  return nullptr;
}

absl::Status RunTrials(const v1::FileAction& action, const TrialPlace& place, v1::FileActionResult& result) {
  const auto run_all = [&] {
    for (const std::string& name : action.trials()) RunOne(name, place, *result.add_trials());
    return absl::OkStatus();
  };
  if (!action.has_as_user()) return run_all();
  // Another client may have made the directory, and made it writable already; if not, creating a file fails.
  static_cast<void>(::fchmod(place.directory_fd, 0777));
  return ActAs(action.as_user(), run_all);
}

}  // namespace iobench
