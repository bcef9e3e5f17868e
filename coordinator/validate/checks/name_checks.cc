// Checks of names and offsets: listings, and the limits of the file system.
#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "common/time.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/features.h"

namespace iobench {
namespace {

constexpr uint32_t kFirstName = 1;
// A client makes one name of a directory at a time, so lanes hide only what close() waits for.
constexpr uint32_t kNameLanes = 10;
constexpr uint32_t kChurnNames = 200, kFewestNames = 20, kChurnsPerLook = 3;

// What is wrong with listings of a directory that holds `count` known names.
void JudgeListing(const CheckContext& context, uint32_t worker, const v1::FileActionResult& listed,
                  uint32_t count, bool others_churn, Outcome& outcome) {
  const v1::NameCounts& names = listed.names();
  std::vector<std::string> wrong;
  if (listed.problem().code() != 0) wrong.push_back(Printable(listed.problem().message()));
  if (names.missing() > 0) {
    wrong.push_back(absl::StrCat(CountText(names.missing()), " of ", CountText(count),
                                 " names missing, first f", names.first_missing()));
  }
  if (names.doubled() > 0) wrong.push_back(absl::StrCat(CountText(names.doubled()), " names twice"));
  if (!others_churn && wrong.empty() && names.listed() != count) {
    wrong.push_back(absl::StrCat(CountText(names.listed()), " names instead of ", CountText(count)));
  }
  if (wrong.empty()) return;
  outcome.Evidence(absl::StrCat(context.NameOf(worker),
                                others_churn ? ", while others create and remove: " : ": ",
                                absl::StrJoin(wrong, ", ")));
}

// Adds FILL or EMPTY of so many names, divided among the lanes.
void AddInLanes(v1::FileAction::What what, uint32_t first, uint32_t count, CallList& list) {
  for (uint32_t lane = 0; lane < kNameLanes; ++lane) {
    const uint32_t begin = lane * count / kNameLanes, end = (lane + 1) * count / kNameLanes;
    list.InLane(lane);
    if (end > begin) list.Add(what, first + begin).set_count(end - begin);
  }
}

std::map<uint32_t, CallList> ForEach(const CheckContext& context, uint32_t directory,
                                     v1::FileAction::What what, uint32_t per_client) {
  std::map<uint32_t, CallList> calls;
  for (size_t i = 0; i < context.peers.size(); ++i) {
    CallList list(directory);
    AddInLanes(what, kFirstName + static_cast<uint32_t>(i) * per_client, per_client, list);
    calls.emplace(context.peers[i], std::move(list));
  }
  return calls;
}

// One client lists while the others create and remove names of their own. A name that is removed and made again after
// the lister has opened the directory may be listed twice (POSIX leaves that open). So none comes again, neither in a
// later round nor beside the next lister, which may still have the directory in a cache.
std::map<uint32_t, CallList> ListWhileOthersChurn(const CheckContext& context, uint32_t directory,
                                                  size_t lister, uint32_t count, uint32_t churn_names) {
  const auto peers = static_cast<uint32_t>(context.peers.size());
  const uint32_t rounds_before = static_cast<uint32_t>(lister % 2) * kChurnsPerLook;
  std::map<uint32_t, CallList> calls;
  for (uint32_t i = 0; i < peers; ++i) {
    CallList list(directory);
    for (uint32_t round = rounds_before; round < rounds_before + kChurnsPerLook; ++round) {
      if (i == lister) {
        list.Add(v1::FileAction::LIST, kFirstName).set_count(count);
        continue;
      }
      const uint32_t first = kFirstName + count + (round * peers + i) * churn_names;
      AddInLanes(v1::FileAction::FILL, first, churn_names, list);
      AddInLanes(v1::FileAction::EMPTY, first, churn_names, list);
    }
    calls.emplace(context.peers[i], std::move(list));
  }
  return calls;
}

// How many names a client makes within the time that the quick set has for them: a distant server takes a round trip for
// each. `most` if none can be made, which the check will then meet.
absl::StatusOr<uint32_t> NamesInTime(CheckContext& context, uint32_t directory, uint32_t most) {
  constexpr uint32_t kTried = 5;
  constexpr double kQuickFillS = 3;
  CallList probe(directory);
  probe.Add(v1::FileAction::FILL, kFirstName).set_count(kTried);
  probe.Add(v1::FileAction::EMPTY, kFirstName).set_count(kTried);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults made, context.files.Do(context.peers.front(), probe));
  const double each_s = SecondsFrom(made[0].end_worker_ns() - made[0].begin_worker_ns()) / kTried;
  if (made[0].problem().code() != 0 || each_s <= 0) return most;
  return std::clamp(static_cast<uint32_t>(std::min(kQuickFillS / each_s, static_cast<double>(most))),
                    std::min(most, kFewestNames), most);
}

// False, with evidence, if a call failed.
bool AllDone(const CheckContext& context, const ResultsOfWorkers& done, const char* what, Outcome& outcome) {
  bool all = true;
  for (const auto& [worker, results] : done) {
    for (const v1::FileActionResult& result : results) {
      if (result.problem().code() == 0) continue;
      all = false;
      outcome.Evidence(absl::StrCat(context.NameOf(worker), ": ", what, " failed after ",
                                    CountText(result.count()), ": ", Printable(result.problem().message())));
    }
  }
  return all;
}

}  // namespace

