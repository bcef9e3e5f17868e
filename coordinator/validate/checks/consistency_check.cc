// The check of random work of all clients on shared files, compared with a model (coordinator/validate/consistency).
#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/consistency/mismatch.h"
#include "coordinator/validate/consistency/random_script.h"
#include "coordinator/validate/consistency/shrink.h"

namespace iobench {
namespace {

using Kind = Step::Kind;

constexpr size_t kScriptSteps = 150;  // without the reads at the end
constexpr size_t kMaxLines = 19;      // of evidence
constexpr int kTriesToRepeat = 3;
constexpr uint32_t kLockMs = 10'000;
constexpr uint32_t kDirectHeld = 10;  // file 1 is open as 1, and for direct I/O as 11

const std::map<Kind, const char*> kOptional = {{Kind::kDirectWrite, "direct writes"},
                                               {Kind::kDirectRead, "direct reads"},
                                               {Kind::kMappedWrite, "mapped writes"},
                                               {Kind::kMappedRead, "mapped reads"},
                                               {Kind::kAllocate, "fallocate"},
                                               {Kind::kPunch, "punched holes"},
                                               {Kind::kLink, "hard links"}};

// Mappings and allocations are refused in more ways.
bool IsMissing(int error) {
  return IsNotOffered(error) || error == EINVAL || error == ENODEV;
}

// Adds the call of a step. `held`: 0: by name; otherwise on the open file.
void AddCall(CallList& calls, const Step& step, bool by_name) {
  const auto add = [&](v1::FileAction::What named, v1::FileAction::What on_open) -> v1::FileAction& {
    v1::FileAction& action = calls.Add(by_name ? named : on_open, step.file);
    action.set_offset(step.offset);
    if (!by_name) action.set_held(step.file);
    return action;
  };
  using A = v1::FileAction;
  switch (step.kind) {
    case Kind::kCreate:
      calls.Write(step.file, ContentsOf(step));
      return;
    case Kind::kAppend:
      calls.Append(step.file, ContentsOf(step));
      return;
    case Kind::kWrite:
      add(A::WRITE, A::WRITE_HELD).set_contents(ContentsOf(step));
      return;
    case Kind::kDirectWrite:
    case Kind::kDirectRead: {
      v1::FileAction& action =
          step.kind == Kind::kDirectRead ? add(A::READ, A::READ_HELD) : add(A::WRITE, A::WRITE_HELD);
      if (step.kind == Kind::kDirectWrite) action.set_contents(ContentsOf(step));
      action.mutable_how()->set_direct(true);
      if (!by_name) action.set_held(kDirectHeld + step.file);
      return;
    }
    case Kind::kMappedWrite: {
      v1::FileAction& action = add(A::WRITE_MAPPED, A::WRITE_HELD);
      action.set_contents(ContentsOf(step));
      action.mutable_how()->set_mapped(true);
      return;
    }
    case Kind::kMappedRead:
      add(A::READ_MAPPED, A::READ_HELD).mutable_how()->set_mapped(true);
      return;
    case Kind::kRead:
      add(A::READ, A::READ_HELD);
      return;
    case Kind::kTruncate:
      add(A::TRUNCATE, A::TRUNCATE);
      return;
    case Kind::kAllocate:
      add(A::ALLOCATE, A::ALLOCATE).set_count(step.bytes);
      return;
    case Kind::kPunch:
      add(A::PUNCH, A::PUNCH).set_count(step.bytes);
      return;
    case Kind::kRename:
      calls.Add(A::RENAME, step.file).set_to_file(step.to_file);
      return;
    case Kind::kLink:
      calls.Add(A::LINK, step.file).set_to_file(step.to_file);
      return;
    case Kind::kUnlink:
      calls.Add(A::REMOVE, step.file);
      return;
  }
}

void AddLock(CallList& calls, uint32_t file, v1::FileAction::What what) {
  v1::FileAction& action = calls.Add(what, file);
  action.set_held(file);
  action.set_timeout_ms(kLockMs);
}

Answer AnswerOf(const v1::FileActionResult& result) {
  return {.error = result.problem().code() == 0          ? 0
                   : result.problem().errno_value() != 0 ? result.problem().errno_value()
                                                         : EIO,
          .message = Printable(result.problem().message()),
          .bytes = result.bytes(),
          .contents_xxh3 = result.contents_xxh3(),
          .size = result.facts().bytes()};
}

// Performs scripts on the file system, each in a directory of its own.
class ScriptRunner {
 public:
  explicit ScriptRunner(CheckContext& context) : context_(context) {}

