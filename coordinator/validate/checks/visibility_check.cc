// How long clients trust what they know while no file is opened or closed.
#include <algorithm>
#include <map>
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

constexpr uint32_t kGrowing = 1, kOpened = 2, kNewName = 3, kOldName = 4;
constexpr uint32_t kHeldOpened = 1;
constexpr size_t kBytes = 512;

// A kind of change, and the call that waits until it is seen.
struct SeenChange {
  const char* name;
  const char* figure;
  v1::FileAction::Awaited awaited;
  uint32_t file;
  // Sets what else the call needs. Null: nothing.
  void (*complete)(uint64_t contents_xxh3, v1::FileAction& look);
};
constexpr SeenChange kSeenChanges[] = {
    {"a new size in stat()", "size_seen_max_s", v1::FileAction::SIZE, kGrowing,
     [](uint64_t, v1::FileAction& look) { look.set_awaited_value(2 * kBytes); }},
    {"new contents in a file that is open", "contents_seen_max_s", v1::FileAction::CONTENTS, kOpened,
     [](uint64_t contents_xxh3, v1::FileAction& look) {
       look.set_held(kHeldOpened);
       look.set_awaited_value(contents_xxh3);
     }},
    {"a new name", "name_seen_max_s", v1::FileAction::NAME, kNewName, nullptr},
    {"the removal of a name", "removal_seen_max_s", v1::FileAction::NO_NAME, kOldName, nullptr},
};

// All readers look at the same time, for what is left of the limit. The kinds of changes follow each other, so each time
// is an upper bound.
absl::Status FindChange(const SeenChange& kind, CheckContext& context, uint32_t directory, uint32_t writer,
                     uint64_t contents_xxh3, CoordTime change_end, std::vector<double>& seen_s,
                     Outcome& outcome) {
  const double passed_s = SecondsFrom(context.files.cluster().Now() - change_end);
  CallList look(directory);
  v1::FileAction& call =
      look.Await(kind.awaited, kind.file, std::max(0.0, context.limits.visible_within_s - passed_s));
  if (kind.complete != nullptr) kind.complete(contents_xxh3, call);
  std::map<uint32_t, CallList> looking;
  for (const uint32_t reader : context.peers) {
    if (reader != writer) looking.emplace(reader, look);
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers looks, context.files.DoAll(looking));
  for (const auto& [reader, results] : looks) {
    const double waited_s = std::max(
        0.0, SecondsFrom(context.files.OnCoordinator(reader, results[0].end_worker_ns()) - change_end));
    seen_s.push_back(waited_s);
    if (results[0].seen()) continue;
    outcome.Evidence(absl::StrCat(context.NameOf(reader), " had not seen ", kind.name, " by ",
                                  context.NameOf(writer), " after ", FormatSeconds(waited_s)));
  }
  return absl::OkStatus();
}

// One writer changes all at once; the others look, and none of their calls makes the client ask the server.
absl::Status CheckChangesOf(CheckContext& context, uint32_t writer, std::vector<std::vector<double>>& seen_s,
                    Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(writer));
  const std::string before = context.NewContents(kBytes), after = context.NewContents(kBytes);
  CallList make(directory), change(directory), know(directory), forget(directory);
  for (const uint32_t file : {kGrowing, kOpened, kOldName}) make.Write(file, before);
  for (const uint32_t file : {kGrowing, kOldName, kNewName}) know.Add(v1::FileAction::STAT, file);
  know.Open(kOpened, kHeldOpened, /*write=*/false);
  know.Add(v1::FileAction::READ_HELD, kOpened).set_held(kHeldOpened);
  change.Append(kGrowing, after);
  change.Add(v1::FileAction::WRITE, kOpened).set_contents(after);
  change.Write(kNewName, after);
  change.Add(v1::FileAction::REMOVE, kOldName);
  forget.Add(v1::FileAction::CLOSE_HELD, kOpened).set_held(kHeldOpened);

  std::map<uint32_t, CallList> knowing, forgetting;
  for (const uint32_t reader : context.peers) {
    if (reader == writer) continue;
    knowing.emplace(reader, know);
    forgetting.emplace(reader, forget);
  }
  IOBENCH_RETURN_IF_ERROR(context.files.Do(writer, make).status());
  IOBENCH_RETURN_IF_ERROR(context.files.DoAll(knowing).status());
  // A change with a timestamp that readers already know would never be seen.
  IOBENCH_RETURN_IF_ERROR(context.files.AwaitNextTimestamp(writer, directory));
  IOBENCH_ASSIGN_OR_RETURN(const CallResults changed, context.files.Do(writer, change));
  for (const v1::FileActionResult& result : changed) {
    if (result.problem().code() != 0) outcome.Evidence(Printable(result.problem().message()));
  }
  if (outcome.evidence_count() > 0) {
    outcome.Fail(absl::StrCat(context.NameOf(writer), " cannot make the changes"), "");
    return absl::OkStatus();
  }
  const CoordTime change_end = context.files.OnCoordinator(writer, changed.back().end_worker_ns());
  for (size_t kind = 0; kind < std::size(kSeenChanges); ++kind) {
    IOBENCH_RETURN_IF_ERROR(
        FindChange(kSeenChanges[kind], context, directory, writer, Xxh3Of(after), change_end, seen_s[kind], outcome));
  }
  IOBENCH_RETURN_IF_ERROR(context.files.DoAll(forgetting).status());
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckVisibility(CheckContext& context, Outcome& outcome) {
  const size_t samples = context.whole ? 5 : 1;
  std::vector<std::vector<double>> seen_s(std::size(kSeenChanges));
  for (size_t sample = 0; sample < samples && outcome.evidence_count() == 0; ++sample) {
    const uint32_t writer = context.peers[sample % context.peers.size()];
    IOBENCH_RETURN_IF_ERROR(CheckChangesOf(context, writer, seen_s, outcome));
  }
  if (outcome.failed()) return absl::OkStatus();
  std::string found;
  for (size_t kind = 0; kind < std::size(kSeenChanges); ++kind) {
    std::vector<double>& seconds = seen_s[kind];
    std::sort(seconds.begin(), seconds.end());
    outcome.Figure(kSeenChanges[kind].figure, seconds.back(), "s");
    absl::StrAppend(&found, found.empty() ? "" : ", ", kSeenChanges[kind].name, " within ",
                    FormatSeconds(seconds.back()));
    if (seconds.size() > 2)
      absl::StrAppend(&found, " (median ", FormatSeconds(seconds[seconds.size() / 2]), ")");
  }
  if (outcome.evidence_count() > 0) {
    outcome.Fail(
        absl::StrCat("not seen within ", FormatSeconds(context.limits.visible_within_s),
                     " (--visible-within)"),
        context.CacheAdvice(
            "mount without actimeo, acregmax and acdirmax above 60 s, or use lookupcache=positive or none where "
            "new names must be seen sooner"));
  } else {
    outcome.Pass(absl::StrCat("seen without opening: ", found));
  }
  return absl::OkStatus();
}

}  // namespace iobench
