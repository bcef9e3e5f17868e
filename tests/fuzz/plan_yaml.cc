// Plans (--plan FILE): whatever the text is, it is refused with a reason or becomes a plan that can be printed, read
// again, completed and checked.
#include "coordinator/plan/plan_yaml.h"

#include <string>

#include "absl/status/status.h"
#include "common/text/utf8.h"
#include "coordinator/plan/layout.h"
#include "coordinator/plan/plan_check.h"
#include "tests/fuzz/fuzz_target.h"

using namespace iobench;

namespace {

void CheckRefusal(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status), "a bad plan is InvalidArgument, not " + status.ToString());
  Require(!status.message().empty(), "a refusal says why");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  absl::StatusOr<v1::Plan> plan = ParsePlan(TextOf(data, size), "plan.yaml");
  if (!plan.ok()) {
    CheckRefusal(plan.status());
    return 0;
  }
  CompletePlan(*plan);
  const std::string printed = PlanToYaml(*plan);
  const absl::StatusOr<v1::Plan> again = ParsePlan(printed, "printed.yaml");
  Require(again.ok(), "a printed plan can be read: " + again.status().ToString() + "\n" + printed);
  Require(PlanToYaml(*again) == printed, "a printed plan is the same plan:\n" + printed);
  for (const uint32_t workers : {1u, 3u}) {
    absl::Status status = CheckPlan(*plan);
    if (status.ok()) status = CheckForWorkers(*plan, workers);
    if (!status.ok()) {
      CheckRefusal(status);
      return 0;
    }
    if (plan->lanes_per_worker() > 1000) continue;  // only slow
    const std::vector<uint32_t> client_of_worker(workers, 0);
    const Layout layout(*plan, client_of_worker);
    for (const v1::Phase& phase : plan->phases()) {
      for (const v1::Assignment& assignment : phase.assignments()) {
        const std::vector<v1::LanePlan> lanes = layout.LanesOf(workers - 1, assignment.operation());
        Require(lanes.size() == plan->lanes_per_worker(), "a worker has the plan's lanes");
      }
    }
  }
  return 0;
}
