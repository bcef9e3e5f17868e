// Checks what one client sees of what another has written.
#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

constexpr int kLooksForRemoval = 50;
constexpr int64_t kBetweenLooksNs = 20'000'000;
constexpr double kCoarseStepS = 0.5;  // of timestamps

constexpr uint32_t kSpareFile = 1000;  // files above this number are renamed onto others
constexpr size_t kContentsBytes = 1024;

enum class Change { kNew, kSameSize, kAppend, kTruncate, kRenameOver, kRemove };
constexpr std::array kChanges = {Change::kNew,      Change::kSameSize,   Change::kAppend,
                                 Change::kTruncate, Change::kRenameOver, Change::kRemove};

const char* NameOf(Change change) {
  switch (change) {
    case Change::kNew:
      return "a new file";
    case Change::kSameSize:
      return "an overwrite of the same size";
    case Change::kAppend:
      return "an append";
    case Change::kTruncate:
      return "a truncate";
    case Change::kRenameOver:
      return "a rename onto the file";
    case Change::kRemove:
      return "a removal";
  }
  return "a change";
}

// Adds the calls that make the change to the file, and returns the file's contents after it.
std::string Make(Change change, uint32_t file, const std::string& before, CheckContext& context,
                 CallList& calls) {
  switch (change) {
    case Change::kNew:
    case Change::kRenameOver: {
      const std::string contents = context.NewContents(kContentsBytes);
      const bool renames = change == Change::kRenameOver;
      calls.Write(renames ? kSpareFile + file : file, contents);
      if (renames) calls.Add(v1::FileAction::RENAME, kSpareFile + file).set_to_file(file);
      return contents;
    }
    case Change::kSameSize: {
      const std::string contents = context.NewContents(before.size());
      calls.Add(v1::FileAction::WRITE, file).set_contents(contents);
      return contents;
    }
    case Change::kAppend: {
      const std::string more = context.NewContents(kContentsBytes / 2);
      calls.Append(file, more);
      return before + more;
    }
    case Change::kTruncate:
      calls.Add(v1::FileAction::TRUNCATE, file).set_offset(kContentsBytes / 4);
      return before.substr(0, kContentsBytes / 4);
    case Change::kRemove:
      calls.Add(v1::FileAction::REMOVE, file);
      return "";
  }
  return before;
}

// What is wrong with what a client reads after a change; empty: nothing.
std::string WrongIn(const v1::FileActionResult& seen, Change change, const std::string& before,
                    const std::string& after) {
  const absl::Status status = ToStatus(seen.problem());
  const int error = ErrnoOf(status);
  if (change == Change::kRemove && (status.ok() || error == ENOENT))
    return status.ok() ? "still reads it" : "";
  // Without the name of the file, so that equal lines become one.
  if (!status.ok()) {
    return error == 0 ? std::string(status.message()) : absl::StrCat("cannot read it: ", ErrnoName(error));
  }
  if (seen.contents_xxh3() == Xxh3Of(after)) return "";
  if (change != Change::kNew && seen.contents_xxh3() == Xxh3Of(before)) return "reads the old contents";
  if (seen.bytes() != after.size())
    return absl::StrCat("reads ", CountText(seen.bytes()), " bytes instead of ", CountText(after.size()));
  return "reads other contents";
}

struct Rounds {
  uint64_t done = 0, reads = 0, wrong = 0;
  std::map<std::string, uint64_t> wrong_after;  // by change
};

