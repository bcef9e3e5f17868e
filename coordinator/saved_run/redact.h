// Replaces what identifies people, hosts and places in a report (`report --redact`), so that it can be handed over.
#ifndef COORDINATOR_SAVED_RUN_REDACT_H_
#define COORDINATOR_SAVED_RUN_REDACT_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Replaces hosts, addresses, boot ids, paths, mount sources and user names in every text of `report` by aliases:
// client-1 (in the order of the report), host-1, address-1, boot-1, /path-1, source-1, user-1. Equal things get equal
// aliases, in every text. Below a target, the names of the run's own data files stay. In the command, arguments that
// name places or a user are replaced as a whole. What the user wrote as text (label, names of phases) stays, except for
// these names in it. `run`: the record that the report was computed from, which knows names that the report has only in
// free texts. Pure.
void Redact(const v1::RunRecord& run, v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_REDACT_H_
