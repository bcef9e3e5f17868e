// One cause, one finding: keeps the causes that calls of the checks and of preflight have met, and decides which check
// answers for each, and which only follow from it.
#ifndef COORDINATOR_VALIDATE_CAUSE_LEDGER_H_
#define COORDINATOR_VALIDATE_CAUSE_LEDGER_H_

#include <list>
#include <span>
#include <string>
#include <vector>

#include "coordinator/validate/checks/check_context.h"
#include "coordinator/validate/choice.h"
#include "iobench/v1/validate.pb.h"

namespace iobench {

// Use it on one thread. What it borrows must outlive it.
class CauseLedger {
 public:
  // Begins with what preflight has found of clients that cannot write.
  CauseLedger(const CheckContext& context, const CheckChoice& choice);

  // A cause for which a check answers, chosen by the user.
  struct Entry {
    std::string check;  // that answers
    std::string name;   // of the errno; empty: none is known
    std::string found, advice;
    std::vector<std::string> evidence;
    bool stops = false;  // what checks share is unusable: those that come later would meet it too
  };

  // The check has ended as `found` says, and its calls have met these. Makes it fail, or follow from the check that
  // answers for the first of them, which then fails too if it is in `report`. Does nothing if the check passed.
  void Judge(std::span<const CauseMet> met, Outcome& outcome, v1::ValidateCheck& found,
             v1::ValidateReport& report);

  // The cause for which this check answers; null: none so far.
  const Entry* EntryOf(const std::string& check) const;
  // The one that ends all checks; null: none.
  const Entry* Stopping() const;
  // What made clients unfit to take part: the check that answers for it. Null: nothing, or the user has not chosen it.
  const Entry* LeavingOut() const { return unfit_.check.empty() ? nullptr : &unfit_; }

  static void Fail(const Entry& entry, Outcome& outcome);
  static void Follow(const Entry& entry, Outcome& outcome);

 private:
  Entry& Add(const std::string& check, int error, const v1::TargetFacts& seen, bool by_fault);

  const CheckContext& context_;
  const CheckChoice& choice_;
  std::list<Entry> entries_;
  Entry unfit_;
};

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CAUSE_LEDGER_H_