// One client makes the change to all files, and the others read them. contents: of each file; the first one is not used.
absl::Status MakeAndRead(CheckContext& context, uint32_t directory, Change change, uint32_t writer,
                         std::vector<std::string>& contents, Rounds& rounds, Outcome& outcome) {
  IOBENCH_RETURN_IF_ERROR(context.files.AwaitNextTimestamp(writer, directory));
  CallList changes(directory);
  const std::vector<std::string> before = contents;
  const auto files = static_cast<uint32_t>(contents.size() - 1);
  for (uint32_t file = 1; file <= files; ++file) {
    changes.InLane(file);
    contents[file] = Make(change, file, before[file], context, changes);
  }
  IOBENCH_ASSIGN_OR_RETURN(const CallResults made, context.files.Do(writer, changes));
  for (const v1::FileActionResult& result : made) {
    if (result.problem().code() == 0) continue;
    outcome.Evidence(absl::StrCat(context.NameOf(writer), ": ", NameOf(change),
                                  " failed: ", Printable(result.problem().message())));
    ++rounds.wrong;
    ++rounds.wrong_after[absl::StrCat(NameOf(change), " that failed")];
    return absl::OkStatus();
  }
  std::map<uint32_t, CallList> reads;
  for (const uint32_t reader : context.peers) {
    if (reader == writer) continue;
    CallList list(directory);
    for (uint32_t file = 1; file <= files; ++file) {
      list.InLane(file);
      list.Add(v1::FileAction::READ, file);
    }
    reads.emplace(reader, std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers seen, context.files.DoAll(reads));
  rounds.done += files;
  for (const auto& [reader, results] : seen) {
    for (uint32_t file = 1; file <= files; ++file) {
      ++rounds.reads;
      const std::string wrong = WrongIn(results[file - 1], change, before[file], contents[file]);
      if (wrong.empty()) continue;
      ++rounds.wrong;
      ++rounds.wrong_after[NameOf(change)];
      outcome.Evidence(absl::StrCat("after ", NameOf(change), " by ", context.NameOf(writer), ", ",
                                    context.NameOf(reader), ": ", Printable(wrong)));
    }
  }
  return absl::OkStatus();
}

// One client has a file open, another removes it. Returns what came of it, for people.
absl::StatusOr<std::string> RemoveFromElsewhere(CheckContext& context, uint32_t directory,
                                                const std::string& contents, Outcome& outcome) {
  const uint32_t owner = context.peers.front(), other = context.peers[1];
  CallList hold(directory), remove(directory), look(directory);
  hold.Write(2, contents);
  hold.Open(2, 1, /*write=*/false);
  remove.Add(v1::FileAction::REMOVE, 2);
  look.Add(v1::FileAction::READ_HELD, 2).set_held(1);
  look.Add(v1::FileAction::CLOSE_HELD, 2).set_held(1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults held, context.files.Do(owner, hold));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults removed, context.files.Do(other, remove));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults seen, context.files.Do(owner, look));
  for (const v1::FileActionResult& result : held) {
    if (result.problem().code() == 0) continue;
    return absl::StrCat("removal by another client was not tried: ", Printable(result.problem().message()));
  }
  if (const v1::Problem& problem = removed[0].problem(); problem.code() != 0) {
    return absl::StrCat("could not be removed by ", context.NameOf(other), ": ",
                        Printable(problem.message()));
  }
  const absl::Status read = ToStatus(seen[0].problem());
  outcome.Figure("readable_after_remote_removal", read.ok() ? 1 : 0);
  const std::string what = read.ok()                 ? "still readable"
                           : ErrnoOf(read) == ESTALE ? "ESTALE"
                                                     : Printable(std::string(read.message()));
  return absl::StrCat("removed by another client: ", what);
}