  // Kinds that some client cannot use there.
  absl::StatusOr<std::set<Kind>> Unusable() {
    IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context_.files.NewDirectory(context_.peers[0]));
    std::set<Kind> unusable;
    for (const uint32_t worker : context_.peers) {
      CallList calls(directory);
      calls.Write(3, std::string(kScriptPageBytes, 'x'));
      for (const auto& [kind, name] : kOptional) {
        AddCall(calls, {.kind = kind, .file = 3, .to_file = 4, .bytes = kScriptPageBytes}, /*by_name=*/true);
      }
      calls.Add(v1::FileAction::REMOVE, 4);
      IOBENCH_ASSIGN_OR_RETURN(const CallResults results, context_.files.Do(worker, calls));
      size_t index = 1;
      for (const auto& [kind, name] : kOptional) {
        if (IsMissing(results[index++].problem().errno_value())) unusable.insert(kind);
      }
    }
    return unusable;
  }

  absl::StatusOr<std::optional<Mismatch>> Run(const Script& script) {
    IOBENCH_RETURN_IF_ERROR(Begin(script));
    auto found = FindMismatch(script, [this](std::span<const Step> turn) { return Perform(turn); });
    IOBENCH_RETURN_IF_ERROR(found.status());
    IOBENCH_RETURN_IF_ERROR(End());
    return found;
  }
  uint64_t steps() const { return steps_; }

