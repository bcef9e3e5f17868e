// Checks of what becomes of open files whose names change.
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

constexpr size_t kRenamedBytes = 1024;
constexpr int kLooksForSillyName = 50;
constexpr int64_t kBetweenSillyLooksNs = 20'000'000;

constexpr char kSubtreeAdvice[] =
    "export with no_subtree_check: with subtree_check, a file that is moved while open cannot be found any more "
    "(ESTALE)";
constexpr char kStaleAdvice[] =
    "let programs open files again after ESTALE, or do not replace files that other clients have open";

// Adds the results' errors to the evidence. False: there was one.
bool AllSucceeded(const CheckContext& context, uint32_t worker, const CallResults& results,
                  Outcome& outcome) {
  bool all = true;
  for (const v1::FileActionResult& result : results) {
    if (result.problem().code() == 0) continue;
    all = false;
    outcome.Evidence(absl::StrCat(context.NameOf(worker), ": ", Printable(result.problem().message())));
  }
  return all;
}

// One client has a file open, another renames a new one onto it. Returns what came of the open file, for people.
// `advice`: set if it is wrong.
absl::StatusOr<std::string> ReplaceFromElsewhere(CheckContext& context, uint32_t directory,
                                                 std::string& advice, Outcome& outcome) {
  const uint32_t reader = context.peers[0], writer = context.peers[1];
  const std::string before = context.NewContents(kRenamedBytes), after = context.NewContents(kRenamedBytes);
  CallList make(directory), hold(directory), replace(directory), look(directory);
  make.Write(1, before);
  hold.Open(1, 1, /*write=*/false);
  replace.Write(2, after);
  replace.Add(v1::FileAction::RENAME, 2).set_to_file(1);
  look.Add(v1::FileAction::READ_HELD, 1).set_held(1);
  look.Add(v1::FileAction::CLOSE_HELD, 1).set_held(1);
  look.Add(v1::FileAction::READ, 1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults made, context.files.Do(writer, make));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults held, context.files.Do(reader, hold));
  IOBENCH_RETURN_IF_ERROR(context.files.AwaitNextTimestamp(writer, directory));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults replaced, context.files.Do(writer, replace));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults seen, context.files.Do(reader, look));
  const bool made_all = AllSucceeded(context, writer, made, outcome) &&
                        AllSucceeded(context, reader, held, outcome) &&
                        AllSucceeded(context, writer, replaced, outcome);
  if (!made_all) {
    advice = "programs that replace files by renaming cannot work here";
    return "a file could not be replaced";
  }
  if (seen[2].problem().code() != 0 || seen[2].contents_xxh3() != Xxh3Of(after)) {
    outcome.Evidence(absl::StrCat(context.NameOf(reader), " does not read the new file after ",
                                  context.NameOf(writer), " has renamed it onto the old one"));
    advice = context.CacheAdvice("mount without nocto");
  }
  const v1::Problem& problem = seen[0].problem();
  outcome.Figure("readable_after_remote_rename", problem.code() == 0 ? 1 : 0);
  if (problem.code() == 0) {
    if (seen[0].contents_xxh3() == Xxh3Of(before))
      return "a file that another client replaces stays readable where it is open";
    outcome.Evidence(absl::StrCat(context.NameOf(reader), ": the file that it has open has other contents"));
    advice = "do not replace files that other clients have open";
    return "a file that is replaced changes where it is open";
  }
  const bool is_v3 = absl::StrContains(context.SeenBy(reader).mount_options(), "vers=3");
  if (problem.errno_value() == ESTALE && is_v3) {
    return "a file that another client replaces gives ESTALE where it is open, as NFSv3 cannot avoid";
  }
  outcome.Evidence(absl::StrCat(context.NameOf(reader), ": ", Printable(problem.message())));
  advice = kStaleAdvice;
  return "a file that another client replaces cannot be read any more where it is open";
}

