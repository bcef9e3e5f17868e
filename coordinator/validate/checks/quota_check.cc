// The check of quotas.
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

std::string Amount(uint64_t bytes) {
  return FormatBytes(static_cast<double>(bytes));
}

}  // namespace

// One client is enough: the server keeps the account.
absl::Status CheckQuota(CheckContext& context, Outcome& outcome) {
  if (context.over_quota_bytes == 0) {
    outcome.Skip("give --over-quota SIZE, more than the quota of the workers' user");
    return absl::OkStatus();
  }
  const uint32_t worker = context.peers.front();
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(worker));
  CallList calls(directory);
  calls.Add(v1::FileAction::OVERFILL, 1).set_offset(context.over_quota_bytes);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults results, context.files.Do(worker, calls));
  if (results[0].problem().code() != 0) {
    outcome.Fail(absl::StrCat(context.NameOf(worker), ": ", Printable(results[0].problem().message())), "");
    return absl::OkStatus();
  }
  const v1::Overfilled& seen = results[0].overfilled();
  outcome.Figure("written_bytes", static_cast<double>(seen.written_bytes()));
  outcome.Figure("flushed_bytes", static_cast<double>(seen.flushed_bytes()));
  outcome.Figure("lost_bytes", static_cast<double>(seen.bad_bytes()));
  const std::string error =
      seen.failed_call().empty()
          ? ""
          : absl::StrCat(seen.failed_call(), " failed with ", ErrnoName(seen.errno_value()), " after ",
                         Amount(seen.written_bytes()), ", ", Amount(seen.flushed_bytes()), " of it flushed");
  if (seen.bad_bytes() > 0) {
    outcome.Fail(absl::StrCat(Amount(seen.bad_bytes()), " that fsync had acknowledged are not there",
                              error.empty() ? ", and no call failed" : absl::StrCat(": ", error)),
                 "data are lost without an error when the quota is reached: report it to the vendor");
  } else if (error.empty()) {
    outcome.Fail(
        absl::StrCat(Amount(seen.written_bytes()),
                     " were stored without an error: no quota limits this user"),
        "set the quota for the user that owns the files there (root and squashed users have others), and switch "
        "quotas on where the data are");
  } else if (seen.errno_value() != EDQUOT && seen.errno_value() != ENOSPC) {
    outcome.Fail(absl::StrCat(error, ", which says nothing of a quota"),
                 "programs cannot tell this from a broken disk");
  } else if (seen.errno_value() == ENOSPC) {
    outcome.Warn(
        absl::StrCat(error, ": the error is that of a full file system; everything flushed is there"),
        "some file systems report project and directory quotas so; otherwise free some space and try again");
  } else {
    outcome.Pass(absl::StrCat(error, "; everything flushed is there"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
