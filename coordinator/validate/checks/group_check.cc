// The check of supplementary groups.
#include <cerrno>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/user_trials.h"

namespace iobench {
namespace {

// What the clients' trials show together.
struct GroupVerdict {
  uint32_t tried = 0;       // clients whose user has groups
  uint32_t honoured = 0;    // clients where all of them count
  bool squashed = false;    // a file belongs to somebody else
  bool own_users = false;   // a client tried with its own user, so that its groups should be known everywhere
  bool more_known = false;  // some user has more than 16 …
  bool more_honoured = true;
  uint32_t groups = 0;
  int refused_errno = 0;  // first one; -1: the call succeeded, and the file kept its group
};

std::string WhyRefused(const v1::GroupsTried& trial) {
  return trial.refused_errno() > 0 ? ErrnoName(trial.refused_errno()) : "the file keeps its group";
}

void AddTrial(const CheckContext& context, uint32_t worker, const v1::GroupsTried& trial, GroupVerdict& all,
              Outcome& outcome) {
  if (trial.groups() == 0) return;
  ++all.tried;
  all.groups = std::max(all.groups, trial.groups());
  if (trial.has_more_honoured()) {
    all.more_known = true;
    all.more_honoured &= trial.more_honoured();
  }
  if (trial.honoured() == trial.groups()) {
    ++all.honoured;
    return;
  }
  if (all.refused_errno == 0) all.refused_errno = trial.refused_errno();
  all.squashed |= trial.file_owner() != trial.user();
  all.own_users |= !trial.for_root();
  outcome.Evidence(absl::StrCat(context.NameOf(worker), ": user ", trial.user(),
                                " cannot give a file to group ", trial.first_refused(),
                                ", of which it is a member (", WhyRefused(trial), "); ", trial.honoured(),
                                " of ", trial.groups(), " groups count",
                                trial.file_owner() == trial.user()
                                    ? ""
                                    : absl::StrCat(", and its files belong to user ", trial.file_owner())));
}

}  // namespace

absl::Status CheckGroups(CheckContext& context, Outcome& outcome) {
  GroupVerdict all;
  // The first peer makes it writable for all: a client whose root is squashed could not make one of its own.
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  for (size_t i = 0; i < context.peers.size(); ++i) {
    const uint32_t worker = context.peers[i];
    CallList calls(directory);
    calls.Add(v1::FileAction::TRY_GROUPS, static_cast<uint32_t>(i + 1));
    IOBENCH_ASSIGN_OR_RETURN(const CallResults results, context.files.Do(worker, calls));
    if (results[0].problem().code() != 0) {
      outcome.Skip(absl::StrCat(context.NameOf(worker), ": ", Printable(results[0].problem().message())));
      return absl::OkStatus();
    }
    AddTrial(context, worker, results[0].groups(), all, outcome);
  }
  if (all.tried == 0) {
    outcome.Skip(
        "the workers' user has no supplementary groups: run them as root, or as a user that has some");
    return absl::OkStatus();
  }
  if (all.more_known) outcome.Figure("more_than_16_groups", all.more_honoured ? 1 : 0);
  const std::string more = !all.more_known ? ""
                           : all.more_honoured
                               ? "; more than 16 groups count too"
                               : "; of more than 16 groups, only the first 16 count (AUTH_SYS)";
  if (all.honoured == all.tried) {
    outcome.Pass(absl::StrCat("supplementary groups count: ", all.groups, " tried", more));
  } else if (all.squashed || all.own_users) {
    outcome.Fail(
        "supplementary groups do not count, so files shared by a group cannot be opened",
        "look for all_squash in the export; with manage-gids, make the server know the users' groups");
  } else if (all.refused_errno == EINVAL) {
    // Permission is not what is missing: the server does not understand the group's name.
    outcome.Fail("the server does not know the groups that files are given to", kIdmapAdvice);
  } else if (all.refused_errno != EPERM && all.refused_errno != -1) {
    outcome.Fail(absl::StrCat("supplementary groups cannot be used: ", ErrnoName(all.refused_errno)),
                 "find out why the server refuses chgrp with this error");
  } else {
    // As with manage-gids, which is Debian's default: this says nothing about users that the server knows.
    outcome.Skip(
        "the server looks groups up itself (manage-gids) and does not know the user of this check: run the workers as a "
        "user with supplementary groups, to check those");
  }
  return absl::OkStatus();
}

}  // namespace iobench
