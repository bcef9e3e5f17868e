// Samples the host that it runs on: `worker --sampler` on a server, beside clients that measure.
#ifndef WORKER_SAMPLER_SAMPLER_H_
#define WORKER_SAMPLER_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"
#include "worker/sampler/server_counters.h"

namespace iobench {

// At most a given number of readings: when the log is full, every other one is dropped, and the caller is expected to
// double the interval between those that it adds. The first and the newest always stay. Not thread-safe.
class ReadingLog {
 public:
  // Half of what a coordinator takes in one message (kBaseEventBytes). A disk that does something takes about 40 bytes
  // of an interval, and a server may have hundreds.
  static constexpr size_t kMaxTakenBytes = 8 << 20;

  // REQUIRES: max_readings >= 4.
  explicit ReadingLog(size_t max_readings, size_t max_taken_bytes = kMaxTakenBytes)
      : max_readings_(max_readings), max_taken_bytes_(max_taken_bytes) {}

  // Adds a reading that is later than those before.
  void Add(ServerReading reading);
  // Returns how many intervals of the sampler lie between two readings now: 1, 2, 4 …
  uint32_t stride() const { return stride_; }
  // Returns the intervals between the readings, and keeps only the newest, where the next interval begins. If all
  // intervals together are larger than max_taken_bytes, neighbouring ones are joined.
  std::vector<v1::ServerInterval> Take();

 private:
  void DropEveryOther();

  const size_t max_readings_;
  const size_t max_taken_bytes_;
  uint32_t stride_ = 1;
  std::vector<ServerReading> readings_;
};

// Reads the host's counters in a thread of its own, from the first Take to the destructor. Thread-safe.
class Sampler {
 public:
  using Read = std::function<ServerReading()>;
  // `read` is called by one thread at a time.
  explicit Sampler(Read read);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Reads the counters now, and returns what happened since the last call, in intervals of about interval_ns (longer if
  // there are very many, or large ones); nothing at the first call, which starts the thread. ResourceExhausted: the
  // system refuses the thread. REQUIRES: interval_ns > 0.
  absl::StatusOr<std::vector<v1::ServerInterval>> Take(int64_t interval_ns);

 private:
  struct Shared;
  static void Run(const std::shared_ptr<Shared>& shared);
  std::shared_ptr<Shared> shared_;  // with the thread, which may outlive this object in a hung read of /proc
};

}  // namespace iobench

#endif  // WORKER_SAMPLER_SAMPLER_H_
