#include "coordinator/validate/cause_ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/preflight/cause.h"

namespace iobench {
namespace {

constexpr char kAfterFault[] = "failover";

}  // namespace

CauseLedger::CauseLedger(const CheckContext& context, const CheckChoice& choice)
    : context_(context), choice_(choice) {
  for (const Finding& finding : context.findings) {
    const std::string check = context.CheckOf(finding);
    if (check.empty() || !choice.Has(check)) continue;
    const std::string name = finding.error == 0 ? "" : ErrnoName(finding.error);
    if (unfit_.check.empty()) {
      unfit_.check = check;
      unfit_.name = name;
      unfit_.found = Printable(finding.problem);
    }
    // The checks of mounts and of other storage say these themselves.
    if (check == "mounts" || finding.check == PreflightCheck::kStorage) continue;
    const v1::TargetFacts none;
    Entry& entry = Add(check, finding.error,
                       finding.workers.empty() ? none : context.SeenBy(*finding.workers.begin()), false);
    entry.evidence.push_back(absl::StrCat(finding.client, ": ", finding.problem));
    if (!finding.advice.empty()) entry.advice = finding.advice;
  }
}

CauseLedger::Entry& CauseLedger::Add(const std::string& check, int error, const v1::TargetFacts& seen,
                                     bool by_fault) {
  const std::string name = error == 0 ? "" : ErrnoName(error);
  const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.check == check && entry.name == name;
  });
  if (known != entries_.end()) return *known;
  Entry& entry = entries_.emplace_back();
  entry.check = check;
  entry.name = name;
  const Cause* const cause = CauseOf(error);
  if (cause == nullptr) {
    entry.found = "nothing can be written there";
    return entry;
  }
  entry.found = MeaningOf(*cause, seen);
  if (by_fault) absl::StrAppend(&entry.found, ", after the fault");
  entry.advice = by_fault ? cause->after_fault : AdviceOn(*cause, seen);
  return entry;
}

void CauseLedger::Judge(std::span<const CauseMet> met, Outcome& outcome, v1::ValidateCheck& found,
                        v1::ValidateReport& report) {
  if (found.verdict() == "pass") return;
  Entry* first = nullptr;
  for (const CauseMet& each : met) {
    const Cause* const cause = CauseOf(each.error);
    const bool by_fault = context_.fault != nullptr && cause != nullptr && cause->after_fault != nullptr;
    if (each.only_by_fault && !by_fault) continue;
    std::string check = by_fault ? kAfterFault : cause != nullptr ? cause->check : "storage";
    if (!choice_.Has(check)) check = found.name();
    Entry& entry = Add(check, each.error, context_.SeenBy(each.worker), by_fault);
    if (each.of_directory)
      entry.found = absl::StrCat("the directory of validate cannot be opened any more: ", entry.found);
    entry.stops |= each.of_directory || (cause != nullptr && cause->stops && !by_fault);
    const bool is_new =
        std::find(entry.evidence.begin(), entry.evidence.end(), each.told) == entry.evidence.end();
    if (is_new) entry.evidence.push_back(each.told);
    if (first == nullptr) first = &entry;
  }
  if (first == nullptr) return;
  if (first->check == found.name()) {
    Fail(*first, outcome);
    return;
  }
  Follow(*first, outcome);
  for (v1::ValidateCheck& answering : *report.mutable_checks()) {
    if (answering.name() != first->check || answering.verdict() == "fail" || answering.verdict() == "known")
      continue;
    Outcome its(answering);
    Fail(*first, its);
  }
}

const CauseLedger::Entry* CauseLedger::EntryOf(const std::string& check) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&check](const Entry& entry) { return entry.check == check; });
  return found == entries_.end() ? nullptr : &*found;
}

const CauseLedger::Entry* CauseLedger::Stopping() const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.stops; });
  return found == entries_.end() ? nullptr : &*found;
}

void CauseLedger::Fail(const Entry& entry, Outcome& outcome) {
  outcome.NotReached("fail", Printable(entry.found), entry.advice);
  for (const std::string& line : entry.evidence) outcome.Evidence(Printable(line));
  outcome.Cause(entry.name);
}

void CauseLedger::Follow(const Entry& entry, Outcome& outcome) {
  outcome.Follow(entry.check, entry.name, absl::StrCat("see ", entry.check, ": ", Printable(entry.found)));
}

}  // namespace iobench
