// The queue model behind the simulated engine, in memory that all workers of a host share.
#ifndef COMMON_SIMULATED_SIMULATED_SERVER_H_
#define COMMON_SIMULATED_SIMULATED_SERVER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/simulated/simulated_storage.h"
#include "common/unique_fd.h"

namespace iobench {

// The state that the ops of all lanes share. All zeros is the state before the first op. Times are in ns on one clock.
struct SimulatedState {
  static constexpr size_t kMaxUnderWay = 8192;  // more count as this many

  std::array<int64_t, SimulatedStorage::kMaxServers> server_free_ns;
  int64_t link_free_ns;
  int64_t bucket_full_ns;  // when the token bucket is full again, if no op takes from it
  uint64_t drawn;                             // number of service times drawn
  std::array<int64_t, kMaxUnderWay> ends_ns;  // of the ops under way, with contention or crosstalk
  uint32_t under_way;
};

// Returns when an op of `bytes` that begins at `now_ns` ends, and records what it occupies until then. Ops begin in the
// order of the calls. Pure except for `state`; `seed` selects the random service times.
int64_t EndOfSimulatedOp(const SimulatedStorage& storage, uint64_t seed, int64_t now_ns, uint64_t bytes,
                         SimulatedState& state);

// One simulated server on this host, shared by all who open the same `key`. Usable from any thread and process.
class SimulatedServer {
 public:
  // The server's state is in a file in /dev/shm that belongs to this user; the last one to close the server removes it.
  static absl::StatusOr<std::unique_ptr<SimulatedServer>> Open(const SimulatedStorage& storage, uint64_t key);
  ~SimulatedServer();
  SimulatedServer(const SimulatedServer&) = delete;
  SimulatedServer& operator=(const SimulatedServer&) = delete;

  // Returns when an op of `bytes` that begins now ends, on CLOCK_MONOTONIC.
  int64_t Begin(uint64_t bytes);

 private:
  struct Shared {
    std::atomic<int32_t> owner;  // thread that holds the lock; 0: nobody
    SimulatedState state;
  };
  SimulatedServer(const SimulatedStorage& storage, uint64_t key, std::string path, UniqueFd fd,
                  Shared& shared)
      : storage_(storage), key_(key), path_(std::move(path)), fd_(std::move(fd)), shared_(shared) {}
  void Lock();

  const SimulatedStorage storage_;
  const uint64_t key_;
  const std::string path_;
  UniqueFd fd_;
  Shared& shared_;
};

}  // namespace iobench

#endif  // COMMON_SIMULATED_SIMULATED_SERVER_H_
