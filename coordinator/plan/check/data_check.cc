#include "coordinator/plan/check/data_check.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/data_content.h"
#include "common/model/phase_check.h"
#include "common/model/plan_traits.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// The header is a tenth of a sector.
constexpr uint32_t kMaxVerifiedCompressPercent = 90;

constexpr char kVerify[] = "--verify (-+d, data.verify)";
constexpr char kCompress[] = "--compress (data.compress_percent)";
constexpr char kDedupe[] = "--dedupe (-+w, data.dedupe_percent)";

absl::Status CannotGo(const std::string& one, const std::string& other, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(one, " cannot be combined with ", other, ": ", why));
}

std::string NameOfKind(const v1::DataContent& data) {
  if (data.kind() == v1::DataContent::ZERO) return "--data zero (data.kind ZERO)";
  if (data.kind() == v1::DataContent::SAME) return "--data same (data.kind SAME)";
  return absl::StrCat("--data pattern:", data.pattern_byte(), " (-V, data.kind PATTERN)");
}

// REQUIRES: IsMadeOnce(data).
absl::Status CheckMadeOnce(const v1::DataContent& data) {
  const std::string kind = NameOfKind(data);
  const bool same = data.kind() == v1::DataContent::SAME;
  if (data.compress_percent() > 0 && !same) return CannotGo(kind, kCompress, "it already compresses completely");
  if (data.dedupe_percent() > 0) return CannotGo(kind, kDedupe, "all its records are already identical");
  if (same && data.verify()) {
    return CannotGo(kind, kVerify, "a buffer that is written everywhere cannot name its place");
  }
  if (data.kind() == v1::DataContent::ZERO && data.verify()) {
    return CannotGo(kind, kVerify, "constant data have no room for a stamp; -V 0 checks every byte");
  }
  return absl::OkStatus();
}

absl::Status CheckDedupe(const v1::DataContent& data) {
  if (data.dedupe_within_percent() > 0 && data.dedupe_percent() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("-+y (data.dedupe_within_percent) applies to a part of what ", kDedupe,
                     " shares: give that option too"));
  }
  if (data.dedupe_interior_percent() > 0 && data.dedupe_within_percent() == 0) {
    return absl::InvalidArgumentError(
        "-+C (data.dedupe_interior_percent) applies to a part of the records that -+y (data.dedupe_within_percent) "
        "shares: give that option too");
  }
  if (data.dedupe_percent() > 0 && data.verify()) {
    return CannotGo(kDedupe, kVerify, "records stamped with their writer are never identical");
  }
  return absl::OkStatus();
}

// Records are identical as a whole, so those of a run have one size.
absl::Status CheckDedupedRecords(const v1::Plan& plan) {
  if (plan.data().dedupe_percent() == 0) return absl::OkStatus();
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (assignment.operation().records().empty()) continue;
      return CannotGo(kDedupe, "several record sizes in an operation (-r with shares)", "records are identical as a whole");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckVerify(const v1::Plan& plan) {
  if (plan.data().compress_percent() > kMaxVerifiedCompressPercent) {
    return CannotGo(absl::StrCat(kCompress, " over ", kMaxVerifiedCompressPercent), kVerify,
                    "a tenth of every sector is its stamp");
  }
  uint64_t odd = 0, other = 0;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Operation& operation = assignment.operation();
      const OperationSpec* const spec = SpecOf(operation);
      if (spec == nullptr || spec->is_metadata()) continue;
      if (!operation.trace().read_file().empty()) {
        return CannotGo(kVerify, "-Y (trace.read_file)", "the offsets of a trace split sectors");
      }
      for (const RecordShare& share : RecordsOf(operation)) {
        (share.record_bytes % kSectorBytes != 0 && odd == 0 ? odd : other) = share.record_bytes;
        if (odd != 0 && other != 0 && odd != other) {
          return absl::InvalidArgumentError(absl::StrCat(
              kVerify, " needs record sizes that are all multiples of 512 bytes, or all the same: ", odd,
              " and ", other, " would split each other's sectors"));
        }
      }
    }
  }
  return absl::OkStatus();
}

// -m: a lane's data comes from its buffers and goes to them; nothing is generated or checked between ops.
absl::Status CheckBuffers(const v1::Plan& plan) {
  constexpr char kBuffers[] = "-m (buffer_bytes)";
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (assignment.operation().buffer_bytes() == 0) continue;
      if (plan.data().verify()) return CannotGo(kVerify, kBuffers, "data are checked after each op");
      if (plan.data().dedupe_percent() > 0) {
        return CannotGo(kDedupe, kBuffers, "dedupable records are generated before each op");
      }
    }
  }
  return absl::OkStatus();
}

// The conditions for any kind of check.
absl::Status CheckChecks(const v1::Plan& plan) {
  if (!plan.files().existing_files().empty()) {
    return CannotGo(kVerify, "-+E (files.existing_files)", "the contents of existing files are not known");
  }
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (MovesNothing(assignment.operation())) {
        return CannotGo(kVerify, absl::StrCat("--engine ", assignment.operation().engine()),
                        "it moves no data to check");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

void CompleteData(v1::DataContent& data) {
  if (!data.has_kind()) data.set_kind(v1::DataContent::INCOMPRESSIBLE);
}

void CompleteBetween(v1::Between& between) {
  if (!between.purge_processor_cache()) return;
  if (!between.has_processor_cache_bytes()) {
    between.set_processor_cache_bytes(ProcessorCacheBytes(between));
  }
  if (!between.has_processor_cache_line_bytes()) {
    between.set_processor_cache_line_bytes(ProcessorCacheLineBytes(between));
  }
}

absl::Status CheckData(const v1::Plan& plan) {
  const v1::DataContent& data = plan.data();
  IOBENCH_RETURN_IF_ERROR(CheckPercents(data));
  if (IsMadeOnce(data)) IOBENCH_RETURN_IF_ERROR(CheckMadeOnce(data));
  IOBENCH_RETURN_IF_ERROR(CheckDedupe(data));
  IOBENCH_RETURN_IF_ERROR(CheckDedupedRecords(plan));
  IOBENCH_RETURN_IF_ERROR(CheckBuffers(plan));
  if (data.verify()) IOBENCH_RETURN_IF_ERROR(CheckChecks(plan));
  return HasSectors(data) ? CheckVerify(plan) : absl::OkStatus();
}

}  // namespace iobench
