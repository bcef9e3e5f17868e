// Checks of names and offsets: listings, and the limits of the file system.
#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

constexpr uint32_t kFirstName = 1;
constexpr uint32_t kChurnNames = 200, kChurnsPerLook = 3;

// What is wrong with listings of a directory that holds `count` known names.
void JudgeListing(const CheckContext& context, uint32_t worker, const v1::FileActionResult& listed,
                  uint32_t count, bool others_churn, Outcome& outcome) {
  const v1::NameCounts& names = listed.names();
  std::vector<std::string> wrong;
  if (listed.problem().code() != 0) wrong.push_back(Printable(listed.problem().message()));
  if (names.missing() > 0) {
    wrong.push_back(
        absl::StrCat(names.missing(), " of ", count, " names missing, first f", names.first_missing()));
  }
  if (names.doubled() > 0) wrong.push_back(absl::StrCat(names.doubled(), " names twice"));
  if (!others_churn && wrong.empty() && names.listed() != count) {
    wrong.push_back(absl::StrCat(names.listed(), " names instead of ", count));
  }
  if (wrong.empty()) return;
  outcome.Evidence(absl::StrCat(context.NameOf(worker),
                                others_churn ? ", while others create and remove: " : ": ",
                                absl::StrJoin(wrong, ", ")));
}

std::map<uint32_t, CallList> ForEach(const CheckContext& context, uint32_t directory,
                                     v1::FileAction::What what, uint32_t per_client) {
  std::map<uint32_t, CallList> calls;
  for (size_t i = 0; i < context.peers.size(); ++i) {
    CallList list(directory);
    list.Add(what, kFirstName + static_cast<uint32_t>(i) * per_client).set_count(per_client);
    calls.emplace(context.peers[i], std::move(list));
  }
  return calls;
}

// One client lists while the others create and remove names of their own. A name that is removed and made again after
// the lister has opened the directory may be listed twice (POSIX leaves that open). So none comes again, neither in a
// later round nor beside the next lister, which may still have the directory in a cache.
std::map<uint32_t, CallList> ListWhileOthersChurn(const CheckContext& context, uint32_t directory,
                                                  size_t lister, uint32_t count) {
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
      const uint32_t first = kFirstName + count + (round * peers + i) * kChurnNames;
      list.Add(v1::FileAction::FILL, first).set_count(kChurnNames);
      list.Add(v1::FileAction::EMPTY, first).set_count(kChurnNames);
    }
    calls.emplace(context.peers[i], std::move(list));
  }
  return calls;
}

