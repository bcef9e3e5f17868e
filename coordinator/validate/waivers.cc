#include "coordinator/validate/waivers.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/near_names.h"
#include "coordinator/files/files.h"
#include "coordinator/validate/check.h"
#include "coordinator/yaml/read_yaml.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxWaiverBytes = 1 << 20;

absl::Status At(const std::string& path, const YAML::Mark& mark, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", mark.line + 1, ":", mark.column + 1, ": ", what));
}

absl::StatusOr<Waivers> WaiversFrom(const std::string& path, const YAML::Node& root) {
  if (root.IsNull()) return Waivers();
  if (!root.IsMap()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": waivers are lines such as `locks: \"why its failure is known\"`"));
  }
  Waivers waivers;
  for (const auto& entry : root) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (CheckNamed(name) == nullptr) {
      std::vector<std::string_view> names;
      for (const Check& check : Checks()) names.push_back(check.name);
      return At(
          path, entry.first.Mark(),
          absl::StrCat("there is no check \"", name, "\"", DidYouMean(name, names), " (validate --list)"));
    }
    if (!entry.second.IsScalar() || entry.second.Scalar().empty()) {
      return At(path, entry.second.Mark(), absl::StrCat("say why the failure of ", name, " is known"));
    }
    if (!waivers.emplace(name, entry.second.Scalar()).second) {
      return At(path, entry.first.Mark(), absl::StrCat(name, " is there twice"));
    }
  }
  return waivers;
}

}  // namespace

absl::StatusOr<Waivers> LoadWaivers(const std::string& path) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, files::ReadWhole("waivers", path, kMaxWaiverBytes));
  Waivers waivers;
  IOBENCH_RETURN_IF_ERROR(ReadYaml(text, path, [&](const YAML::Node& root) -> absl::Status {
    IOBENCH_ASSIGN_OR_RETURN(waivers, WaiversFrom(path, root));
    return absl::OkStatus();
  }));
  return waivers;
}

}  // namespace iobench
