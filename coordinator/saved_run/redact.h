// Replaces what identifies people, hosts and places in a report (`--redact`), so that it can be handed over.
#ifndef COORDINATOR_SAVED_RUN_REDACT_H_
#define COORDINATOR_SAVED_RUN_REDACT_H_

#include <memory>

#include "iobench/v1/capacity.pb.h"
#include "iobench/v1/result.pb.h"
#include "iobench/v1/validate.pb.h"

namespace iobench {

// Replaces hosts, addresses, boot ids, paths, mount sources and user names in every text of reports by aliases: client-1
// (in the order of the report), host-1, address-1, boot-1, /path-1, source-1, user-1. Equal things get equal aliases, in
// every text of every report of one object. Below a target, the names of the run's own data files stay. In a command,
// arguments that name places or a user are replaced as a whole. What the user wrote as text (label, names of phases) stays,
// except for these names in it. Does no I/O. Not thread-safe.
class Redaction {
 public:
  Redaction();
  ~Redaction();

  // Learn names that reports have only in free texts. `run`: what the reports were computed from.
  void Learn(const v1::RunRecord& run);
  void Learn(const v1::RunReport& report);
  // Learns the names of the report, and replaces all that are known.
  void Redact(v1::RunReport& report);
  void Redact(v1::ValidateReport& report);
  void Redact(v1::CapacityReport& report);

 private:
  class Aliases;
  class KnownNames;
  class LearnedNames;
  class Redactor;
  std::unique_ptr<Redactor> redactor_;
};

// The same of one report. `run`: the record that it was computed from.
void Redact(const v1::RunRecord& run, v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_REDACT_H_
