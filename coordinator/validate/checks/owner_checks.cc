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
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

constexpr uint32_t kNobody = 65534;
constexpr uint32_t kNobodyOfNfs = 4294967294;
constexpr double kClockWarningS = 0.1;

bool IsNobody(uint32_t id) {
  return id == kNobody || id == kNobodyOfNfs;
}

// How much later than its timestamp says a file may have been changed, if timestamps are whole seconds: one second, or
// two if all are even. Otherwise 0: steps of a kernel's tick do not matter here.
int64_t StepOfWholeSecondsNs(const ResultsOfWorkers& read) {
  int64_t step_ns = 2 * kNanosPerSecond;
  for (const auto& [worker, results] : read) {
    const int64_t modified_ns = results[0].facts().modified_ns();
    if (modified_ns % kNanosPerSecond != 0) return 0;
    if (modified_ns % step_ns != 0) step_ns = kNanosPerSecond;
  }
  return step_ns;
}

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
  const int64_t step_ns = StepOfWholeSecondsNs(read);
  double worst_s = 0, min_high_s = INFINITY, max_low_s = -INFINITY;
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
    // Positive: the client's clock is ahead of the file system's.
    const double low_s = SecondsFrom(made.begin_wall_ns() - seen.facts().modified_ns() - step_ns);
    const double high_s = SecondsFrom(made.end_wall_ns() - seen.facts().modified_ns());
    const double ahead_s = low_s > 0 ? low_s : high_s < 0 ? high_s : 0;
    worst_s = std::max(worst_s, std::fabs(ahead_s));
    max_low_s = std::max(max_low_s, low_s);
    min_high_s = std::min(min_high_s, high_s);
    if (std::fabs(ahead_s) < kClockWarningS) continue;
    outcome.Evidence(absl::StrCat(context.NameOf(worker), ": its clock is ",
                                  FormatSeconds(std::fabs(ahead_s)), ahead_s > 0 ? " ahead of" : " behind",
                                  " the file system's"));
  }
  // Only what is certain: a client that was slow to create its file is known to a wide interval.
  const double between_s = std::max(0.0, max_low_s - min_high_s);
  outcome.Figure("ahead_of_filesystem_max_s", worst_s, "s");
  outcome.Figure("between_clients_max_s", between_s, "s");
  const std::string advice = "let clients and server use one time service (chrony, ntpd)";
  const double difference_s = std::max(worst_s, between_s);
  const std::string found = absl::StrCat("clocks differ by up to ", FormatSeconds(difference_s));
  if (difference_s > context.limits.clock_difference_s) {
    outcome.Fail(
        absl::StrCat(found, ": make, rsync and backups compare times of files with times of clients"),
        advice);
  } else if (worst_s > kClockWarningS) {
    outcome.Warn(found, advice);
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
  if (outcome.evidence_count() > 0) {
    outcome.Fail("owners differ or are lost", advice);
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
  outcome.Pass(squashed
                   ? absl::StrCat("root is squashed to ", own.user(), ":", own.group(), " for all clients")
                   : absl::StrCat("user ", own.process_user(), " owns its files as ", own.user(), ":",
                                  own.group(), " everywhere"));
  return absl::OkStatus();
}

}  // namespace iobench
