// Checks whether buffered, direct and mapped I/O of different clients fit together.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/digest/xxh3.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/validate/checks/checks.h"

namespace iobench {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr uint32_t kBufferedFile = 1, kDirectFile = 2;  // numbers of open files

enum class Mode { kBuffered, kDirect, kMapped };
constexpr std::array kModes = {Mode::kBuffered, Mode::kDirect, Mode::kMapped};

const char* NameOf(Mode mode) {
  return mode == Mode::kBuffered ? "buffered" : mode == Mode::kDirect ? "direct" : "mapped";
}

// What makes a change visible. Without either, clients may see old data.
enum class Barrier { kClose, kLock, kNone };
constexpr std::array kBarriers = {Barrier::kClose, Barrier::kLock, Barrier::kNone};

// Readers share the lock.
void AddLock(CallList& calls, v1::FileAction::What what, bool writes) {
  v1::FileAction& action = calls.Add(what, 1);
  action.set_held(kBufferedFile);
  action.mutable_lock()->set_shared(!writes);
  action.set_timeout_ms(5000);
}

// Adds a write of the contents (null: a read) in this mode, and returns its index.
size_t AddTransfer(CallList& calls, Barrier barrier, Mode mode, const std::string* contents) {
  const bool is_mapped = mode == Mode::kMapped, writes = contents != nullptr;
  if (barrier == Barrier::kLock) AddLock(calls, v1::FileAction::LOCK, writes);
  const size_t index = calls.actions().size();
  if (barrier == Barrier::kClose) {
    v1::FileAction& action =
        calls.Add(is_mapped ? (writes ? v1::FileAction::WRITE_MAPPED : v1::FileAction::READ_MAPPED)
                            : (writes ? v1::FileAction::WRITE : v1::FileAction::READ),
                  1);
    action.mutable_how()->set_direct(mode == Mode::kDirect);
    if (writes) action.set_contents(*contents);
  } else {
    v1::FileAction& action = calls.Add(writes ? v1::FileAction::WRITE_HELD : v1::FileAction::READ_HELD, 1);
    action.set_held(mode == Mode::kDirect ? kDirectFile : kBufferedFile);
    action.mutable_how()->set_mapped(is_mapped);
    if (writes) action.set_contents(*contents);
  }
  if (barrier == Barrier::kLock) AddLock(calls, v1::FileAction::UNLOCK, writes);
  return index;
}

// What was found of all pairs of modes.
struct ModeStory {
  std::set<Mode> missing;  // on some client
  std::set<std::string> wrong_pairs, old_pairs;
  uint64_t reads = 0, wrong = 0, wrong_under_lock = 0;
};

// One mode of writing and one of reading, on a file of their own.
class ModePair {
 public:
  ModePair(CheckContext& context, Outcome& outcome, Mode write, Mode read, ModeStory& story)
      : context_(context), outcome_(outcome), write_(write), read_(read), story_(story) {}

  absl::Status Test(uint32_t rounds, size_t turn) {
    turn_ = turn;
    IOBENCH_ASSIGN_OR_RETURN(directory_, context_.files.NewDirectory(context_.peers.front()));
    IOBENCH_ASSIGN_OR_RETURN(const bool can_test, Prepare());
    if (!can_test) return absl::OkStatus();
    for (const Barrier barrier : kBarriers) {
      if (barrier == Barrier::kLock) {
        IOBENCH_ASSIGN_OR_RETURN(const bool opened, Open());
        if (!opened) return absl::OkStatus();
      }
      for (uint32_t round = 0; round < rounds; ++round) IOBENCH_RETURN_IF_ERROR(Transfer(barrier));
    }
    return Close();
  }

 private:
  // Makes the file, which all clients then read, so that they may keep its contents. False: that failed, or a client does
  // not have one of the modes.
  absl::StatusOr<bool> Prepare() {
    CallList make(directory_);
    make.Write(1, std::string(kPageBytes, '0'));
    IOBENCH_ASSIGN_OR_RETURN(const CallResults made, context_.files.Do(context_.peers[0], make));
    if (made[0].problem().code() != 0) return Failed(context_.peers[0], made[0]);
    std::map<uint32_t, CallList> looks;
    for (const uint32_t worker : context_.peers) {
      CallList look(directory_);
      look.Add(v1::FileAction::READ_MAPPED, 1);
      look.Add(v1::FileAction::READ, 1).mutable_how()->set_direct(true);
      looks.emplace(worker, std::move(look));
    }
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers seen, context_.files.DoAll(looks));
    for (const auto& [worker, results] : seen) {
      if (results[0].problem().code() != 0) story_.missing.insert(Mode::kMapped);
      if (results[1].problem().code() != 0) story_.missing.insert(Mode::kDirect);
    }
    return !story_.missing.contains(write_) && !story_.missing.contains(read_);
  }

