#include "worker/engine/null_engine.h"

#include "worker/loop/timed_loop.h"

namespace iobench {
namespace {

template <typename Clock>
class NullEngine final : public IoEngine {
 public:
  explicit NullEngine(const EngineOptions&) {}
  absl::Status Open(const FileSet&, const OpenMode&) override { return absl::OkStatus(); }
  LoopEnd Run(LaneContext& lane) override {
    return RunLoop<Clock>(lane, [](const Op& op) { return static_cast<int64_t>(op.length); });
  }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }
};

}  // namespace

std::unique_ptr<IoEngine> MakeNullEngine(const EngineOptions& options) {
  return MakeForTicks<NullEngine>(options);
}

}  // namespace iobench
