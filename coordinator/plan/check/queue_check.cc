#include "coordinator/plan/check/queue_check.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/model/phase_check.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// Pauses and traces define what happens between one op and the next, which is undefined with several ops in flight.
const char* WhatLiesBetween(const v1::Operation& operation) {
  const v1::Between& between = operation.between();
  if (between.think_ms() > 0) return "-J (think_ms)";
  if (between.purge_processor_cache()) return "-p (purge_processor_cache)";
  if (between.ops_per_s() > 0) return "-+O (ops_per_s)";
  if (between.burst_bytes() > 0) return "-+b (burst_bytes)";
  if (between.flush_every_ops() > 0) return "--fsync-every (flush_every_ops)";
  if (!operation.trace().write_file().empty()) return "-X (trace.write_file)";
  if (!operation.trace().read_file().empty()) return "-Y (trace.read_file)";
  if (operation.trace().offset_latency()) return "-Q (trace.offset_latency)";
  return nullptr;
}

}  // namespace

absl::Status CheckQueue(const EngineSpec& engine, const v1::Operation& operation) {
  const uint32_t depth = operation.depth();
  if (operation.copy() && !engine.Can(EngineFeature::kCopy)) {
    return absl::InvalidArgumentError(absl::StrCat("-H (copy) only works with engine ",
                                                   EnginesWith(EngineFeature::kCopy), ", not with ",
                                                   std::string(engine.name)));
  }
  if (depth <= 1) return absl::OkStatus();
  if (!engine.Can(EngineFeature::kQueue)) {
    return absl::InvalidArgumentError(absl::StrCat("--depth ", depth, " (depth) has no meaning for engine ",
                                                   std::string(engine.name), " (", operation.name(),
                                                   "), which has one op in flight: use one of ",
                                                   EnginesWith(EngineFeature::kQueue), ", or more lanes"));
  }
  IOBENCH_RETURN_IF_ERROR(CheckDepth(depth));
  if (const char* const option = WhatLiesBetween(operation); option != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, " acts between one op and the next, but --depth ", depth,
                     " (depth) keeps several in flight: leave one of the two out"));
  }
  return absl::OkStatus();
}

void CompleteQueue(const EngineSpec& engine, v1::Operation& operation) {
  if (engine.Can(EngineFeature::kQueue) && !operation.has_depth()) operation.set_depth(1);
}

}  // namespace iobench