// A client replaces a file that it has open itself: an NFS client keeps it under a hidden name meanwhile.
absl::Status ReplaceOwn(CheckContext& context, uint32_t directory, std::string& advice, Outcome& outcome) {
  const uint32_t owner = context.peers[0];
  const std::string before = context.NewContents(kRenamedBytes);
  CallList calls(directory);
  calls.Write(1, before);
  calls.Open(1, 1, /*write=*/false);
  calls.Write(2, context.NewContents(kRenamedBytes));
  calls.Add(v1::FileAction::RENAME, 2).set_to_file(1);
  calls.Add(v1::FileAction::READ_HELD, 1).set_held(1);
  calls.Add(v1::FileAction::CLOSE_HELD, 1).set_held(1);
  calls.Add(v1::FileAction::LIST, 1).set_count(1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults own, context.files.Do(owner, calls));
  bool wrong = !AllSucceeded(context, owner, own, outcome);
  if (!wrong && own[4].contents_xxh3() != Xxh3Of(before)) {
    wrong = true;
    outcome.Evidence(
        absl::StrCat(context.NameOf(owner), ": the file that it has open has lost its contents"));
  }
  uint64_t listed = own[6].names().listed();
  for (int look = 0; listed > 1 && look < kLooksForSillyName; ++look) {
    IOBENCH_RETURN_IF_ERROR(context.files.Wait(kBetweenSillyLooksNs));
    CallList list(directory);
    list.Add(v1::FileAction::LIST, 1).set_count(1);
    IOBENCH_ASSIGN_OR_RETURN(const CallResults names, context.files.Do(owner, list));
    listed = names[0].names().listed();
  }
  if (listed > 1) {
    wrong = true;
    outcome.Evidence(absl::StrCat(context.NameOf(owner), ": ", listed - 1,
                                  " name of the replaced file stayed in the directory after close()"));
  }
  if (wrong)
    advice =
        "remove .nfs* files that are older than a day: files that are replaced while open leave them behind";
  return absl::OkStatus();
}

// A client removes a file that it has open, and another removes the directory with the hidden name in it.
absl::Status RemoveDirectoryElsewhere(CheckContext& context, std::string& advice, Outcome& outcome) {
  const uint32_t owner = context.peers[0], other = context.peers[1];
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(owner));
  CallList hold(directory), clear(directory), end(directory);
  hold.Write(1, context.NewContents(kRenamedBytes));
  hold.Open(1, 1, /*write=*/false);
  hold.Add(v1::FileAction::REMOVE, 1);
  clear.Add(v1::FileAction::REMOVE_DIRECTORY);
  end.Add(v1::FileAction::CLOSE_HELD, 1).set_held(1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults held, context.files.Do(owner, hold));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults removed, context.files.Do(other, clear));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults closed, context.files.Do(owner, end));
  if (!AllSucceeded(context, owner, held, outcome) || !AllSucceeded(context, other, removed, outcome)) {
    advice = "directories in which another client has removed open files cannot be removed here";
  }
  return absl::OkStatus();
}

// Trials of one client; both answer with what fails instead.
absl::Status RenameAround(CheckContext& context, uint32_t directory, std::string& advice, Outcome& outcome) {
  static constexpr const char* kRules[] = {"rename-across", "rename-inside"};
  const uint32_t worker = context.peers[0];
  CallList calls(directory);
  for (const char* const rule : kRules) calls.Add(v1::FileAction::TRY, 10).add_trials(rule);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults tried, context.files.Do(worker, calls));
  for (size_t i = 0; i < tried.size(); ++i) {
    if (tried[i].problem().code() == 0 && tried[i].trials_size() == 1 && tried[i].trials(0).answer() == "yes")
      continue;
    const v1::TrialResult result = tried[i].trials_size() == 1 ? tried[i].trials(0) : v1::TrialResult();
    const std::string& problem =
        result.problem().code() != 0 ? result.problem().message() : tried[i].problem().message();
    const std::string why = result.detail().empty() ? problem : result.detail();
    outcome.Evidence(
        absl::StrCat(context.NameOf(worker), ": ",
                     i == 0 ? "after a rename to another directory, " : "after a rename of the directory, ",
                     Printable(why)));
    advice = absl::StrContains(why, "ESTALE")
                 ? kSubtreeAdvice
                 : "programs that rename files or directories in use cannot work here";
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRenames(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t shared, context.files.NewDirectory(context.peers[0]));
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t own, context.files.NewDirectory(context.peers[0]));
  std::string advice, replaced;
  IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(std::vector<std::function<absl::Status()>>{
      [&] {
        IOBENCH_ASSIGN_OR_RETURN(replaced, ReplaceFromElsewhere(context, shared, advice, outcome));
        return absl::OkStatus();
      },
      [&] { return ReplaceOwn(context, own, advice, outcome); },
      [&] { return RemoveDirectoryElsewhere(context, advice, outcome); },
      [&] { return RenameAround(context, shared, advice, outcome); }}));
  if (outcome.evidence_count() > 0) {
    outcome.Fail("open files do not behave as programs expect when names change", advice);
  } else {
    outcome.Pass(absl::StrCat(
        replaced,
        "; moved to another directory, or with its directory, it stays usable; no hidden name stays"));
  }
  return absl::OkStatus();
}

}  // namespace iobench
