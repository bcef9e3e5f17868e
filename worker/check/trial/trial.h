// Trials: a few calls on a file system that belong together, and what it answers. The check that asks for a trial knows
// which answer is right.
#ifndef WORKER_CHECK_TRIAL_TRIAL_H_
#define WORKER_CHECK_TRIAL_TRIAL_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

// Where a trial works: names in a directory of validate that begin with a prefix which nobody else uses.
struct TrialPlace {
  int directory_fd = -1;
  std::string prefix;  // "f12"
  std::string path;    // of the directory, for messages

  std::string Name(const char* suffix) const { return absl::StrCat(prefix, ".", suffix); }
  std::string PathOf(const std::string& name) const { return absl::StrCat(path, "/", name); }
};

// A row of the table of trials.
struct Trial {
  const char* name;   // for FileAction.trials
  const char* title;  // what it tries, one clause
  // Sets the answer. An error has the errno of the call that failed for no reason that the trial is about; it may
  // leave files, which go with the directory. Blocks as long as the file system does.
  absl::Status (*run)(const TrialPlace& place, v1::TrialResult& result);
};

// The tables, by what their trials are about. A new trial is a row in one of them.
std::span<const Trial> FeatureTrials();  // feature_trials.cc: calls that a file system offers or not
std::span<const Trial> NameTrials();     // name_trials.cc: names and directories
std::span<const Trial> NetworkTrials();  // network_trials.cc: what is known of the network to its server
std::span<const Trial> OwnerTrials();    // owner_trials.cc: owners, groups and modes
std::span<const Trial> RuleTrials();     // rule_trials.cc: rules that programs rely on
std::span<const Trial> ServerTrials();   // server_trials.cc: what the client knows of its server, and of their locks
std::span<const Trial> SizeTrials();     // size_trials.cc: sizes, space and times

// Sets the answer "yes" or "no" for a call that has returned `error` (0: it succeeded). An error is returned if its errno
// does not say that the call is missing.
absl::Status Offered(int error, const char* call, const TrialPlace& place, v1::TrialResult& result);

// Null: there is none of this name.
const Trial* TrialNamed(std::string_view name);

// Runs the trials of `action` in their order, as its user, and adds a result for each: a trial that fails does not keep
// the next one from running. An unknown name gets Unimplemented as its problem. The status is an error if no trial could
// run: the system refuses to act as this user.
absl::Status RunTrials(const v1::FileAction& action, const TrialPlace& place, v1::FileActionResult& result);

}  // namespace iobench

#endif  // WORKER_CHECK_TRIAL_TRIAL_H_
