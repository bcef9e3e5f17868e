#include "coordinator/mix/mix.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/model/metadata_operation.h"
#include "common/model/operation.h"
#include "common/model/phase_check.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"
#include "common/text/units.h"
#include "coordinator/files/files.h"
#include "coordinator/mix/mix_text.h"
#include "coordinator/options/shipped_files.h"
#include "coordinator/yaml/field_presence.h"
#include "coordinator/yaml/message_yaml.h"

namespace iobench {
namespace {

constexpr uint64_t kMaxMixBytes = 16_MiB;  // a month of intervals of 60 s is 10 MiB
constexpr double kPercentSlack = 0.01;     // percentages are typed with two digits
constexpr uint32_t kMaxClients = 1'000'000;
constexpr double kMaxOpsPerS = 1e9;

// An operation with the part's record sizes.
v1::Operation RecordsOfPart(const v1::MixPart& part) {
  v1::Operation operation;
  operation.set_name(part.operation());
  operation.set_record_bytes(part.record_bytes());
  *operation.mutable_records() = part.records();
  return operation;
}

std::string NameOfPart(const v1::MixPart& part, const OperationSpec& spec) {
  if (spec.is_metadata()) return part.operation();
  const std::string percent =
      part.has_read_percent() ? absl::StrCat(" ", part.read_percent(), "/", 100 - part.read_percent()) : "";
  return absl::StrCat(part.operation(), percent, " ", RecordSizesText(RecordsOfPart(part)));
}

absl::Status CheckMetadataPart(const v1::MixPart& part, const OperationSpec& spec) {
  if (part.record_bytes() > 0 || !part.records().empty()) {
    return absl::InvalidArgumentError("a metadata operation has no records: leave record_bytes (@SIZE) out");
  }
  if (!EffectOf(spec).repeats) {
    return absl::InvalidArgumentError(
        "it can process each item only once and cannot be repeated: use file-mix, recreate, replace or deliver, which create and remove "
        "files in turn");
  }
  return absl::OkStatus();
}

absl::Status CheckRecordPart(const v1::MixPart& part, const OperationSpec& spec) {
  if (spec.pattern == Pattern::kSequentialMix) {
    return absl::InvalidArgumentError(
        "its lanes only read or only write: give a part of read and one of write");
  }
  if (part.record_bytes() == 0) {
    return absl::InvalidArgumentError("its record size is missing: give record_bytes (@SIZE)");
  }
  if (part.has_tree()) return absl::InvalidArgumentError("only metadata operations have a tree");
  return CheckRecordShares(spec, RecordsOfPart(part));
}

absl::Status CheckAmount(const v1::MixPart& part) {
  if (part.has_percent() && part.has_ops_per_s()) {
    return absl::InvalidArgumentError("it has a percentage and a rate (ops_per_s): give one of them");
  }
  if (!(part.percent() >= 0) || part.percent() > 100 || !(part.ops_per_s() >= 0) ||
      part.ops_per_s() > kMaxOpsPerS || !(part.lanes() >= 0)) {
    return absl::InvalidArgumentError("percent, ops_per_s or lanes is out of range");
  }
  if (!part.has_percent() && !part.has_ops_per_s()) {
    return absl::InvalidArgumentError("it has neither a percentage (percent) nor a rate (ops_per_s)");
  }
  return absl::OkStatus();
}

absl::Status CompletePart(v1::MixPart& part) {
  const auto found = FindOperation(part.operation());
  if (!found.ok()) return absl::InvalidArgumentError(found.status().message());
  const OperationSpec& spec = **found;
  if (!part.has_record_bytes()) {
    for (const v1::RecordShare& share : part.records())
      part.set_record_bytes(std::max<uint64_t>(part.record_bytes(), share.record_bytes()));
  }
  IOBENCH_RETURN_IF_ERROR(spec.is_metadata() ? CheckMetadataPart(part, spec) : CheckRecordPart(part, spec));
  if (part.has_read_percent() && (!spec.mixes() || part.read_percent() > 100)) {
    return absl::InvalidArgumentError("read_percent is for random-mix, from 0 to 100");
  }
  IOBENCH_RETURN_IF_ERROR(CheckAmount(part));
  if (spec.mixes() && !part.has_read_percent()) part.set_read_percent(spec.default_read_percent());
  if (!part.has_name()) part.set_name(NameOfPart(part, spec));
  return absl::OkStatus();
}

// Names of parts are unique within a mix, so that reports can tell them apart.
void MakeNamesUnique(v1::Mix& mix) {
  std::map<std::string, int> times;
  for (v1::MixGroup& group : *mix.mutable_groups()) {
    for (v1::MixPart& part : *group.mutable_parts()) {
      const std::string prefix = mix.groups_size() > 1 ? absl::StrCat(group.name(), ": ") : "";
      if (!absl::StartsWith(part.name(), prefix)) part.set_name(absl::StrCat(prefix, part.name()));
      if (const int nth = ++times[part.name()]; nth > 1) {
        part.set_name(absl::StrCat(part.name(), " (", nth, ")"));
      }
    }
  }
}

// `what`: the group, for messages.
absl::Status CheckSum(const v1::MixGroup& group, const std::string& what) {
  double sum = 0;
  std::vector<std::string> texts;
  for (const v1::MixPart& part : group.parts()) {
    sum += part.percent();
    texts.push_back(absl::StrCat(part.percent()));
  }
  if (std::fabs(sum - 100) <= kPercentSlack) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, "the percentages of its parts add up to ", sum, " (",
                                                 absl::StrJoin(texts, " + "), "), not to 100"));
}