absl::Status CheckListings(CheckContext& context, Outcome& outcome) {
  constexpr uint32_t kQuickNames = 2'000, kWholeNames = 100'000;
  const uint32_t asked = context.name_count > 0 ? context.name_count
                         : context.whole        ? kWholeNames
                                                : kQuickNames;
  const auto peers = static_cast<uint32_t>(context.peers.size());
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  uint32_t per_client = std::max(1u, asked / peers), churn_names = kChurnNames;
  if (context.name_count == 0 && !context.whole) {
    IOBENCH_ASSIGN_OR_RETURN(per_client, NamesInTime(context, directory, per_client));
    churn_names = std::clamp(per_client / 5, kFewestNames / 2, kChurnNames);
  }
  const uint32_t count = per_client * peers;
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers filled,
                           context.files.DoAll(ForEach(context, directory, v1::FileAction::FILL, per_client),
                                               FileCalls::Start::kTogether));
  uint64_t listings = 0;
  bool wrong_while_quiet = false;
  if (AllDone(context, filled, "creating names", outcome)) {
    std::map<uint32_t, CallList> looks;
    for (const uint32_t worker : context.peers) {
      CallList list(directory);
      list.Add(v1::FileAction::LIST, kFirstName).set_count(count);
      looks.emplace(worker, std::move(list));
    }
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers quiet, context.files.DoAll(looks));
    for (const auto& [worker, results] : quiet)
      JudgeListing(context, worker, results[0], count, false, outcome);
    listings += quiet.size();
    wrong_while_quiet = outcome.evidence_count() > 0;
    for (size_t lister = 0; peers > 1 && lister < context.peers.size(); ++lister) {
      if (!context.whole && lister >= 2) break;
      const auto calls = ListWhileOthersChurn(context, directory, lister, count, churn_names);
      IOBENCH_ASSIGN_OR_RETURN(ResultsOfWorkers busy,
                               context.files.DoAll(calls, FileCalls::Start::kTogether));
      for (const v1::FileActionResult& listed : busy[context.peers[lister]]) {
        JudgeListing(context, context.peers[lister], listed, count, true, outcome);
        ++listings;
      }
      busy.erase(context.peers[lister]);
      AllDone(context, busy, "creating and removing names", outcome);
    }
  }
  IOBENCH_ASSIGN_OR_RETURN(
      const ResultsOfWorkers emptied,
      context.files.DoAll(ForEach(context, directory, v1::FileAction::EMPTY, per_client)));
  if (outcome.evidence_count() == 0) AllDone(context, emptied, "removing names", outcome);
  outcome.Figure("names", count);
  outcome.Figure("listings", static_cast<double>(listings));
  if (outcome.evidence_count() == 0) {
    outcome.Pass(absl::StrCat(Counted(count, "name"), " of ", Counted(peers, "client"), " listed ",
                              listings == 1 ? "once" : absl::StrCat(listings, " times"),
                              peers > 1 ? ", also while others create and remove" : "",
                              ": none missing, none twice"));
    return absl::OkStatus();
  }
  IOBENCH_ASSIGN_OR_RETURN(const Features* const features, FeaturesOf(context));
  if (!wrong_while_quiet && features->Any("directory_positions", "counted")) {
    outcome.Fail(
        "listings are wrong while others remove names: the file system counts positions in a directory, as tmpfs does "
        "before Linux 6.6, so names move up in the middle of a listing",
        "backups and clean-up jobs will miss files here: export a file system that gives names fixed positions, such as "
        "ext4 or XFS, instead of tmpfs");
  } else {
    outcome.Fail("listings are wrong",
                 "backups and clean-up jobs will miss files here: update server and clients");
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(CheckContext& context, Outcome& outcome) {
  constexpr uint64_t kLargestOffset = INT64_MAX;
  constexpr uint64_t kLargeOffset = uint64_t{1} << 42;  // 4 TiB, in a sparse file
  constexpr uint64_t kLongestName = 255, kContentsBytes = 64;
  constexpr uint32_t kLong = 1, kTooLong = 2, kUtf8 = 3, kSparse = 4, kLargest = 5;
  const uint32_t writer = context.peers.front(), reader = context.peers.back();
  IOBENCH_ASSIGN_OR_RETURN(const Features* const features, FeaturesOf(context));
  const std::optional<uint64_t> longest = features->Number("longest_name"),
                                largest = features->Number("largest_file");
  // What a file system does not have is a fact. Without holes, a write at a large offset would fill the disk, unless it is
  // refused.
  const bool has_holes = !features->Any("sparse", "no");
  const bool tries_far = has_holes && largest.value_or(kLargestOffset) > kLargeOffset + kContentsBytes;
  const bool tries_end = has_holes || largest.value_or(kLargestOffset) < kLargestOffset;
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(writer));
  const std::string contents = context.NewContents(kContentsBytes);
  CallList write(directory);
  write.Write(kLong, contents).set_style(v1::FileAction::LONGEST);
  write.Write(kTooLong, contents).set_style(v1::FileAction::TOO_LONG);
  write.Write(kUtf8, contents).set_style(v1::FileAction::UTF8);
  if (tries_far) write.Write(kSparse, contents).set_offset(kLargeOffset);
  if (tries_end) write.Write(kLargest, contents.substr(0, 1)).set_offset(kLargestOffset - 1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults written, context.files.Do(writer, write));
  CallList read(directory);
  read.Add(v1::FileAction::READ, kLong).set_style(v1::FileAction::LONGEST);
  read.Add(v1::FileAction::READ, kUtf8).set_style(v1::FileAction::UTF8);
  for (const uint64_t offset : {kLargeOffset, kLargeOffset / 2}) {
    if (tries_far) read.Add(v1::FileAction::READ, kSparse).set_offset(offset);
  }
  IOBENCH_ASSIGN_OR_RETURN(const CallResults seen, context.files.Do(reader, read));

  std::vector<std::string> works;
  const auto must_work = [&](const char* what, const v1::FileActionResult& made,
                             const v1::FileActionResult& got, const std::string& due) {
    absl::Status status = ToStatus(made.problem());
    status.Update(ToStatus(got.problem()));
    if (status.ok() && got.contents_xxh3() == Xxh3Of(due)) return works.push_back(what);
    const std::string why = status.ok() ? "reads other contents" : std::string(status.message());
    outcome.Evidence(absl::StrCat(what, ": ", Printable(why)));
  };
  if (longest.value_or(kLongestName) >= kLongestName) {
    must_work("names of 255 bytes", written[0], seen[0], contents);
  } else {
    works.push_back(absl::StrCat("names of ", *longest, " bytes"));
  }
  if (features->Any("unicode_forms", "refused")) {
    works.push_back("only ASCII names");
  } else {
    must_work("UTF-8 names", written[2], seen[1], contents);
  }
  if (tries_far) {
    must_work("an offset of 4 TiB", written[3], seen[2], contents);
    must_work("zeros in a hole", written[3], seen[3], std::string(4096, '\0'));
  } else if (largest.has_value()) {
    works.push_back(absl::StrCat("files up to ", FormatBytes(static_cast<double>(*largest))));
  }
  if (features->Any("longest_name", "more")) {
    works.push_back("names of more than 255 bytes");
  } else if (ErrnoOf(ToStatus(written[1].problem())) != ENAMETOOLONG) {
    outcome.Evidence("a name of 256 bytes was not refused with ENAMETOOLONG");
  } else {
    works.push_back("ENAMETOOLONG for 256 bytes");
  }
  if (const absl::Status end = ToStatus(written.back().problem()); !tries_end) {
    // Nothing was written there.
  } else if (end.ok()) {
    works.push_back("the offset 2^63-2");
  } else if (ErrnoOf(end) == EFBIG || ErrnoOf(end) == EINVAL) {
    works.push_back("EFBIG for the offset 2^63-2");
  } else {
    outcome.Evidence(absl::StrCat("a write at the offset 2^63-2: ", Printable(std::string(end.message()))));
  }
  if (outcome.evidence_count() > 0) {
    outcome.Fail("limits of the file system are not as programs expect", "");
  } else {
    outcome.Pass(absl::StrJoin(works, ", "));
  }
  return absl::OkStatus();
}

}  // namespace iobench
