// The report of a capacity measurement: scaling, load curve, the load under an SLO, headroom, and answers. Pure.
#ifndef COORDINATOR_CAPACITY_CAPACITY_REPORT_H_
#define COORDINATOR_CAPACITY_CAPACITY_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/capacity/capacity_search.h"
#include "iobench/v1/capacity.pb.h"
#include "iobench/v1/plan.pb.h"

namespace iobench {

// The user's further questions; 0: not asked.
struct CapacityQuestions {
  double load_per_s = 0;          // today's load, ops/s
  double needed_ops_per_s = 0;    // clients needed for this …
  double needed_bytes_per_s = 0;  // … or this
  double users = 0;               // how this many users fare …
  double user_per_s = 0;          // … with this many ops/s each
};

struct CapacityFacts {
  std::string workload = "";  // for display
  uint64_t record_bytes = 0;
  uint32_t worker_count = 1;
  uint64_t queue_depth = 1;  // of each lane; 0: it differs between the operations of a mix
  std::vector<std::string_view> in_use = {};  // OptionsOfNoUse (coordinator/analysis/marks/advice.h)
  double mix_per_s = 0;      // what all clients of a mix with rates ask for; 0: no mix, or one without rates
};

// "random-mix, 70 % reads, records of 8 KiB, O_DIRECT", or the names of a mix's operations.
std::string WorkloadText(const v1::Phase& phase);

// How many ops a lane has in flight at most; 0: lanes differ.
uint64_t QueueDepthOf(const v1::Phase& phase);

// Fills in everything that follows from the measurement; the caller sets command, times, path and exit code. Figures
// that the measurement does not support are left out, and `warnings` says why.
v1::CapacityReport ReportOf(const CapacitySearch& search, const CapacityFacts& facts,
                            const CapacityQuestions& questions);

// Answers questions from a finished report, such as a saved one. Replaces earlier answers to the same questions and
// keeps the others.
void AskAgain(const CapacityQuestions& questions, v1::CapacityReport& report);

// The load up to which one can plan: the highest that meets the SLO, or without an SLO the highest rate.
// 0: none is known.
double LoadLimitOf(const v1::CapacityReport& report);

// Part of ReportOf. scaling_report.cc: throughput over clients or lanes. REQUIRES: at least two levels.
v1::Scaling ScalingOf(const CapacitySearch& search, CapacityStep::Kind kind, const CapacityFacts& facts);
// The level with the highest mean rate. REQUIRES: at least one level, with their means.
const v1::ScalingLevel& HighestLevelOf(const v1::Scaling& scaling);
// Whether the rate rose in proportion to the number of clients (or lanes) up to the last level: then each has a limit of
// its own, and the highest rate is theirs, not the storage's. REQUIRES: at least two levels, with their means.
bool RisesInProportion(const v1::Scaling& scaling);
// What each client (or lane) that the last level added brought, as a share of the rate per client of the first level.
// REQUIRES: at least two levels.
double LastGainOf(const v1::Scaling& scaling);
// capacity_answers.cc: what-if questions, and the load if the report has nothing to compare it with. REQUIRES: the rest
// of the report.
void AnswerQuestions(const CapacityQuestions& questions, v1::CapacityReport& report);
// Adds what would raise the rate if the busiest resource limits it: a second server, a faster link, more clients.
void AnswerMore(const CapacitySearch& search, v1::CapacityReport& report);

}  // namespace iobench

#endif  // COORDINATOR_CAPACITY_CAPACITY_REPORT_H_
