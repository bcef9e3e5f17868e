// Renders what preflight found, for people and as JSON. Computes nothing.
#ifndef COORDINATOR_PREFLIGHT_PREFLIGHT_TEXT_H_
#define COORDINATOR_PREFLIGHT_PREFLIGHT_TEXT_H_

#include <cstddef>
#include <span>
#include <string>

#include "coordinator/preflight/preflight.h"

namespace iobench {

// A line that counts, then a table: severity, client, check, what is wrong and, on the next line, what to do. Ends with
// a newline. Safe for terminals.
std::string PreflightText(const PreflightReport& report, size_t width_columns);

// A line for each file system that --fill fills: how full it is, and how much is written. Empty without --fill.
std::string FillText(std::span<const FillEstimate> fills);

// {"schema": "cluster-iobench preflight 1", "clients", "workers", "ok", "findings": [{"severity", "client", "check",
// "problem", "advice", "workers"}], "fills" (with --fill), "not_checked"}, and a newline. docs/deploy.md describes it.
std::string PreflightJson(const PreflightReport& report);

}  // namespace iobench

#endif  // COORDINATOR_PREFLIGHT_PREFLIGHT_TEXT_H_