absl::Status CompleteGroup(v1::MixGroup& group, const std::string& what) {
  if (!group.has_clients()) group.set_clients(1);
  if (group.clients() > kMaxClients) {
    return absl::InvalidArgumentError(absl::StrCat(what, "over ", kMaxClients, " clients"));
  }
  if (group.parts().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(what, "it has no parts: there is nothing to replay"));
  }
  bool first_has_rate = false;
  for (int i = 0; i < group.parts_size(); ++i) {
    v1::MixPart& part = *group.mutable_parts(i);
    const absl::Status status = CompletePart(part);
    if (!status.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, "part ", i + 1, " (", part.operation(), "): ", status.message()));
    }
    if (i == 0) first_has_rate = part.ops_per_s() > 0;
    if (first_has_rate != (part.ops_per_s() > 0)) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, "part ", i + 1, " (", part.operation(),
                       "): some parts have a percentage and some a rate (ops_per_s): use the same for all"));
    }
  }
  return first_has_rate ? absl::OkStatus() : CheckSum(group, what);
}

}  // namespace

absl::Status CompleteMix(v1::Mix& mix) {
  const std::string name = mix.name().empty() ? "mix: " : absl::StrCat("mix ", mix.name(), ": ");
  if (const absl::Status status = CheckNoZeros(mix); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(name, std::string(status.message())));
  }
  if (mix.parts_size() > 0 && mix.groups_size() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, "it has parts and groups: put the parts into the groups"));
  }
  if (mix.groups().empty()) {
    mix.add_groups()->mutable_parts()->Swap(mix.mutable_parts());
    mix.clear_parts();
  }
  for (int i = 0; i < mix.groups_size(); ++i) {
    v1::MixGroup& group = *mix.mutable_groups(i);
    if (!group.has_name() && mix.groups_size() > 1) group.set_name(absl::StrCat("group ", i + 1));
    const std::string what = mix.groups_size() > 1 ? absl::StrCat(name, "group ", group.name(), ": ") : name;
    IOBENCH_RETURN_IF_ERROR(CompleteGroup(group, what));
    if ((group.parts(0).ops_per_s() > 0) != HasRates(mix)) {
      return absl::InvalidArgumentError(absl::StrCat(what, "its parts have ",
                                                     HasRates(mix)
                                                         ? "percentages, those of earlier groups rates"
                                                         : "rates, those of earlier groups percentages",
                                                     ": use the same for all groups"));
    }
  }
  MakeNamesUnique(mix);
  return absl::OkStatus();
}

bool HasRates(const v1::Mix& mix) {
  return mix.groups(0).parts(0).ops_per_s() > 0;
}

absl::StatusOr<v1::Mix> ReadMix(const std::string& file) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, files::ReadWhole("mix", file, kMaxMixBytes));
  v1::Mix mix;
  IOBENCH_RETURN_IF_ERROR(ReadMessage(
      text, file, "a mix must be a mapping with parts or groups; docs/mixes.md has examples", mix));
  if (!mix.has_name()) mix.set_name(std::filesystem::path(file).stem().string());
  return mix;
}

absl::StatusOr<v1::Mix> LoadMix(const std::string& file) {
  IOBENCH_ASSIGN_OR_RETURN(v1::Mix mix, ReadMix(file));
  const absl::Status status = CompleteMix(mix);
  if (!status.ok()) return Annotate(status, file);
  return mix;
}

absl::StatusOr<v1::Mix> FindMix(const std::string& what) {
  if (IsYamlFile(what)) return LoadMix(what);
  if (what.find_first_of(" @%+") != std::string::npos) {
    IOBENCH_ASSIGN_OR_RETURN(v1::Mix mix, ParseMixText(what));
    IOBENCH_RETURN_IF_ERROR(CompleteMix(mix));
    return mix;
  }
  IOBENCH_ASSIGN_OR_RETURN(const std::string file, ShippedFile(kMixFiles, what));
  return LoadMix(file);
}

}  // namespace iobench
