#include "coordinator/plan/mix_phases.h"

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/mix/mix.h"
#include "coordinator/mix/phase_of_mix.h"

namespace iobench {
namespace {

constexpr uint64_t kDefaultMixFileBytes = 64_MiB;  // as without a mix

}  // namespace

absl::Status ListMix(const GivenOptions& given, const PlanContext& context, v1::Plan& plan) {
  for (const OptionName name : {OptionName("size"), OptionName("lanes")}) {
    if (given.Texts(name).size() < 2) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(BothNamesOf(OptionNamed(name)), " with --mix takes one value: a mix is one phase"));
  }
  if (context.client_list) {
    return absl::InvalidArgumentError(
        "a client list starts workers one by one, and --mix needs several on each client: use --hosts or mpirun");
  }
  IOBENCH_ASSIGN_OR_RETURN(const v1::Mix mix, FindMix(given.Text("mix")));
  MixLoad load{.factor = given.Decimal("mix-factor", 1)};
  if (given.Has("rate")) {
    if (given.LastParts("rate").front() == kInBytes) {
      return absl::InvalidArgumentError(
          "--rate in bytes per second: the operations of a mix have several sizes: give it in ops per second");
    }
    load.ops_per_s = given.Decimal("rate");
    if (const std::string end = given.LastParts("rate").front(); !end.empty()) {
      load.end_ops_per_s = std::stod(end);
    }
  } else if (given.Has("mix-factor") && !HasRates(mix)) {
    return absl::InvalidArgumentError(
        absl::StrCat("mix ", mix.name(),
                     " has shares and no rates, so there is nothing for --mix-factor to multiply: "
                     "use --rate OPS"));
  }
  IOBENCH_ASSIGN_OR_RETURN(*plan.add_phases(), PhaseOfMix(mix, load));
  plan.set_lanes_per_worker(static_cast<uint32_t>(given.Number("lanes", context.default_lanes)));
  plan.mutable_files()->set_bytes_per_lane(given.Number("size", kDefaultMixFileBytes));
  if (!mix.description().empty()) plan.add_notes(absl::StrCat("mix ", mix.name(), ": ", mix.description()));
  for (const std::string& note : mix.notes()) plan.add_notes(absl::StrCat("mix ", mix.name(), ": ", note));
  return absl::OkStatus();
}

}  // namespace iobench
