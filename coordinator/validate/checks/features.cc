#include "coordinator/validate/checks/features.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/validate/checks/checks.h"
#include "coordinator/validate/checks/fact_rules.h"

namespace iobench {
namespace {

constexpr uint32_t kFilesPerClient = 100;  // more than there are facts

const FactAnswer* WordsOf(const FactRule& rule, const v1::TrialResult& result) {
  return result.problem().code() == 0 ? rule.AnswerOf(result.answer().c_str()) : nullptr;
}

std::string NumberText(FactRule::Unit unit, uint64_t number) {
  switch (unit) {
    case FactRule::Unit::kBytes:
      if (number == static_cast<uint64_t>(INT64_MAX)) return "2^63 - 1 bytes";
      return absl::StrCat(FormatBytes(static_cast<double>(number)), " (", number, " bytes)");
    case FactRule::Unit::kNanoseconds:
      return FormatSeconds(static_cast<double>(number) * 1e-9);
    case FactRule::Unit::kCount:
    case FactRule::Unit::kNone:
      return FormatCount(static_cast<double>(number));
  }
  return "";
}

std::string TextOf(const FactRule& rule, const FactAnswer& words, const v1::TrialResult& result) {
  return absl::Substitute(words.text, NumberText(rule.unit, result.number()), Printable(result.detail()));
}

// The version of a worker's NFS mount, times ten: 42. 0: it is no NFS, or unknown.
int NfsVersionOf(const v1::TargetFacts& seen) {
  if (!seen.filesystem().starts_with("nfs")) return 0;
  for (const absl::string_view option : absl::StrSplit(seen.mount_options(), ',')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(option, absl::MaxSplits('=', 1));
    double version = 0;
    if (halves.first == "vers" && absl::SimpleAtod(halves.second, &version)) {
      return static_cast<int>(std::lround(version * 10));
    }
  }
  return 0;
}

// Who would have to change for another answer.
const char* DecidedBy(const FactRule& rule, const FactAnswer& words, int nfs_version) {
  const bool is_nfs_list = std::string_view(rule.name) == "acl" && std::string_view(words.word) != "no";
  if (nfs_version > 0 && is_nfs_list) return "protocol";
  if (nfs_version == 0 || !words.lacks) return "file system";
  if (rule.nfs_version > nfs_version) return "protocol";
  return rule.client_lacks ? "client" : "file system";
}

}  // namespace

bool Features::Any(std::string_view fact, std::string_view answer) const {
  return std::any_of(answers.begin(), answers.end(), [&](const auto& of_worker) {
    return std::any_of(of_worker.second.begin(), of_worker.second.end(), [&](const v1::TrialResult& result) {
      return result.name() == fact && result.answer() == answer;
    });
  });
}

std::optional<uint64_t> Features::Number(std::string_view fact) const {
  std::optional<uint64_t> smallest;
  for (const auto& [worker, results] : answers) {
    for (const v1::TrialResult& result : results) {
      if (result.name() != fact || !result.has_number() || result.problem().code() != 0) continue;
      smallest = std::min(smallest.value_or(result.number()), uint64_t{result.number()});
    }
  }
  return smallest;
}

absl::StatusOr<const Features*> FeaturesOf(CheckContext& context) {
  if (context.features != nullptr) return context.features.get();
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  std::map<uint32_t, CallList> calls;
  for (size_t i = 0; i < context.peers.size(); ++i) {
    CallList list(directory);
    for (uint32_t rule = 0; rule < FactRules().size(); ++rule) {
      list.InLane(rule);
      list.Add(v1::FileAction::TRY, static_cast<uint32_t>(i) * kFilesPerClient + rule)
          .add_trials(FactRules()[rule].name);
    }
    calls.emplace(context.peers[i], std::move(list));
  }
  IOBENCH_ASSIGN_OR_RETURN(const ResultsOfWorkers tried, context.files.DoAll(calls));
  auto features = std::make_shared<Features>();
  for (const auto& [worker, results] : tried) {
    for (const v1::FileActionResult& result : results) {
      IOBENCH_RETURN_IF_ERROR(ToStatus(result.problem()));
      features->answers[worker].insert(features->answers[worker].end(), result.trials().begin(),
                                       result.trials().end());
    }
  }
  context.features = std::move(features);
  return context.features.get();
}

std::vector<v1::ValidateFact> FactsFrom(const CheckContext& context, const Features& features) {
  std::vector<v1::ValidateFact> facts;
  for (size_t i = 0; i < FactRules().size(); ++i) {
    const FactRule& rule = FactRules()[i];
    const size_t first = facts.size();
    for (const auto& [worker, results] : features.answers) {
      const FactAnswer* const words = i < results.size() ? WordsOf(rule, results[i]) : nullptr;
      if (words == nullptr) continue;
      const std::string text = TextOf(rule, *words, results[i]);
      const char* const decided_by = DecidedBy(rule, *words, NfsVersionOf(context.SeenBy(worker)));
      const auto same = std::find_if(facts.begin() + static_cast<std::ptrdiff_t>(first), facts.end(),
                                     [&](const v1::ValidateFact& fact) {
                                       return fact.answer() == text && fact.decided_by() == decided_by;
                                     });
      v1::ValidateFact& fact = same == facts.end() ? facts.emplace_back() : *same;
      fact.set_name(rule.name);
      fact.set_title(rule.title);
      fact.set_answer(text);
      fact.set_decided_by(decided_by);
      fact.set_advice(words->advice);
      fact.add_clients(context.NameOf(worker));
    }
    if (facts.size() - first == 1 &&
        facts.back().clients_size() == static_cast<int>(features.answers.size())) {
      facts.back().clear_clients();  // on all
    }
  }
  return facts;
}

// What a file system does not offer is no fault of a deployment. Only an error that says nothing about it, and clients
// that differ, are more than a fact.
absl::Status CheckFeatures(CheckContext& context, Outcome& outcome) {
  IOBENCH_ASSIGN_OR_RETURN(const Features* const features, FeaturesOf(context));
  const std::vector<v1::ValidateFact> facts = FactsFrom(context, *features);
  std::vector<std::string> lacking, differing;
  uint64_t unknown = 0;
  for (size_t i = 0; i < FactRules().size(); ++i) {
    const FactRule& rule = FactRules()[i];
    bool lacks = false;
    for (const auto& [worker, results] : features->answers) {
      const v1::TrialResult& result = results.at(i);
      if (result.problem().code() != 0) {
        ++unknown;
        outcome.Evidence(absl::StrCat(context.NameOf(worker), ": ", rule.name, ": ",
                                      Printable(result.problem().message())));
      } else if (const FactAnswer* const words = WordsOf(rule, result)) {
        lacks |= words->lacks;
      }
    }
    if (lacks) lacking.push_back(rule.name);
    const auto answers = std::count_if(
        facts.begin(), facts.end(), [&](const v1::ValidateFact& fact) { return fact.name() == rule.name; });
    if (answers > 1) differing.push_back(rule.name);
  }
  outcome.Figure("facts", static_cast<double>(facts.size()));
  outcome.Figure("unknown", static_cast<double>(unknown));
  const std::string found = absl::StrCat(
      facts.size(), " facts, below; ",
      lacking.empty() ? "all as on a local Linux file system"
                      : absl::StrCat("not as on a local Linux file system: ", absl::StrJoin(lacking, ", ")));
  if (unknown > 0) {
    outcome.Warn(absl::StrCat(unknown, " answers are errors that say nothing about the file system; ", found),
                 "find out what the errors mean: programs that make these calls get them too");
  } else if (!differing.empty()) {
    outcome.Warn(
        absl::StrCat("clients differ in ", absl::StrJoin(differing, ", "), "; ", found),
        "mount with the same options on kernels of the same version, or run what needs it on clients that have it");
  } else {
    outcome.Pass(found);
  }
  return absl::OkStatus();
}

}  // namespace iobench
