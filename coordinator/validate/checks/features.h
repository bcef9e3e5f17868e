// What the file system offers, or does in its own way: facts, which are listed and are no failures. Other checks ask here
// before they take for a fault what the file system does not have.
#ifndef COORDINATOR_VALIDATE_CHECKS_FEATURES_H_
#define COORDINATOR_VALIDATE_CHECKS_FEATURES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/validate/checks/check_context.h"
#include "iobench/v1/control.pb.h"
#include "iobench/v1/validate.pb.h"

namespace iobench {

struct Features {
  // By worker, one of each client: a result for each rule of fact_rules.h, in their order. One with a problem has no answer.
  std::map<uint32_t, std::vector<v1::TrialResult>> answers;

  // True if some client got this answer.
  bool Any(std::string_view fact, std::string_view answer) const;
  // The smallest number of all clients; nullopt: no client has an answer with a number.
  std::optional<uint64_t> Number(std::string_view fact) const;
};

// Returns context.features, after asking all peers if no check has done so yet. Errors are those of FileCalls.
absl::StatusOr<const Features*> FeaturesOf(CheckContext& context);

// The facts of what was asked, in the order of the rules; one that differs between clients is there once for each answer.
std::vector<v1::ValidateFact> FactsFrom(const CheckContext& context, const Features& features);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CHECKS_FEATURES_H_