// Turns in a directory of their own, until `due` rounds are done, or somebody has found something wrong: later rounds would
// only repeat it.
absl::Status TakeTurns(CheckContext& context, uint64_t due, uint32_t files, size_t first_turn,
                       std::span<Rounds> of_all, Rounds& rounds, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  std::vector<std::string> contents(files + 1);
  const auto is_wrong = [](const Rounds& each) { return each.wrong > 0; };
  for (size_t turn = 0; rounds.done < due; ++turn) {
    const Change change = kChanges[turn % kChanges.size()];
    // In other cycles and parts, another client makes this change.
    const size_t writer = first_turn + turn + turn / kChanges.size();
    IOBENCH_RETURN_IF_ERROR(MakeAndRead(
        context, directory, change, context.peers[writer % context.peers.size()], contents, rounds, outcome));
    if (std::any_of(of_all.begin(), of_all.end(), is_wrong)) break;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckCloseToOpen(CheckContext& context, Outcome& outcome) {
  // In so many directories: a client creates, renames and removes one name of a directory at a time.
  constexpr size_t kParts = 9;
  // The quick set at a distant server makes each change once in each directory.
  constexpr uint64_t kQuickRounds = 600, kWholeRounds = 10'000, kDistantFiles = 4, kFiles = 10;
  const bool fewer = !context.whole && context.files.server_is_distant();
  const uint32_t files = fewer ? kDistantFiles : kFiles;
  const uint64_t due = context.whole ? kWholeRounds
                       : fewer       ? kParts * kDistantFiles * kChanges.size()
                                     : kQuickRounds;
  std::array<Rounds, kParts> parts;
  std::vector<std::function<absl::Status()>> works;
  for (size_t part = 0; part < kParts; ++part) {
    works.emplace_back(
        [&, part] { return TakeTurns(context, due / kParts, files, part, parts, parts[part], outcome); });
  }
  IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(works));
  Rounds rounds;
  for (const Rounds& part : parts) {
    rounds.done += part.done;
    rounds.reads += part.reads;
    rounds.wrong += part.wrong;
    for (const auto& [change, count] : part.wrong_after) rounds.wrong_after[change] += count;
  }
  outcome.Figure("rounds", static_cast<double>(rounds.done));
  outcome.Figure("reads", static_cast<double>(rounds.reads));
  outcome.Figure("wrong_reads", static_cast<double>(rounds.wrong));
  const double step_s = context.files.timestamp_step_s();
  outcome.Figure("timestamp_step_s", step_s, "s");
  if (rounds.wrong == 0) {
    std::string found =
        absl::StrCat(CountText(rounds.done),
                     " changes by all clients in turn, each read by all others: ", CountText(rounds.reads),
                     " reads, none wrong");
    if (step_s < kCoarseStepS) {
      outcome.Pass(std::move(found));
    } else {
      outcome.Warn(
          absl::StrCat(found, "; but the file system's timestamps have steps of ", FormatSeconds(step_s),
                       ", and two changes of equal size within one may look the same to clients"),
          "export a file system with finer timestamps: XFS, or ext4 with inodes of 256 bytes");
    }
    return absl::OkStatus();
  }
  std::string kinds;
  for (const auto& [change, count] : rounds.wrong_after) {
    absl::StrAppend(&kinds, kinds.empty() ? "" : ", ", CountText(count), " after ", change);
  }
  outcome.Fail(
      absl::StrCat(CountText(rounds.wrong), " of ", CountText(rounds.reads), " reads wrong: ", kinds),
      context.CacheAdvice(
          "mount without nocto, and check that no proxy or cache between clients and server serves old data"));
  return absl::OkStatus();
}

namespace {

struct MappedReads {
  uint64_t reads = 0, wrong = 0;
  std::string failed;  // why a client cannot write through a mapping
};

// Rounds on one file: a client writes through a mapping, and all others read. The number of a round
// says who writes.
absl::Status MapInTurns(CheckContext& context, uint32_t directory, uint32_t file, uint32_t first,
                        uint32_t end, MappedReads& all, Outcome& outcome) {
  for (uint32_t round = first; round < end && all.failed.empty(); ++round) {
    const uint32_t writer = context.peers[round % context.peers.size()];
    const std::string contents = context.NewContents(kContentsBytes);
    CallList write(directory);
    v1::FileAction& mapped = write.Add(v1::FileAction::WRITE_MAPPED, file);
    mapped.set_contents(contents);
    mapped.mutable_how()->set_create(true);
    IOBENCH_RETURN_IF_ERROR(context.files.AwaitNextTimestamp(writer, directory));
    IOBENCH_ASSIGN_OR_RETURN(const CallResults written, context.files.Do(writer, write));
    if (written[0].problem().code() != 0) {
      all.failed = absl::StrCat(context.NameOf(writer), ": ", Printable(written[0].problem().message()));
      return absl::OkStatus();
    }
    std::map<uint32_t, CallList> calls;
    for (const uint32_t reader : context.peers) {
      if (reader == writer) continue;
      CallList list(directory);
      list.Add(v1::FileAction::READ_MAPPED, file);
      list.Add(v1::FileAction::READ, file);
      calls.emplace(reader, std::move(list));
    }
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers seen, context.files.DoAll(calls));
    for (const auto& [reader, results] : seen) {
      for (size_t i = 0; i < results.size(); ++i) {
        ++all.reads;
        if (results[i].problem().code() == 0 && results[i].contents_xxh3() == Xxh3Of(contents)) continue;
        ++all.wrong;
        outcome.Evidence(absl::StrCat(context.NameOf(reader), " does not ",
                                      i == 0 ? "find in its mapping" : "read", " what ",
                                      context.NameOf(writer), " wrote"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMmap(CheckContext& context, Outcome& outcome) {
  constexpr uint32_t kFiles = 5;
  const uint32_t rounds = context.whole ? 100 : 10, of_file = rounds / kFiles;
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  MappedReads all;
  std::vector<std::function<absl::Status()>> works;
  for (uint32_t file = 1; file <= kFiles; ++file) {
    // One more for each file, so that the files begin with different writers.
    const uint32_t first = (file - 1) * (of_file + 1);
    works.emplace_back([&, file, first] {
      return MapInTurns(context, directory, file, first, first + of_file, all, outcome);
    });
  }
  IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(works));
  if (!all.failed.empty()) {
    outcome.Fail(all.failed, "programs that map files, such as databases, cannot work here");
    return absl::OkStatus();
  }
  const auto& [reads, wrong, failed] = all;
  outcome.Figure("reads", static_cast<double>(reads));
  outcome.Figure("wrong_reads", static_cast<double>(wrong));
  if (wrong == 0) {
    outcome.Pass(absl::StrCat(CountText(rounds), " writes through a mapping, ", CountText(reads),
                              " reads by others, none wrong"));
  } else {
    outcome.Fail(absl::StrCat(CountText(wrong), " of ", CountText(reads), " reads wrong"),
                 context.CacheAdvice("do not share mapped files between clients here"));
  }
  return absl::OkStatus();
}

namespace {

// What came of conflicting writes to files that another client had open.
struct Conflicts {
  double longest_s = 0;
  std::string slowest;
  uint64_t stale = 0, failed = 0;
};

absl::Status MakeConflict(CheckContext& context, uint32_t directory, uint32_t round, Conflicts& conflicts,
                          Outcome& outcome) {
  const uint32_t holder = context.peers[round % context.peers.size()];
  const uint32_t writer = context.peers[(round + 1) % context.peers.size()];
  const uint32_t file = round + 1;
  const bool holds_for_writing = round % 2 == 1;
  const std::string first = context.NewContents(kContentsBytes), second = context.NewContents(kContentsBytes);
  CallList hold(directory), conflict(directory), look(directory);
  hold.Write(file, first);
  hold.Open(file, file, holds_for_writing);
  hold.Add(v1::FileAction::READ_HELD, file).set_held(file);
  conflict.Add(v1::FileAction::WRITE, file).set_contents(second);
  // A client that has the file open for writing keeps its own pages: it must close the file first.
  look.Add(v1::FileAction::CLOSE_HELD, file).set_held(file);
  look.Add(v1::FileAction::READ, file);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults held, context.files.Do(holder, hold));
  IOBENCH_RETURN_IF_ERROR(context.files.AwaitNextTimestamp(writer, directory));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults written, context.files.Do(writer, conflict));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults seen, context.files.Do(holder, look));
  const double seconds =
      static_cast<double>(written[0].end_worker_ns() - written[0].begin_worker_ns()) * 1e-9;
  if (seconds > conflicts.longest_s) {
    conflicts.longest_s = seconds;
    conflicts.slowest = absl::StrCat(context.NameOf(writer), " waited while ", context.NameOf(holder),
                                     " had the file open for ", holds_for_writing ? "writing" : "reading");
  }
  absl::Status status = ToStatus(written[0].problem());
  for (const v1::FileActionResult& result : held) status.Update(ToStatus(result.problem()));
  for (const v1::FileActionResult& result : seen) status.Update(ToStatus(result.problem()));
  if (!status.ok()) {
    ++conflicts.failed;
    outcome.Evidence(absl::StrCat(Printable(std::string(status.message()))));
  } else if (seen[1].contents_xxh3() != Xxh3Of(second)) {
    ++conflicts.stale;
    outcome.Evidence(
        absl::StrCat(context.NameOf(holder), " opens the file again and reads its old contents"));
  }
  return absl::OkStatus();
}

}  // namespace

// A reader may hold a delegation, which the server must recall before another client writes.
absl::Status CheckDelegations(CheckContext& context, Outcome& outcome) {
  const uint32_t rounds = context.whole ? 40 : 10;
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  Conflicts conflicts;
  std::vector<std::function<absl::Status()>> works;
  for (uint32_t round = 0; round < rounds; ++round) {
    works.emplace_back([&, round] { return MakeConflict(context, directory, round, conflicts, outcome); });
  }
  IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(works));
  outcome.Figure("conflict_max_s", conflicts.longest_s, "s");
  const std::string longest = absl::StrCat("the longest of ", rounds, " conflicting writes took ",
                                           FormatSeconds(conflicts.longest_s));
  if (const uint64_t wrong = conflicts.stale + conflicts.failed; wrong > 0) {
    outcome.Fail(
        absl::StrCat(CountText(wrong), " of ", CountText(rounds), " conflicts ended wrong"),
        context.CacheAdvice(
            "check the callback path of NFSv4.0 (port of the client), or switch delegations off on the server"));
  } else if (conflicts.longest_s > context.limits.recall_within_s) {
    outcome.Evidence(conflicts.slowest);
    outcome.Fail(longest,
                 "check that the server reaches its clients for callbacks, or switch delegations off");
  } else {
    outcome.Pass(longest);
  }
  return absl::OkStatus();
}

// The client that has the file open must keep it readable (it may rename it to .nfsXXXX), and leave nothing behind.
absl::Status CheckOpenUnlink(CheckContext& context, Outcome& outcome) {
  const uint32_t owner = context.peers.front();
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(owner));
  const std::string contents = context.NewContents(kContentsBytes);
  CallList calls(directory);
  calls.Write(1, contents);
  calls.Open(1, 1, /*write=*/false);
  calls.Add(v1::FileAction::REMOVE, 1);
  calls.Add(v1::FileAction::READ_HELD, 1).set_held(1);
  calls.Add(v1::FileAction::LIST, 1);
  calls.Add(v1::FileAction::CLOSE_HELD, 1).set_held(1);
  calls.Add(v1::FileAction::LIST, 1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults own, context.files.Do(owner, calls));
  for (const v1::FileActionResult& result : own) {
    if (result.problem().code() != 0) outcome.Evidence(Printable(result.problem().message()));
  }
  if (outcome.evidence_count() == 0 && own[3].contents_xxh3() != Xxh3Of(contents)) {
    outcome.Evidence("the open file no longer has its contents");
  }
  const bool keeps_a_name = own[4].names().listed() > 0;
  uint64_t left = own[6].names().listed();
  // The NFS client removes its own name when it has closed the file, which may be after close() has returned.
  for (int look = 0; left > 0 && look < kLooksForRemoval; ++look) {
    IOBENCH_RETURN_IF_ERROR(context.files.Wait(kBetweenLooksNs));
    CallList list(directory);
    list.Add(v1::FileAction::LIST, 1);
    IOBENCH_ASSIGN_OR_RETURN(const CallResults names, context.files.Do(owner, list));
    if (names[0].problem().code() == 0) left = names[0].names().listed();
  }
  if (left > 0) outcome.Evidence(absl::StrCat(left, " name stayed in the directory after close()"));
  if (outcome.evidence_count() > 0) {
    outcome.Fail("a file that is removed while it is open does not behave as programs expect",
                 "temporary files of programs will fail or stay behind here");
    return absl::OkStatus();
  }
  std::string found = keeps_a_name ? "readable until close, under a hidden name meanwhile, and then gone"
                                   : "readable until close, and then gone";
  if (context.peers.size() > 1) {
    IOBENCH_ASSIGN_OR_RETURN(const std::string elsewhere,
                             RemoveFromElsewhere(context, directory, contents, outcome));
    absl::StrAppend(&found, "; ", elsewhere);
  }
  outcome.Pass(found);
  return absl::OkStatus();
}

}  // namespace iobench
