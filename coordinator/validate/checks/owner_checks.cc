// Checks of what the file system says about new files: their times and their owners.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "common/time.h"
#include "coordinator/preflight/file_clocks.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/user_trials.h"

namespace iobench {
namespace {

// Every peer creates a file of its own: file i is that of peers[i].
absl::StatusOr<ResultsOfWorkers> CreateEach(CheckContext& context, uint32_t directory,
                                            std::string_view contents) {
  std::map<uint32_t, CallList> calls;
  for (size_t i = 0; i < context.peers.size(); ++i) {
    CallList list(directory);
    list.Add(v1::FileAction::CREATE, static_cast<uint32_t>(i + 1)).set_contents(std::string(contents));
    calls.emplace(context.peers[i], std::move(list));
  }
  return context.files.DoAll(calls);
}

// Why the maker of a directory could not open it to all; empty: it could, or no mode came in its way.
std::string WhyNotOpen(const v1::FileActionResult& opened) {
  if (opened.trials_size() == 0) return "";
  const v1::TrialResult& trial = opened.trials(0);
  if (trial.answer() == "other") return trial.detail();
  return trial.answer() == "EPERM" ? "chmod: EPERM" : "";
}

// Compares how all clients see file number `i` of `creator`. Returns what to do; empty: they agree.
std::string CompareReaders(const CheckContext& context, uint32_t creator, size_t i,
                           const ResultsOfWorkers& read, Outcome& outcome) {
  std::string advice;
  const v1::FileFacts& own = read.at(creator)[i].facts();
  for (const uint32_t reader : context.peers) {
    const v1::FileActionResult& seen = read.at(reader)[i];
    if (seen.problem().code() != 0) {
      outcome.Evidence(absl::StrCat(context.NameOf(reader), " cannot read the file of ",
                                    context.NameOf(creator), ": ", Printable(seen.problem().message())));
      advice = "let the workers run as the same user on all clients, and check how the server maps users";
    } else if (seen.facts().user() != own.user() || seen.facts().group() != own.group()) {
      outcome.Evidence(absl::StrCat("a file of ", context.NameOf(creator), " belongs to ", own.user(), ":",
                                    own.group(), " there, and to ", seen.facts().user(), ":",
                                    seen.facts().group(), " on ", context.NameOf(reader)));
      advice = "use the same idmapping (domain, sec=) on all clients";
    }
  }
  return advice;
}

}  // namespace

// The file system's clock stamps a new file between two readings of the client's own clock.
absl::Status CheckClocks(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers created, CreateEach(context, directory, "x"));
  std::map<uint32_t, CallList> calls;
  for (size_t i = 0; i < context.peers.size(); ++i) {
    CallList list(directory);
    list.Add(v1::FileAction::READ, static_cast<uint32_t>(i + 1));
    calls.emplace(context.peers[i], std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers read, context.files.DoAll(calls));
  std::vector<ClockSight> sights;
  for (const uint32_t worker : context.peers) {
    const v1::FileActionResult& made = created.at(worker)[0];
    const v1::FileActionResult& seen = read.at(worker)[0];
    for (const v1::FileActionResult* const each : {&made, &seen}) {
      if (each->problem().code() == 0) continue;
      outcome.Fail(absl::StrCat(context.NameOf(worker),
                                " cannot create and read a file: ", Printable(each->problem().message())),
                   "check permissions, quota and root_squash of the export");
      return absl::OkStatus();
    }
    sights.push_back({.client = context.NameOf(worker),
                      .begin_wall_ns = made.begin_wall_ns(),
                      .end_wall_ns = made.end_wall_ns(),
                      .modified_ns = seen.facts().modified_ns()});
  }
  const int64_t step_ns = StepOfWholeSecondsNs(sights);
  const FileClocks clocks = CompareClocks(sights, step_ns);
  for (const std::string& line : Lines(clocks)) outcome.Evidence(line);
  outcome.Figure("ahead_of_filesystem_max_s", clocks.from_filesystem_s, "s");
  outcome.Figure("between_clients_max_s", clocks.between_clients_s, "s");
  const double difference_s = clocks.worst_s();
  if (difference_s > context.limits.clock_difference_s) {
    outcome.Fail(absl::StrCat(Summary(clocks),
                              ": make, rsync and backups compare times of files with times of clients"),
                 Advice(clocks));
  } else if (clocks.from_filesystem_s > kClockWarningS) {
    outcome.Warn(Summary(clocks), Advice(clocks));
  } else {
    const double step_s = SecondsFrom(step_ns);
    const double within_s = std::max({difference_s, step_s, 0.001});
    const std::string steps =
        step_ns > 0 ? absl::StrCat(" (timestamps have steps of ", FormatSeconds(step_s), ")") : "";
    outcome.Pass(absl::StrCat("clients and file system agree within ", FormatSeconds(within_s), steps));
  }
  return absl::OkStatus();
}

absl::Status CheckIdentity(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  // A client whose user becomes another one must be able to show that.
  CallList open_it(directory);
  open_it.Add(v1::FileAction::TRY).add_trials("open-to-all");
  IOBENCH_ASSIGN_OR_RETURN(const CallResults opened, context.files.Do(context.peers.front(), open_it));
  const std::string unopened = WhyNotOpen(opened.front());
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers created, CreateEach(context, directory, "owner"));
  std::map<uint32_t, CallList> calls;
  for (const uint32_t worker : context.peers) {
    CallList list(directory);
    for (size_t i = 0; i < context.peers.size(); ++i)
      list.Add(v1::FileAction::READ, static_cast<uint32_t>(i + 1));
    calls.emplace(worker, std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers read, context.files.DoAll(calls));

  std::string advice;
  std::map<std::string, std::vector<std::string>> owners;  // owner that the creator becomes -> clients
  std::set<std::pair<uint32_t, uint32_t>> processes;
  std::map<uint32_t, OwnerSeen> seen_by_creator;
  for (size_t i = 0; i < context.peers.size(); ++i) {
    const uint32_t creator = context.peers[i];
    const v1::FileActionResult& made = created.at(creator)[0];
    if (made.problem().code() != 0) {
      outcome.Evidence(absl::StrCat(context.NameOf(creator),
                                    " cannot create a file: ", Printable(made.problem().message())));
      advice =
          "run the workers as one user, and export with the same root_squash, all_squash and anonuid to all clients";
      continue;
    }
    const uint32_t user = made.facts().process_user(), group = made.facts().process_group();
    processes.emplace(user, group);
    const v1::FileFacts& own = read.at(creator)[i].facts();
    seen_by_creator[creator] = {.process_user = user, .owner = own.user()};
    owners[absl::StrCat(user, ":", group, " owns its files as ", own.user(), ":", own.group())].push_back(
        context.NameOf(creator));
    if (user != 0 && own.user() != user) {
      outcome.Evidence(absl::StrCat(context.NameOf(creator), ": user ", user, " owns its new file as ",
                                    own.user(), IsNobody(own.user()) ? " (nobody)" : ""));
      advice = "check all_squash and anonuid of the export, and the domain in /etc/idmapd.conf";
    }
    if (std::string how = CompareReaders(context, creator, i, read, outcome); !how.empty())
      advice = std::move(how);
  }
  // The same process user must become the same owner on all clients: an export may squash only some of them.
  std::vector<std::string> kinds;
  for (const auto& [what, clients] : owners) {
    kinds.push_back(absl::StrCat(absl::StrJoin(clients, ", "), ": ", what));
  }
  if (outcome.evidence_count() == 0 && owners.size() > 1 && processes.size() == 1) {
    for (const std::string& kind : kinds) outcome.Evidence(kind);
    advice = "export with the same root_squash, all_squash and anonuid to all clients";
  }
  const bool owners_differ = outcome.evidence_count() > 0;
  UserVerdict users;
  if (!unopened.empty()) {
    users.doubt = absl::StrCat(
        "the file system keeps no modes: its directories cannot be opened to other users (", unopened, ")");
    context.causes.insert("identity");
    users.advice = "let only one user work there, or look for a mount option umask=, fmask= or dmask=";
  } else if (processes.size() == 1) {
    IOBENCH_ASSIGN_OR_RETURN(users, TryUsers(context, directory, seen_by_creator, outcome));
  }
  if (owners_differ || !users.fault.empty()) {
    const bool users_say_why = !users.fault.empty();
    outcome.Fail(users_say_why ? users.fault : "owners differ or are lost",
                 users_say_why ? users.advice : advice);
    context.causes.insert("identity");
    return absl::OkStatus();
  }
  if (processes.size() > 1) {
    for (const std::string& kind : kinds) outcome.Evidence(kind);
    outcome.Warn("the workers run as different users", "run them as one user, or be sure that this is meant");
    return absl::OkStatus();
  }
  const v1::FileFacts& own = read.at(context.peers.front())[0].facts();
  const bool squashed = own.process_user() == 0 && own.user() != 0;
  outcome.Figure("root_squashed", squashed ? 1 : 0);
  const std::string not_checked =
      users.not_checked.empty() ? "" : absl::StrCat("; not checked: ", users.not_checked);
  if (!users.doubt.empty()) {
    outcome.Warn(users.doubt + not_checked, users.advice);
    return absl::OkStatus();
  }
  outcome.Pass(absl::StrCat(squashed ? absl::StrCat("root is squashed to ", own.user(), ":", own.group(),
                                                    " for all clients (root_squash)")
                                     : absl::StrCat("user ", own.process_user(), " owns its files as ",
                                                    own.user(), ":", own.group(), " everywhere"),
                            "; owners and modes count", not_checked));
  return absl::OkStatus();
}

}  // namespace iobench
