#include "coordinator/plan/plan_yaml.h"

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/files/files.h"
#include "coordinator/plan/field_uses.h"
#include "coordinator/yaml/message_yaml.h"

namespace iobench {
namespace {

constexpr uint64_t kLongestPlanBytes = 16_MiB;

}  // namespace

absl::StatusOr<v1::Plan> LoadPlan(const std::string& file, uint64_t drawn_seed) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, files::ReadWhole("plan", file, kLongestPlanBytes));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("plan ", file, ": it is empty"));
  }
  IOBENCH_ASSIGN_OR_RETURN(v1::Plan plan, ParsePlan(text, file, drawn_seed));
  IOBENCH_RETURN_IF_ERROR(Annotate(CheckFieldsHaveUse(plan), file));
  return plan;
}

absl::StatusOr<v1::Plan> ParsePlan(const std::string& text, const std::string& file_name,
                                   uint64_t drawn_seed) {
  v1::Plan plan;
  plan.set_seed(drawn_seed);
  IOBENCH_RETURN_IF_ERROR(
      ReadMessage(text, file_name, "a plan must be a mapping with phases, files, targets …", plan));
  return plan;
}

std::string PlanToYaml(const v1::Plan& plan) {
  return MessageToYaml(plan, YamlStyle::kExact);
}

}  // namespace iobench
