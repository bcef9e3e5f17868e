#include "coordinator/data_check.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/data_content.h"
#include "common/operation.h"
#include "common/phase_check.h"
#include "common/status_util.h"

namespace iobench {
namespace {

constexpr uint64_t kSectorBytes = 512;
constexpr uint64_t kUsualCacheBytes = 1 << 20;  // as IOzone's
constexpr uint32_t kUsualLineBytes = 32;
// A tenth of a sector is its header.
constexpr uint32_t kMostVerifiedCompressPercent = 90;

constexpr char kVerify[] = "--verify (-+d, data.verify)";
constexpr char kCompress[] = "--compress (data.compress_percent)";
constexpr char kDedupe[] = "--dedupe (-+w, data.dedupe_percent)";

absl::Status CannotGo(const std::string& one, const std::string& other, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(one, " cannot go with ", other, ": ", why));
}

absl::Status CheckConstant(const v1::DataContent& data) {
  const bool zero = data.kind() == v1::DataContent::ZERO;
  const std::string constant =
      zero ? "--data zero (data.kind ZERO)"
           : absl::StrCat("--data pattern:", data.pattern_byte(), " (-V, data.kind PATTERN)");
  if (data.compress_percent() > 0)
    return CannotGo(constant, kCompress, "it compresses away as a whole already");
  if (data.dedupe_percent() > 0) return CannotGo(constant, kDedupe, "all its records are equal already");
  if (zero && data.verify()) {
    return CannotGo(constant, kVerify, "there is no room in it for who wrote it; -V 0 checks every byte");
  }
  return absl::OkStatus();
}

absl::Status CheckDedupe(const v1::DataContent& data) {
  if (data.dedupe_within_percent() > 0 && data.dedupe_percent() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("-+y (data.dedupe_within_percent) is a part of what ",
                                                   kDedupe, " shares: give that too"));
  }
  if (data.dedupe_interior_percent() > 0 && data.dedupe_within_percent() == 0) {
    return absl::InvalidArgumentError(
        "-+C (data.dedupe_interior_percent) is a part of what -+y (data.dedupe_within_percent) shares: give "
        "that too");
  }
  if (data.dedupe_percent() > 0 && data.verify()) {
    return CannotGo(kDedupe, kVerify, "records that say who wrote them are never equal");
  }
  return absl::OkStatus();
}

absl::Status CheckVerify(const v1::Plan& plan) {
  if (plan.data().compress_percent() > kMostVerifiedCompressPercent) {
    return CannotGo(absl::StrCat(kCompress, " over ", kMostVerifiedCompressPercent), kVerify,
                    "a tenth of every sector says who wrote it");
  }
  uint64_t odd = 0, other = 0;
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      const v1::Operation& operation = assignment.operation();
      const auto spec = FindOperation(operation.name());
      if (!spec.ok() || (*spec)->is_metadata()) continue;
      if (!operation.trace().read_file().empty()) {
        return CannotGo(kVerify, "-Y (trace.read_file)", "the offsets of a trace cut sectors in two");
      }
      const uint64_t record_bytes = operation.record_bytes();
      (record_bytes % kSectorBytes != 0 && odd == 0 ? odd : other) = record_bytes;
      if (odd != 0 && other != 0 && odd != other) {
        return absl::InvalidArgumentError(absl::StrCat(
            kVerify, " needs records that are all multiples of 512 bytes, or all the same: ", odd, " and ",
            other, " would cut each other's sectors"));
      }
    }
  }
  return absl::OkStatus();
}

// -m: what stands in a lane's memory comes from there and goes there, and nothing is made or looked at between ops.
absl::Status CheckBuffers(const v1::Plan& plan) {
  constexpr char kBuffers[] = "-m (buffer_bytes)";
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (assignment.operation().buffer_bytes() == 0) continue;
      if (plan.data().verify())
        return CannotGo(kVerify, kBuffers, "what is checked is looked at after each op");
      if (plan.data().dedupe_percent() > 0) {
        return CannotGo(kDedupe, kBuffers, "records of a set are made before each op");
      }
    }
  }
  return absl::OkStatus();
}

// Whatever is checked, and however.
absl::Status CheckChecks(const v1::Plan& plan) {
  if (!plan.files().existing_files().empty()) {
    return CannotGo(kVerify, "-+E (files.existing_files)", "what is in files of others is not known");
  }
  for (const v1::Phase& phase : plan.phases()) {
    for (const v1::Assignment& assignment : phase.assignments()) {
      if (assignment.operation().engine() == "null") {
        return CannotGo(kVerify, "--engine null", "it moves no data that could be checked");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

void CompleteData(v1::DataContent& data) {
  if (data.kind() == v1::DataContent::UNSPECIFIED) data.set_kind(v1::DataContent::INCOMPRESSIBLE);
}

void CompleteBetween(v1::Between& between) {
  if (!between.purge_processor_cache()) return;
  if (between.processor_cache_bytes() == 0) between.set_processor_cache_bytes(kUsualCacheBytes);
  if (between.processor_cache_line_bytes() == 0) between.set_processor_cache_line_bytes(kUsualLineBytes);
}

absl::Status CheckData(const v1::Plan& plan) {
  const v1::DataContent& data = plan.data();
  IOBENCH_RETURN_IF_ERROR(CheckPercents(data));
  if (data.kind() == v1::DataContent::ZERO || data.kind() == v1::DataContent::PATTERN) {
    IOBENCH_RETURN_IF_ERROR(CheckConstant(data));
  }
  IOBENCH_RETURN_IF_ERROR(CheckDedupe(data));
  IOBENCH_RETURN_IF_ERROR(CheckBuffers(plan));
  if (data.verify()) IOBENCH_RETURN_IF_ERROR(CheckChecks(plan));
  return HasSectors(data) ? CheckVerify(plan) : absl::OkStatus();
}

}  // namespace iobench
