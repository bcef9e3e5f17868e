#include "coordinator/commands/translate.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/process/usable_memory.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/shell_word.h"
#include "common/text/units.h"
#include "coordinator/command_line/cli.h"
#include "coordinator/files/files.h"
#include "coordinator/plan/plan_builder.h"
#include "coordinator/plan/plan_check.h"
#include "coordinator/plan/plan_yaml.h"
#include "coordinator/process/failure.h"
#include "coordinator/translate/translation.h"

namespace iobench {
namespace {

constexpr uint64_t kLongestJobFileBytes = 1_MiB;
constexpr size_t kCommentColumns = 80;
constexpr uint32_t kMostWorkers = 1024;  // as --spawn

absl::StatusOr<Translation> TranslationOf(const std::vector<std::string>& words) {
  const std::string file = JobFileIn(words);
  if (file.empty()) return TranslateWords(words);
  const auto text = files::ReadWhole("job file", file, kLongestJobFileBytes);
  if (!text.ok() && words.size() == 1 && file == words[0]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", file, "\" is neither a command line of another tool nor a job file that can be read"));
  }
  if (!text.ok()) return text.status();
  auto translation = TranslateJobFile(*text);
  if (!translation.ok()) return Annotate(translation.status(), file);
  return translation;
}

// The plan of a line of ours.
absl::StatusOr<v1::Plan> PlanOf(const OurLine& options) {
  std::vector<std::string> words = options.Words();
  words.insert(words.begin(), "run");
  IOBENCH_ASSIGN_OR_RETURN(const Command command, ParseCommandLine(words));
  const auto* const run = std::get_if<RunCommand>(&command);
  if (run == nullptr) return absl::InvalidArgumentError("it is no run");
  return BuildPlan(run->given, {.memory_bytes = MemoryOfThisProcess().bytes});
}

// One phase, in which the workers of each part have its operation.
absl::StatusOr<v1::Plan> PlanOfParts(const TranslatedCommand& command) {
  v1::Plan all;
  uint32_t worker = 0;
  for (const TranslatedPart& part : command.parts) {
    if (part.workers > kMostWorkers - worker) {
      return absl::InvalidArgumentError(absl::StrCat(
          "jobs that run together need a worker for each lane, and there are over ", kMostWorkers));
    }
    IOBENCH_ASSIGN_OR_RETURN(v1::Plan plan, PlanOf(part.options));
    if (plan.phases_size() == 0) return absl::InvalidArgumentError(absl::StrCat(part.name, " has no phase"));
    v1::Assignment assignment = plan.phases(0).assignments(0);
    for (uint32_t i = 0; i < part.workers; ++i) assignment.mutable_who()->add_workers(worker++);
    assignment.set_name(part.name);
    if (worker == part.workers) {
      all = std::move(plan);
      all.mutable_phases()->DeleteSubrange(1, all.phases_size() - 1);
      all.mutable_phases(0)->mutable_assignments()->Clear();
      all.mutable_phases(0)->set_name("jobs");
      all.set_lanes_per_worker(1);
    } else {
      const uint64_t most = std::max(all.files().bytes_per_lane(), plan.files().bytes_per_lane());
      all.mutable_files()->set_bytes_per_lane(most);
    }
    *all.mutable_phases(0)->add_assignments() = std::move(assignment);
  }
  return all;
}

absl::StatusOr<v1::Plan> PlanWithout(const TranslatedCommand& command) {
  IOBENCH_ASSIGN_OR_RETURN(v1::Plan plan, PlanOf(command.options));
  const auto& names = command.without_phases;
  for (int i = plan.phases_size() - 1; i >= 0; --i) {
    if (std::find(names.begin(), names.end(), plan.phases(i).name()) != names.end())
      plan.mutable_phases()->DeleteSubrange(i, 1);
  }
  if (plan.phases_size() == 0) return absl::InvalidArgumentError("it would measure nothing");
  return plan;
}

// Options that are no part of a plan.
OurLine BesidePlan(const TranslatedCommand& command) {
  OurLine line;
  for (const std::string_view name : {"spawn", "hosts", "user", "label"}) {
    if (command.options.Has(name)) line.Add(name, command.options.Text(name));
  }
  uint32_t workers = 0;
  for (const TranslatedPart& part : command.parts) workers += part.workers;
  if (workers > 0) line.Add("spawn", absl::StrCat(workers));
  return line;
}

absl::StatusOr<std::string> TextOf(const TranslatedCommand& command, const std::string& file) {
  if (!command.needs_plan()) return absl::StrCat(ShellCommand(command.Words()), "\n");
  IOBENCH_ASSIGN_OR_RETURN(v1::Plan plan,
                           command.parts.empty() ? PlanWithout(command) : PlanOfParts(command));
  CompletePlan(plan);
  IOBENCH_RETURN_IF_ERROR(CheckPlan(plan));
  plan.clear_seed();
  std::vector<std::string> words = command.launcher;
  words.emplace_back("cluster-iobench");
  for (const std::string& word : BesidePlan(command).Words()) words.push_back(word);
  words.insert(words.end(), {"--plan", file});
  return absl::StrCat("cat > ", file, " <<'END'\n", PlanToYaml(plan), "END\n", ShellCommand(words), "\n");
}

}  // namespace

int TranslateLine(const TranslateCommand& translate) {
  const auto translation = TranslationOf(translate.words);
  if (!translation.ok()) return Fail(translation.status(), kExitUsage);
  std::string text;
  for (const TranslatedCommand& command : translation->commands) {
    const std::string file = absl::StrCat(
        "plan", text.empty() ? "" : absl::StrCat("-", &command - translation->commands.data() + 1), ".yaml");
    const auto ours = TextOf(command, file);
    if (!ours.ok()) return Fail(Annotate(ours.status(), std::string(translation->tool->name)), kExitUsage);
    text += *ours;
  }
  for (const Difference& difference : translation->differences) {
    const std::vector<std::string> lines =
        Wrapped(absl::StrCat(difference.option, ": ", difference.text), kCommentColumns - 4);
    absl::StrAppend(&text, "# ", absl::StrJoin(lines, "\n#   "), "\n");
  }
  text.pop_back();  // the last line has its end below
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) std::cout << Printable(line) << '\n';
  return ExitOfPrinting(kExitOk, kExitIo);
}

}  // namespace iobench