 private:
  // Makes the locked files, and opens them on all clients.
  absl::Status Begin(const Script& script) {
    IOBENCH_ASSIGN_OR_RETURN(directory_, context_.files.NewDirectory(context_.peers[0]));
    const bool direct = std::any_of(script.begin(), script.end(), [](const Step& step) {
      return IsLocked(step.file) && (step.kind == Kind::kDirectRead || step.kind == Kind::kDirectWrite);
    });
    CallList make(directory_);
    std::map<uint32_t, CallList> opens;
    for (const uint32_t worker : context_.peers) opens.emplace(worker, CallList(directory_));
    held_.clear();
    for (uint32_t file = 1; file <= kLockedFiles; ++file) {
      make.Write(file, "");
      held_.push_back(file);
      if (direct) held_.push_back(kDirectHeld + file);
      for (auto& [worker, list] : opens) {
        list.Open(file, file, /*write=*/true);
        if (direct) list.Open(file, kDirectHeld + file, /*write=*/true).mutable_how()->set_direct(true);
      }
    }
    IOBENCH_ASSIGN_OR_RETURN(const CallResults made, context_.files.Do(context_.peers[0], make));
    for (const v1::FileActionResult& result : made) IOBENCH_RETURN_IF_ERROR(ToStatus(result.problem()));
    IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers opened, context_.files.DoAll(opens));
    for (const auto& [worker, results] : opened) {
      for (const v1::FileActionResult& result : results) {
        IOBENCH_RETURN_IF_ERROR(Annotate(ToStatus(result.problem()), context_.NameOf(worker)));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Answer>> Perform(std::span<const Step> turn) {
    const uint32_t worker = context_.peers[turn.front().client];
    // A change that has the time of an earlier one may look like it to a client.
    if (std::any_of(turn.begin(), turn.end(), [](const Step& step) { return !Reads(step.kind); })) {
      IOBENCH_RETURN_IF_ERROR(context_.files.AwaitNextTimestamp(worker, directory_));
    }
    // An NFSv3 client of Linux before 6.11 that knows a name as missing does not ask again before it creates the file, and
    // where another client has made it meanwhile, O_TRUNC is lost. Opening it first, which asks, keeps this from every run.
    const bool looks_first = context_.SeenBy(worker).filesystem() == "nfs";
    const auto looked_for = [&](const Step& step) { return looks_first && step.kind == Kind::kCreate; };
    CallList calls(directory_);
    for (const Step& step : turn) {
      const bool locked = IsLocked(step.file);
      if (looked_for(step)) calls.Add(v1::FileAction::READ, step.file);
      if (locked) AddLock(calls, step.file, v1::FileAction::LOCK);
      AddCall(calls, step, !locked);
      if (locked) AddLock(calls, step.file, v1::FileAction::UNLOCK);
    }
    IOBENCH_ASSIGN_OR_RETURN(const CallResults results, context_.files.Do(worker, calls));
    std::vector<Answer> answers;
    size_t index = 0;
    for (const Step& step : turn) {
      const bool locked = IsLocked(step.file);
      if (looked_for(step)) ++index;
      Answer answer = AnswerOf(results[index + (locked ? 1 : 0)]);
      for (const size_t lock : {index, index + 2}) {
        if (locked && answer.error == 0 && results[lock].problem().code() != 0)
          answer = AnswerOf(results[lock]);
      }
      answers.push_back(std::move(answer));
      index += locked ? 3 : 1;
    }
    steps_ += turn.size();
    return answers;
  }

  absl::Status End() {
    std::map<uint32_t, CallList> closes;
    for (const uint32_t worker : context_.peers) {
      CallList list(directory_);
      for (const uint32_t held : held_) list.Add(v1::FileAction::CLOSE_HELD, 1).set_held(held);
      closes.emplace(worker, std::move(list));
    }
    IOBENCH_RETURN_IF_ERROR(context_.files.DoAll(closes).status());
    CallList clear(directory_);
    clear.Add(v1::FileAction::REMOVE_DIRECTORY);
    return context_.files.Do(context_.peers[0], clear).status();
  }

  CheckContext& context_;
  uint32_t directory_ = 0;
  std::vector<uint32_t> held_;
  uint64_t steps_ = 0;
};

// Shows a script that fails, the failed step last.
void Show(const CheckContext& context, std::span<const Step> script, const std::string& found,
          Outcome& outcome) {
  const size_t first = script.size() > kMaxLines ? script.size() - kMaxLines : 0;
  for (size_t i = first; i < script.size(); ++i) {
    const bool is_last = i + 1 == script.size();
    outcome.Evidence(absl::StrCat(i + 1, ". ",
                                  TextOf(script[i], context.NameOf(context.peers[script[i].client])),
                                  is_last ? absl::StrCat(": ", found) : ""));
  }
}

absl::Status ShrinkAndShow(CheckContext& context, ScriptRunner& runner, Script script, Mismatch mismatch,
                           uint64_t seed, Outcome& outcome) {
  script.resize(mismatch.index + 1);
  const size_t length = script.size();
  bool repeated = false;
  // The shortest script so far ends with the step that differs.
  const auto fails = [&](const Script& part) -> absl::StatusOr<bool> {
    IOBENCH_ASSIGN_OR_RETURN(const std::optional<Mismatch> again, runner.Run(part));
    if (again.has_value()) {
      mismatch = *again;
      script = part;
      script.resize(again->index + 1);
    }
    return again.has_value();
  };
  for (int i = 0; i < kTriesToRepeat && !repeated; ++i) {
    IOBENCH_ASSIGN_OR_RETURN(repeated, fails(Script(script)));
  }
  uint32_t tries = 0;
  if (repeated) {
    const CoordTime end =
        context.files.cluster().Now() + static_cast<int64_t>(context.limits.shrink_s * kNanosPerSecond);
    IOBENCH_ASSIGN_OR_RETURN(const Shrunk shrunk,
                             Shrink(script, fails, [&] { return context.files.cluster().Now() < end; }));
    tries = shrunk.tries;
  }
  Show(context, script, mismatch.found, outcome);
  outcome.Figure("script_steps", static_cast<double>(script.size()));
  outcome.Figure("shrink_tries", tries);
  outcome.Fail(
      absl::StrCat(
          context.NameOf(context.peers[script.back().client]), " ", mismatch.found,
          repeated ? absl::StrCat(": shrunk from ", CountText(length), " steps to ", CountText(script.size()))
                   : absl::StrCat(", once in ", 1 + kTriesToRepeat, " tries of the same script"),
          " (--seed ", seed, " begins with this script)"),
      context.CacheAdvice(
          "mount without nocto and local_lock, and check that no proxy or cache between clients and "
          "server serves old data"));
  if (const std::string cause = context.CauseOfLocks(); !cause.empty() && IsLocked(script.back().file)) {
    outcome.Follow(
        cause, "",
        absl::StrCat("a file under a lock is not as expected, since locks do not work: see ", cause));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckConsistency(CheckContext& context, Outcome& outcome) {
  ScriptRunner runner(context);
  IOBENCH_ASSIGN_OR_RETURN(const std::set<Kind> unusable, runner.Unusable());
  Cluster& cluster = context.files.cluster();
  const CoordTime begin = cluster.Now(),
                  end = begin + static_cast<int64_t>(context.consistency_s * kNanosPerSecond);
  uint64_t scripts = 0;
  do {
    const auto seed = static_cast<uint32_t>(context.seed + scripts);  // --seed continues from it
    const Script script =
        RandomScript(seed, static_cast<uint32_t>(context.peers.size()), kScriptSteps, unusable);
    IOBENCH_ASSIGN_OR_RETURN(const std::optional<Mismatch> mismatch, runner.Run(script));
    ++scripts;
    if (context.files.has_met_cause()) return absl::OkStatus();
    if (mismatch.has_value()) {
      outcome.Figure("steps", static_cast<double>(runner.steps()));
      outcome.Figure("scripts", static_cast<double>(scripts));
      return ShrinkAndShow(context, runner, script, *mismatch, seed, outcome);
    }
  } while (cluster.Now() < end);
  outcome.Figure("steps", static_cast<double>(runner.steps()));
  outcome.Figure("scripts", static_cast<double>(scripts));
  std::vector<std::string> missing;
  for (const auto& [kind, name] : kOptional) {
    if (unusable.contains(kind)) missing.emplace_back(name);
  }
  outcome.Pass(absl::StrCat(
      CountText(runner.steps()), " steps of ", CountText(scripts),
      scripts == 1 ? " random script" : " random scripts", " in ",
      FormatSeconds(SecondsFrom(cluster.Now() - begin)), ", each as the model expects (--seed ", context.seed,
      ")", missing.empty() ? "" : absl::StrCat("; not offered there: ", absl::StrJoin(missing, ", "))));
  return absl::OkStatus();
}

}  // namespace iobench
