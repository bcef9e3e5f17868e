// Races that have one right answer, and one that has none on NFS.
#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/features.h"

namespace iobench {
namespace {

// Contests of one request, one after the other: few, so that the clients are still together in the last one.
constexpr uint32_t kContestsPerStart = 8;
constexpr uint32_t kOwnFiles = 10'000;  // names of one client's own begin at a multiple of this

struct Race {
  const char* name;
  int losers_errno;
  bool needs_source;      // one file that all want
  bool needs_own_source;  // one file for each
};
constexpr Race kRaces[] = {
    {"exclusive create", EEXIST, false, false},
    {"mkdir", EEXIST, false, false},
    {"rename", ENOENT, true, false},
    {"link", EEXIST, false, true},
    {"remove", ENOENT, true, false},
};
enum { kExclusiveCreate, kMkdir, kRename, kLink, kRemove };

uint32_t OwnFile(size_t peer, uint32_t contest) {
  return static_cast<uint32_t>(peer + 1) * kOwnFiles + contest;
}

void AddEntry(int race, size_t peer, uint32_t contest, CallList& calls) {
  switch (race) {
    case kExclusiveCreate: {
      v1::FileAction& action = calls.Add(v1::FileAction::WRITE, contest);
      action.mutable_how()->set_create(true);
      action.mutable_how()->set_exclusive(true);
      break;
    }
    case kMkdir:
      calls.Add(v1::FileAction::MAKE_DIRECTORY, contest);
      break;
    case kRename:
      calls.Add(v1::FileAction::RENAME, contest).set_to_file(OwnFile(peer, contest));
      break;
    case kLink:
      calls.Add(v1::FileAction::LINK, OwnFile(peer, contest)).set_to_file(contest);
      break;
    case kRemove:
      calls.Add(v1::FileAction::REMOVE, contest);
      break;
  }
}

// Makes the files that the contests are about.
absl::Status MakeSources(CheckContext& context, int race, uint32_t directory, uint32_t first, uint32_t end) {
  std::map<uint32_t, CallList> calls;
  for (size_t peer = 0; peer < context.peers.size(); ++peer) {
    CallList list(directory);
    for (uint32_t contest = first; contest < end; ++contest) {
      list.InLane(contest);
      if (kRaces[race].needs_source && peer == 0) list.Write(contest, "source");
      if (kRaces[race].needs_own_source) list.Write(OwnFile(peer, contest), "source");
    }
    if (!list.actions().empty()) calls.emplace(context.peers[peer], std::move(list));
  }
  if (calls.empty()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers made, context.files.DoAll(calls));
  for (const auto& [worker, results] : made) {
    for (const v1::FileActionResult& result : results) IOBENCH_RETURN_IF_ERROR(ToStatus(result.problem()));
  }
  return absl::OkStatus();
}

// Between clients, this many contests of each race must have overlapped, or the race has shown little; until then it
// goes on, up to kMaxTimes times the contests. The processes of one client are rarely together in calls that take a few
// microseconds, and it is the kernel that keeps them apart.
constexpr uint64_t kEnoughOverlapping = 5;
constexpr uint32_t kMaxTimes = 3;

// The GlusterFS client answers a removal with success if the brick says that the name is gone (dht_unlink_cbk), and
// makes a link on the brick of its source, where the link of another client's source is not seen (dht_link).
constexpr char kOnGluster[] =
    "GlusterFS distributes names over bricks without a lock: let programs agree by exclusive creation or rename, "
    "which had one winner each, or use a volume of a single replica set";

struct Score {
  uint64_t contests = 0, wrong = 0, overlapping = 0;
};

// True if two clients were in their calls at the same time, as far as their clocks tell.
bool Overlaps(CheckContext& context, const ResultsOfWorkers& results, size_t index) {
  std::vector<std::pair<CoordTime, CoordTime>> calls;
  for (const auto& [worker, entries] : results) {
    calls.emplace_back(context.files.OnCoordinator(worker, entries[index].begin_worker_ns()),
                       context.files.OnCoordinator(worker, entries[index].end_worker_ns()));
  }
  std::sort(calls.begin(), calls.end());
  for (size_t i = 1; i < calls.size(); ++i) {
    if (calls[i].first < calls[i - 1].second) return true;
  }
  return false;
}

absl::Status RunRace(CheckContext& context, int race, uint32_t contests, bool is_distant, Score& score,
                     Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  for (uint32_t first = 1; first <= kMaxTimes * contests; first += kContestsPerStart) {
    if (first > contests && (context.client_count == 1 || score.overlapping >= kEnoughOverlapping)) break;
    const uint32_t end = first + kContestsPerStart;
    const absl::Status ready = MakeSources(context, race, directory, first, end);
    if (absl::IsUnavailable(ready) || absl::IsCancelled(ready)) return ready;
    std::map<uint32_t, CallList> calls;
    for (size_t peer = 0; peer < context.peers.size(); ++peer) {
      CallList list(directory);
      for (uint32_t contest = first; contest < end; ++contest) {
        if (is_distant) list.InLane(contest);
        AddEntry(race, peer, contest, list);
      }
      calls.emplace(context.peers[peer], std::move(list));
    }
    if (!ready.ok()) {
      ++score.wrong;
      outcome.Evidence(absl::StrCat(kRaces[race].name, ": ", Printable(std::string(ready.message()))));
      return absl::OkStatus();
    }
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers results,
                             context.files.DoAll(calls, FileCalls::Start::kTogether));
    for (size_t index = 0; index < end - first; ++index) {
      ++score.contests;
      score.overlapping += Overlaps(context, results, index) ? 1 : 0;
      std::vector<std::string> winners, others;
      for (const auto& [worker, entries] : results) {
        const absl::Status status = ToStatus(entries[index].problem());
        const int error = ErrnoOf(status);
        if (status.ok()) {
          winners.push_back(context.NameOf(worker));
        } else if (error != kRaces[race].losers_errno) {
          others.push_back(
              absl::StrCat(context.NameOf(worker), ": ", Printable(std::string(status.message()))));
        }
      }
      if (winners.size() == 1 && others.empty()) continue;
      ++score.wrong;
      outcome.Evidence(
          absl::StrCat(kRaces[race].name, ": ",
                       others.empty() ? absl::StrCat(winners.size(), " winners", winners.empty() ? "" : ": ",
                                                     absl::StrJoin(winners, ", "))
                                      : absl::StrJoin(others, "; ")));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRaces(CheckContext& context, Outcome& outcome) {
  const uint32_t contests = context.whole ? 400 : 40;
  std::string wrong, apart;
  bool as_on_gluster = context.IsGluster();
  Score all;
  IOBENCH_ASSIGN_OR_RETURN(const Features* const features, FeaturesOf(context));
  const bool has_links = !features->Any("link", "no");
  // A server that is far away holds all calls long enough for clients to be together in them, however many are made at once.
  const bool is_distant = context.files.server_is_distant();
  std::array<Score, std::size(kRaces)> scores;
  std::vector<std::function<absl::Status()>> works;
  for (int race = 0; race < static_cast<int>(std::size(kRaces)); ++race) {
    if (race == kLink && !has_links) continue;
    works.emplace_back([&, race] {
      return RunRace(context, race, contests, is_distant, scores[static_cast<size_t>(race)], outcome);
    });
  }
  if (is_distant) {
    IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(works));
  } else {
    for (const auto& work : works) IOBENCH_RETURN_IF_ERROR(work());
  }
  for (int race = 0; race < static_cast<int>(std::size(kRaces)); ++race) {
    const Score& score = scores[static_cast<size_t>(race)];
    if (score.contests == 0) continue;
    all.contests += score.contests;
    all.overlapping += score.overlapping;
    all.wrong += score.wrong;
    if (context.client_count > 1 && score.overlapping < kEnoughOverlapping) {
      absl::StrAppend(&apart, apart.empty() ? "" : ", ", kRaces[race].name, " ", CountText(score.overlapping),
                      " of ", CountText(score.contests));
    }
    if (score.wrong > 0) {
      as_on_gluster &= race != kExclusiveCreate && race != kRename;
      absl::StrAppend(&wrong, wrong.empty() ? "" : ", ", kRaces[race].name, " ", CountText(score.wrong),
                      " of ", CountText(score.contests));
    }
  }
  outcome.Figure("contests", static_cast<double>(all.contests));
  outcome.Figure("overlapping", static_cast<double>(all.overlapping));
  outcome.Figure("wrong", static_cast<double>(all.wrong));
  if (all.wrong > 0) {
    outcome.Fail(
        absl::StrCat("wrong: ", wrong),
        as_on_gluster
            ? kOnGluster
            : "programs that create lock files or spool directories are not safe here: report it to the vendor");
  } else if (!apart.empty()) {
    outcome.Warn(absl::StrCat("one winner in each of ", CountText(all.contests),
                              " contests, but too few took place at the same time to show much: ", apart),
                 "repeat it with --whole, or from clients that are less busy or nearer to each other");
  } else {
    outcome.Pass(absl::StrCat(CountText(all.contests), " contests of ", context.peers.size(), ", ",
                              CountText(all.overlapping),
                              " of them at the same time as far as the clocks can tell: one winner each",
                              has_links ? "" : "; none of link, because there are no hard links here"));
  }
  return absl::OkStatus();
}

// NFS has no append: a client writes at the end that it knows. So this is a fact and no fault.
absl::Status CheckAppend(CheckContext& context, Outcome& outcome) {
  constexpr uint64_t kRecordBytes = 64;
  const uint32_t count = context.whole ? 500 : 100;
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : context.peers) {
    CallList list(directory);
    v1::FileAction& action = list.Add(v1::FileAction::APPEND_RECORDS, 1);
    action.set_count(count);
    action.set_contents(absl::StrCat("worker ", worker));
    calls.emplace(worker, std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers appended,
                           context.files.DoAll(calls, FileCalls::Start::kTogether));
  for (const auto& [worker, results] : appended) {
    if (results[0].problem().code() == 0) continue;
    outcome.Fail(absl::StrCat(context.NameOf(worker), ": ", Printable(results[0].problem().message())), "");
    return absl::OkStatus();
  }
  CallList look(directory);
  look.Add(v1::FileAction::READ, 1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults seen, context.files.Do(context.peers.front(), look));
  const uint64_t due = uint64_t{count} * context.peers.size();
  const uint64_t there = seen[0].facts().bytes() / kRecordBytes;
  const uint64_t lost = due > there ? due - there : 0;
  outcome.Figure("records", static_cast<double>(due));
  outcome.Figure("lost", static_cast<double>(lost));
  if (lost == 0) {
    outcome.Pass(absl::StrCat(CountText(due), " records of ", context.peers.size(), " writers, none lost"));
  } else if (context.IsNfs()) {
    outcome.Pass(absl::StrCat(CountText(lost), " of ", CountText(due),
                              " records overwritten: O_APPEND is not atomic between NFS clients, "
                              "so let each client append to a file of its own"));
  } else {
    outcome.Warn(absl::StrCat(CountText(lost), " of ", CountText(due),
                              " records overwritten: O_APPEND is not atomic between clients here"),
                 "let each client append to a file of its own");
  }
  return absl::OkStatus();
}

}  // namespace iobench
