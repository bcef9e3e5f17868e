#include "worker/engine/io_engine.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "common/model/engine.h"
#include "common/mpi_io/mpi_session_files.h"
#include "common/status_util.h"
#include "worker/engine/libnfs_engine.h"
#include "worker/engine/mmap_engine.h"
#include "worker/engine/mpiio_engine.h"
#include "worker/engine/null_engine.h"
#include "worker/engine/posix_aio_engine.h"
#include "worker/engine/posix_engine.h"
#include "worker/engine/sim_engine.h"
#include "worker/engine/stdio_engine.h"
#include "worker/engine/uring_engine.h"

namespace iobench {
namespace {

struct Maker {
  std::string_view name;  // name in common/model/engine.h
  std::unique_ptr<IoEngine> (*make)(const EngineOptions& options);
  absl::Status (*check)() = nullptr;  // for engines that a host may forbid
};

constexpr Maker kMakers[] = {
    {"posix", MakePosixEngine},
    {"stdio", MakeStdioEngine},
    {"mmap", MakeMmapEngine},
    {"posix-aio", MakePosixAioEngine},
    {"uring", MakeUringEngine, CheckUring},
#ifdef IOBENCH_HAS_LIBNFS
    {"libnfs", MakeLibnfsEngine},
#endif
    {"mpiio", MakeMpiIoEngine, CheckMpiFiles},
    {"sim", MakeSimEngine},
    {"null", MakeNullEngine},
};

absl::Status NotInThisBuild(std::string_view name) {
  return absl::UnimplementedError(
      absl::StrCat("engine ", std::string(name), " is not in this worker's build of cluster-iobench",
                   name == "libnfs" ? ": install libnfs-dev there and rebuild" : ""));
}

// Runs one pass over `shape` on the null engine and returns ns per op.
double NullPassNs(TickSource ticks, const StreamShape& shape) {
  auto operation = FindOperation("read");
  assert(operation.ok());
  auto stream = MakeOpStream(**operation, shape);
  assert(stream.ok());
  LaneRecorder recorder(OpKind::kRead, CurrentTickScale());
  StopCell stop;
  LaneContext lane{.stream = **stream,
                   .payload = nullptr,
                   .read_buffer = nullptr,
                   .stop = stop,
                   .recorder = recorder,
                   .rules = {}};
  const std::unique_ptr<IoEngine> engine = MakeNullEngine({.ticks = ticks});
  const int64_t begin_ns = MonotonicNowNs();
  engine->Run(lane);
  return static_cast<double>(MonotonicNowNs() - begin_ns) / static_cast<double>((*stream)->ops_per_pass());
}

}  // namespace

absl::StatusOr<std::unique_ptr<IoEngine>> MakeEngine(std::string_view name, const EngineOptions& options) {
  IOBENCH_ASSIGN_OR_RETURN(const EngineSpec* const spec, FindEngine(name));
  assert(spec->calls.Has(options.call));
  for (const Maker& maker : kMakers) {
    if (maker.name == spec->name) return maker.make(options);
  }
  return NotInThisBuild(name);
}

absl::Status CheckEngineHere(std::string_view name) {
  IOBENCH_ASSIGN_OR_RETURN(const EngineSpec* const spec, FindEngine(name));
  if (spec->calls.Has(Call::kMetadata)) return absl::OkStatus();  // created by worker/metadata
  for (const Maker& maker : kMakers) {
    if (maker.name == name) return maker.check == nullptr ? absl::OkStatus() : maker.check();
  }
  return NotInThisBuild(name);
}

double MeasureLoopNs(TickSource ticks, double clock_read_ns) {
  constexpr double kMinOps = 100, kMaxOps = 20'000, kPassNs = 2'000'000;
  const auto ops = static_cast<uint64_t>(std::clamp(kPassNs / clock_read_ns, kMinOps, kMaxOps));
  const StreamShape shape{.object_bytes = ops * 4096, .op_bytes = 4096};
  std::array<double, 5> ns;
  for (double& each : ns) each = NullPassNs(ticks, shape);
  std::nth_element(ns.begin(), ns.begin() + ns.size() / 2, ns.end());
  return ns[ns.size() / 2];
}

}  // namespace iobench
