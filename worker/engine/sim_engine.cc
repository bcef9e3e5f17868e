#include "worker/engine/sim_engine.h"

#include <algorithm>
#include <vector>

#include "common/status_util.h"
#include "common/simulated/simulated_server.h"
#include "worker/loop/queued_loop.h"

namespace iobench {
namespace {

class SimQueue {
 public:
  void Use(SimulatedServer& server, uint32_t depth) {
    server_ = &server;
    prepared_.reserve(depth);
    under_way_.reserve(depth);
  }

  // ---- the queue interface of the loop

  void Prepare(uint32_t slot, const Op& op) { prepared_.push_back({.slot = slot, .length = op.length}); }

  size_t Turn(bool wait, std::span<OpEnd> ends) {
    for (Flight& flight : prepared_) {
      flight.end_ns = server_->Begin(flight.length);
      under_way_.push_back(flight);
    }
    prepared_.clear();
    if (wait) clock_.SleepUntil({FirstEndNs()});
    const int64_t now_ns = MonotonicNowNs();
    size_t count = 0, kept = 0;
    for (const Flight& flight : under_way_) {
      if (flight.end_ns <= now_ns) {
        ends[count++] = {flight.slot, flight.length};
      } else {
        under_way_[kept++] = flight;
      }
    }
    under_way_.resize(kept);
    return count;
  }

  void Await(int64_t ns) { clock_.SleepUntil({std::min(FirstEndNs(), MonotonicNowNs() + ns)}); }

  const std::byte* DataOf(uint32_t) const { return nullptr; }

 private:
  struct Flight {
    uint32_t slot = 0;
    uint32_t length = 0;
    int64_t end_ns = 0;
  };

  // REQUIRES: an op is under way.
  int64_t FirstEndNs() const {
    return std::min_element(under_way_.begin(), under_way_.end(),
                            [](const Flight& a, const Flight& b) { return a.end_ns < b.end_ns; })
        ->end_ns;
  }

  SimulatedServer* server_ = nullptr;
  const WorkerClock clock_;
  std::vector<Flight> prepared_, under_way_;
};

template <typename Clock>
class SimEngine final : public IoEngine {
 public:
  explicit SimEngine(const EngineOptions& options)
      : simulated_(options.simulated),
        key_(options.simulated_key),
        depth_(options.depth),
        slots_(options.depth) {}

  absl::Status MakeReady(LaneContext&) override {
    IOBENCH_ASSIGN_OR_RETURN(const SimulatedStorage storage, ParseSimulatedStorage(simulated_));
    IOBENCH_ASSIGN_OR_RETURN(server_, SimulatedServer::Open(storage, key_));
    queue_.Use(*server_, depth_);
    return absl::OkStatus();
  }
  absl::Status Open(const FileSet&, const OpenMode&) override { return absl::OkStatus(); }
  LoopEnd Run(LaneContext& lane) override { return RunQueue<Clock>(lane, slots_, queue_); }
  absl::Status Flush() override { return absl::OkStatus(); }
  absl::Status Close() override { return absl::OkStatus(); }

 private:
  const std::string simulated_;
  const uint64_t key_;
  const uint32_t depth_;
  std::unique_ptr<SimulatedServer> server_;
  SimQueue queue_;
  OpSlots slots_;
};

}  // namespace

std::unique_ptr<IoEngine> MakeSimEngine(const EngineOptions& options) {
  return MakeForTicks<SimEngine>(options);
}

}  // namespace iobench