// False, with evidence, if a call failed.
bool AllDone(const CheckContext& context, const ResultsOfWorkers& done, const char* what, Outcome& outcome) {
  bool all = true;
  for (const auto& [worker, results] : done) {
    for (const v1::FileActionResult& result : results) {
      if (result.problem().code() == 0) continue;
      all = false;
      outcome.Evidence(absl::StrCat(context.NameOf(worker), ": ", what, " failed after ", result.count(),
                                    ": ", Printable(result.problem().message())));
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
  const uint32_t per_client = std::max(1u, asked / peers), count = per_client * peers;
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers filled,
                           context.files.DoAll(ForEach(context, directory, v1::FileAction::FILL, per_client),
                                               FileCalls::Start::kTogether));
  uint64_t listings = 0;
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
    for (size_t lister = 0; peers > 1 && lister < context.peers.size(); ++lister) {
      if (!context.whole && lister >= 2) break;
      const auto calls = ListWhileOthersChurn(context, directory, lister, count);
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
    outcome.Pass(absl::StrCat(count, " names of ", peers, peers == 1 ? " client" : " clients", " listed ",
                              listings == 1 ? "once" : absl::StrCat(listings, " times"),
                              peers > 1 ? ", also while others create and remove" : "",
                              ": none missing, none twice"));
  } else {
    outcome.Fail("listings are wrong",
                 "backups and clean-up jobs will miss files here: update server and clients");
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(CheckContext& context, Outcome& outcome) {
  constexpr uint64_t kLargestOffset = INT64_MAX;
  constexpr uint64_t kLargeOffset = uint64_t{1} << 42;  // 4 TiB, in a sparse file
  constexpr uint32_t kLong = 1, kTooLong = 2, kUtf8 = 3, kSparse = 4, kLargest = 5;
  const uint32_t writer = context.peers.front(), reader = context.peers.back();
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(writer));
  const std::string contents = context.NewContents(64);
  CallList write(directory);
  write.Write(kLong, contents).set_style(v1::FileAction::LONGEST);
  write.Write(kTooLong, contents).set_style(v1::FileAction::TOO_LONG);
  write.Write(kUtf8, contents).set_style(v1::FileAction::UTF8);
  write.Write(kSparse, contents).set_offset(kLargeOffset);
  write.Write(kLargest, contents.substr(0, 1)).set_offset(kLargestOffset - 1);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults written, context.files.Do(writer, write));
  CallList read(directory);
  read.Add(v1::FileAction::READ, kLong).set_style(v1::FileAction::LONGEST);
  read.Add(v1::FileAction::READ, kUtf8).set_style(v1::FileAction::UTF8);
  read.Add(v1::FileAction::READ, kSparse).set_offset(kLargeOffset);
  read.Add(v1::FileAction::READ, kSparse).set_offset(kLargeOffset / 2);
  IOBENCH_ASSIGN_OR_RETURN(const CallResults seen, context.files.Do(reader, read));

  std::vector<std::string> facts, odd;
  const auto works = [&](const char* what, const v1::FileActionResult& made, const v1::FileActionResult& got,
                         const std::string& due, bool must) {
    absl::Status status = ToStatus(made.problem());
    status.Update(ToStatus(got.problem()));
    if (status.ok() && got.contents_xxh3() == Xxh3Of(due)) return facts.push_back(what);
    const std::string why = status.ok() ? "reads other contents" : std::string(status.message());
    (must ? static_cast<void>(outcome.Evidence(absl::StrCat(what, ": ", Printable(why))))
          : odd.push_back(absl::StrCat(what, ": ", Printable(why))));
  };
  works("names of 255 bytes", written[0], seen[0], contents, true);
  works("UTF-8 names", written[2], seen[1], contents, true);
  // Some file systems have smaller files; then writing there must be refused, and not go elsewhere.
  const int far = ErrnoOf(ToStatus(written[3].problem()));
  if (far == EFBIG || far == EINVAL || far == ENOSPC) {
    odd.push_back("no offset of 4 TiB (EFBIG)");
  } else {
    works("an offset of 4 TiB", written[3], seen[2], contents, true);
    works("zeros in a hole", written[3], seen[3], std::string(4096, '\0'), true);
  }
  if (ErrnoOf(ToStatus(written[1].problem())) != ENAMETOOLONG) {
    outcome.Evidence("a name of 256 bytes was not refused with ENAMETOOLONG");
  } else {
    facts.push_back("ENAMETOOLONG for 256 bytes");
  }
  const absl::Status largest = ToStatus(written[4].problem());
  if (largest.ok()) {
    facts.push_back("the offset 2^63-2");
  } else if (ErrnoOf(largest) == EFBIG || ErrnoOf(largest) == EINVAL) {
    facts.push_back("EFBIG for the offset 2^63-2");
  } else {
    outcome.Evidence(
        absl::StrCat("a write at the offset 2^63-2: ", Printable(std::string(largest.message()))));
  }
  if (outcome.evidence_count() > 0) {
    outcome.Fail("limits of the file system are not as programs expect", "");
  } else if (!odd.empty()) {
    for (const std::string& each : odd) outcome.Evidence(each);
    outcome.Warn(absl::StrCat(absl::StrJoin(odd, ", "), "; works: ", absl::StrJoin(facts, ", ")), "");
  } else {
    outcome.Pass(absl::StrJoin(facts, ", "));
  }
  return absl::OkStatus();
}

}  // namespace iobench
