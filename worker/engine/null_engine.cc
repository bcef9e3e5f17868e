#include "worker/engine/null_engine.h"

#include "worker/timed_loop.h"

namespace iobench {
namespace {

template <typename Clock>
class NullEngine final : public IoEngine {
 public:
  absl::Status Open(const FileSet&, const OpenMode&) override { return absl::OkStatus(); }
  LoopEnd Run(LaneContext& lane) override {
    return TimedLoop<Clock>(
        lane, [](const Op& op) { return static_cast<int64_t>(op.length); }, NoBetween{});
  }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }
};

}  // namespace

std::unique_ptr<IoEngine> MakeNullEngine(TickSource ticks) {
  if (ticks == TickSource::kTsc) return std::make_unique<NullEngine<TscClock>>();
  return std::make_unique<NullEngine<MonotonicClock>>();
}

}  // namespace iobench
