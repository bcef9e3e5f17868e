// Renders what preflight found, for people and as JSON. Computes nothing.
#ifndef COORDINATOR_PREFLIGHT_PREFLIGHT_TEXT_H_
#define COORDINATOR_PREFLIGHT_PREFLIGHT_TEXT_H_

#include <cstddef>
#include <string>

#include "coordinator/preflight/preflight.h"

namespace iobench {

// A line that counts, then a table: severity, client, check, what is wrong and, on the next line, what to do. Ends with a
// newline. Safe for terminals.
std::string PreflightText(const PreflightReport& report, size_t width_columns = 120);

// {"schema": "cluster-iobench preflight 1", "clients", "workers", "ok", "findings": [{"severity", "client", "check",
// "problem", "advice", "workers"}], "not_checked"}, and a newline. docs/deploy.md describes it.
std::string PreflightJson(const PreflightReport& report);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_PREFLIGHT_TEXT_H_
