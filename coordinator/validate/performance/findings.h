// Combines several findings into one verdict, and formats their figures.
#ifndef COORDINATOR_VALIDATE_PERFORMANCE_FINDINGS_H_
#define COORDINATOR_VALIDATE_PERFORMANCE_FINDINGS_H_

#include <string>
#include <vector>

#include "coordinator/validate/checks/check_context.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The verdict of several findings: the worst one.
struct Findings {
  bool fails = false, warns = false;
  std::vector<std::string> advice;
  std::vector<std::string> slow;  // clients, in a phase that was long enough

  void Blame(const std::string& client);
  void Advise(const std::string& what);
  void Conclude(std::string passed, std::string problem, Outcome& outcome) const;
};

// True for marks by which a phase's figures may be better than the storage: not all of its data came from the server or
// went there.
bool IsDoubtful(const v1::PhaseReport& phase);
// "95 MiB/s" or "500/s", and "76 %" or "-" if it is not finite.
std::string RateWord(bool in_ops, double rate);
std::string ShareWord(double share);
// Returns the name of a figure, "write_alone_c01": only lower-case letters, digits and underscores.
std::string FigureOf(const std::string& what, const std::string& how, const std::string& client);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_PERFORMANCE_FINDINGS_H_
