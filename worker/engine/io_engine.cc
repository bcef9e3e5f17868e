#include "worker/engine/io_engine.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "worker/engine/null_engine.h"
#include "worker/engine/posix_engine.h"

namespace iobench {
namespace {

struct EngineRow {
  std::string_view name;
  bool uses_files;
  std::unique_ptr<IoEngine> (*make)(Call call, TickSource ticks);
};

constexpr EngineRow kEngines[] = {
    {"posix", true, MakePosixEngine},
    {"null", false, [](Call, TickSource ticks) { return MakeNullEngine(ticks); }},
};

const EngineRow* FindEngine(std::string_view name) {
  for (const EngineRow& row : kEngines) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

// One pass over `shape` on the null engine, ns per op.
double NullPassNs(TickSource ticks, const StreamShape& shape) {
  auto operation = FindOperation("read");
  assert(operation.ok());
  auto stream = MakeOpStream(**operation, shape);
  assert(stream.ok());
  LaneRecorder recorder(/*reads=*/true, /*writes=*/false, CurrentTickScale());
  StopCell stop;
  LaneContext lane{.stream = **stream,
                   .payload = nullptr,
                   .read_buffer = nullptr,
                   .stop = stop,
                   .recorder = recorder,
                   .rules = {}};
  const std::unique_ptr<IoEngine> engine = MakeNullEngine(ticks);
  const int64_t begin_ns = MonotonicNowNs();
  engine->Run(lane);
  return static_cast<double>(MonotonicNowNs() - begin_ns) / static_cast<double>((*stream)->ops_per_pass());
}

}  // namespace

absl::StatusOr<std::unique_ptr<IoEngine>> MakeEngine(std::string_view name, Call call, TickSource ticks) {
  const EngineRow* const row = FindEngine(name);
  if (row == nullptr) {
    const std::string known = absl::StrJoin(
        EngineNames(), ", ", [](std::string* out, std::string_view each) { out->append(each); });
    return absl::NotFoundError(
        absl::StrCat("no engine is called \"", std::string(name), "\"; there are: ", known));
  }
  return row->make(call, ticks);
}

std::vector<std::string_view> EngineNames() {
  std::vector<std::string_view> names;
  for (const EngineRow& row : kEngines) names.push_back(row.name);
  return names;
}

bool EngineUsesFiles(std::string_view name) {
  const EngineRow* const row = FindEngine(name);
  return row != nullptr && row->uses_files;
}

double MeasureLoopNs(TickSource ticks) {
  constexpr uint64_t kOps = 20'000;
  const StreamShape shape{.object_bytes = kOps * 4096, .record_bytes = 4096};
  std::array<double, 5> ns;
  for (double& each : ns) each = NullPassNs(ticks, shape);
  std::nth_element(ns.begin(), ns.begin() + ns.size() / 2, ns.end());
  return ns[ns.size() / 2];
}

}  // namespace iobench