  // Opens the file on all clients. After the rounds of close: a client that has a file open for writing keeps its pages
  // when it opens the file once more (seen over NFSv4.2 with Linux 6.1). False: that failed.
  absl::StatusOr<bool> Open() {
    std::map<uint32_t, CallList> opens;
    for (const uint32_t worker : context_.peers) {
      CallList calls(directory_);
      calls.Open(1, kBufferedFile, /*write=*/true);
      if (!story_.missing.contains(Mode::kDirect)) {
        calls.Open(1, kDirectFile, /*write=*/true).mutable_how()->set_direct(true);
      }
      opens.emplace(worker, std::move(calls));
    }
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers opened, context_.files.DoAll(opens));
    for (const auto& [worker, results] : opened) {
      for (const v1::FileActionResult& result : results) {
        if (result.problem().code() != 0) return Failed(worker, result);
      }
    }
    return true;
  }

  absl::Status Close() {
    std::map<uint32_t, CallList> calls;
    for (const uint32_t worker : context_.peers) {
      CallList close(directory_);
      for (const uint32_t held : {kBufferedFile, kDirectFile}) {
        close.Add(v1::FileAction::CLOSE_HELD, 1).set_held(held);
      }
      calls.emplace(worker, std::move(close));
    }
    return context_.files.DoAll(calls).status();
  }

  bool Failed(uint32_t worker, const v1::FileActionResult& result) {
    outcome_.Fail(absl::StrCat(context_.NameOf(worker), ": ", Printable(result.problem().message())), "");
    return false;
  }

  absl::Status Transfer(Barrier barrier) {
    const uint32_t writer = context_.peers[turn_++ % context_.peers.size()];
    const std::string contents = context_.NewContents(kPageBytes);
    CallList calls(directory_);
    AddTransfer(calls, barrier, write_, &contents);
    IOBENCH_RETURN_IF_ERROR(context_.files.AwaitNextTimestamp(writer, directory_));
    IOBENCH_ASSIGN_OR_RETURN(const CallResults written, context_.files.Do(writer, calls));
    const std::string pair = absl::StrCat(NameOf(write_), " write, ", NameOf(read_), " read",
                                          barrier == Barrier::kLock ? " under a lock" : "");
    for (const v1::FileActionResult& result : written) {
      if (result.problem().code() == 0) continue;
      Wrong(barrier, pair,
            absl::StrCat(context_.NameOf(writer), ": ", Printable(result.problem().message())));
      return absl::OkStatus();
    }
    std::map<uint32_t, CallList> looks;
    size_t index = 0;
    for (const uint32_t reader : context_.peers) {
      if (reader == writer) continue;
      CallList list(directory_);
      index = AddTransfer(list, barrier, read_, nullptr);
      looks.emplace(reader, std::move(list));
    }
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers seen, context_.files.DoAll(looks));
    for (const auto& [reader, results] : seen) {
      const v1::FileActionResult& result = results[index];
      const bool is_right = result.problem().code() == 0 && result.contents_xxh3() == Xxh3Of(contents);
      if (barrier == Barrier::kNone && result.problem().code() == 0) {
        if (!is_right) story_.old_pairs.insert(pair);
        continue;
      }
      ++story_.reads;
      if (is_right) continue;
      Wrong(barrier, pair,
            result.problem().code() != 0
                ? absl::StrCat(context_.NameOf(reader), ": ", Printable(result.problem().message()))
                : absl::StrCat(pair, ": ", context_.NameOf(reader), " does not read what ",
                               context_.NameOf(writer), " wrote"));
    }
    return absl::OkStatus();
  }

  void Wrong(Barrier barrier, const std::string& pair, const std::string& evidence) {
    ++story_.wrong;
    if (barrier == Barrier::kLock) ++story_.wrong_under_lock;
    story_.wrong_pairs.insert(pair);
    outcome_.Evidence(evidence);
  }

  CheckContext& context_;
  Outcome& outcome_;
  const Mode write_, read_;
  ModeStory& story_;
  uint32_t directory_ = 0;
  size_t turn_ = 0;  // clients write in turns
};

void JudgeModes(const CheckContext& context, const ModeStory& story, Outcome& outcome) {
  outcome.Figure("reads", static_cast<double>(story.reads));
  outcome.Figure("wrong_reads", static_cast<double>(story.wrong));
  outcome.Figure("old_reads_without_barrier", static_cast<double>(story.old_pairs.size()));
  if (outcome.failed()) return;  // the files could not be made or opened
  if (story.wrong > 0) {
    outcome.Fail(
        absl::StrCat(story.wrong, " of ", story.reads,
                     " reads wrong: ", absl::StrJoin(story.wrong_pairs, ", ")),
        context.CacheAdvice("mount without nocto and local_lock, and check that no proxy or cache between "
                            "clients and server serves old data"));
    if (const std::string cause = context.CauseOfLocks();
        !cause.empty() && story.wrong == story.wrong_under_lock) {
      outcome.Follow(
          cause, "",
          absl::StrCat(story.wrong, " reads under a lock wrong, since locks do not work: see ", cause));
    }
    return;
  }
  std::string missing;
  for (const Mode mode : story.missing) absl::StrAppend(&missing, "; no ", NameOf(mode), " I/O there");
  outcome.Pass(absl::StrCat(story.reads, " reads after close or under a lock, none wrong; without either, ",
                            story.old_pairs.empty()
                                ? "none was old"
                                : absl::StrCat("old as is allowed: ", absl::StrJoin(story.old_pairs, ", ")),
                            missing));
}

}  // namespace

absl::Status CheckCacheModes(CheckContext& context, Outcome& outcome) {
  const uint32_t rounds = context.whole ? 20 : 1;
  ModeStory story;
  std::vector<std::function<absl::Status()>> works;
  for (const Mode write : kModes) {
    for (const Mode read : kModes) {
      works.emplace_back([&, write, read, turn = works.size()] {
        return ModePair(context, outcome, write, read, story).Test(rounds, turn);
      });
    }
  }
  IOBENCH_RETURN_IF_ERROR(context.files.side_by_side().Run(works));
  JudgeModes(context, story, outcome);
  return absl::OkStatus();
}

}  // namespace iobench
