// The facts of a file system: the words for each answer of a trial (worker/check/trial/trial.h), and what programs must know.
#ifndef COORDINATOR_VALIDATE_CHECKS_FACT_RULES_H_
#define COORDINATOR_VALIDATE_CHECKS_FACT_RULES_H_

#include <span>

namespace iobench {

struct FactAnswer {
  const char* word;    // of the trial; null: the end of the answers
  const char* text;    // for display; $0: the number, $1: the detail of the trial
  const char* advice;  // what programs must know; empty: nothing
  // Not as on a local Linux file system.
  bool lacks;
};

struct FactRule {
  const char* name;   // of the trial, and of the fact
  const char* title;  // one clause
  // What the trial's number is.
  enum class Unit { kNone, kCount, kBytes, kNanoseconds } unit;
  // The first NFS version that has it, times ten: 42. 0: all, kNoVersion: none.
  int nfs_version;
  // The Linux client does not ask for it, though the protocol has it.
  bool client_lacks;
  FactAnswer answers[4];

  const FactAnswer* AnswerOf(const char* word) const;  // null: the table has no words for it
};

inline constexpr int kNoVersion = 100;

// In the order in which they are listed.
std::span<const FactRule> FactRules();

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_FACT_RULES_H_
