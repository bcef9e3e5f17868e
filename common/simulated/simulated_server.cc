#include "common/simulated/simulated_server.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/clock.h"
#include "common/status_util.h"

namespace iobench {
namespace {

// Returns a value from 0 (exclusive) to 1: value `number` of a random sequence (splitmix64, Steele et al. 2014).
double RandomShare(uint64_t seed, uint64_t number) {
  uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return (static_cast<double>(z >> 11) + 1) / 9007199254740992.0;  // 2^53
}

int64_t ServiceNs(const SimulatedStorage& storage, uint64_t seed, SimulatedState& state) {
  if (!storage.exponential) return std::llround(storage.service_ns);
  return std::llround(-std::log(RandomShare(seed, state.drawn++)) * storage.service_ns);
}

// Returns the number of ops that are under way at `now_ns`, without the new one.
uint32_t CountUnderWay(int64_t now_ns, SimulatedState& state) {
  int64_t* const begin = state.ends_ns.data();
  int64_t* const end =
      std::remove_if(begin, begin + state.under_way, [=](int64_t ns) { return ns <= now_ns; });
  state.under_way = static_cast<uint32_t>(end - begin);
  return state.under_way;
}

// Takes the op's tokens and returns when the bucket had them. A bucket that was never used is full.
int64_t TokensAtNs(const SimulatedStorage& storage, int64_t at_ns, uint64_t bytes, SimulatedState& state) {
  const auto refill_ns = [&](double tokens) -> int64_t {
    return std::llround(tokens * 1e9 / storage.baseline_bytes_per_s);
  };
  state.bucket_full_ns = std::max(state.bucket_full_ns, at_ns) + refill_ns(static_cast<double>(bytes));
  return std::max(at_ns, state.bucket_full_ns - refill_ns(storage.burst_bytes));
}

}  // namespace

int64_t EndOfSimulatedOp(const SimulatedStorage& storage, uint64_t seed, int64_t now_ns, uint64_t bytes,
                         SimulatedState& state) {
  int64_t at_ns = now_ns + std::llround(storage.round_trip_ns);
  if (storage.baseline_bytes_per_s > 0) at_ns = TokensAtNs(storage, at_ns, bytes, state);
  if (storage.link_bytes_per_s > 0) {
    at_ns = std::max(at_ns, state.link_free_ns) +
            std::llround(static_cast<double>(bytes) * 1e9 / storage.link_bytes_per_s);
    state.link_free_ns = at_ns;
  }
  const int64_t service_ns = ServiceNs(storage, seed, state);
  if (storage.scales_by_usl()) {
    const double others = CountUnderWay(now_ns, state);
    const double factor = 1 + storage.contention * others + storage.crosstalk * others * (others + 1);
    at_ns += std::llround(static_cast<double>(service_ns) * factor);
    if (state.under_way < SimulatedState::kMaxUnderWay) state.ends_ns[state.under_way++] = at_ns;
    return at_ns;
  }
  int64_t& free_ns =
      *std::min_element(state.server_free_ns.begin(), state.server_free_ns.begin() + storage.servers);
  free_ns = std::max(free_ns, at_ns) + service_ns;
  return free_ns;
}

absl::StatusOr<std::unique_ptr<SimulatedServer>> SimulatedServer::Open(const SimulatedStorage& storage,
                                                                       uint64_t key) {
  const std::string path = absl::StrFormat("/dev/shm/cluster-iobench.sim-%d-%016x", ::geteuid(), key);
  const std::string what = absl::StrCat("simulated storage: ", path);
  for (;;) {
    UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid() || ::flock(fd.get(), LOCK_SH) != 0) return ErrnoStatus(what, errno);
    struct stat facts {};
    if (::fstat(fd.get(), &facts) != 0) return ErrnoStatus(what, errno);
    if (facts.st_nlink == 0) continue;  // the last of its users has just removed it
    if (facts.st_uid != ::geteuid()) return ErrnoStatus(what, EPERM);
    if (::ftruncate(fd.get(), sizeof(Shared)) != 0) return ErrnoStatus(what, errno);
    void* const at = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (at == MAP_FAILED) return ErrnoStatus(what, errno);
    return std::unique_ptr<SimulatedServer>(
        new SimulatedServer(storage, key, path, std::move(fd), *static_cast<Shared*>(at)));
  }
}

SimulatedServer::~SimulatedServer() {
  ::munmap(&shared_, sizeof(Shared));
  // Succeeds only if no one else has the file open; whoever opens it meanwhile sees that it was removed.
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path_.c_str());
}

void SimulatedServer::Lock() {
  const pid_t self = ::gettid();
  for (int32_t nobody = 0; !shared_.owner.compare_exchange_weak(nobody, self, std::memory_order_acquire);
       nobody = 0) {
    // A thread that was killed while it held the lock would hold it forever.
    if (nobody != 0 && ::kill(nobody, 0) != 0 && errno == ESRCH)
      shared_.owner.compare_exchange_strong(nobody, 0);
    ::sched_yield();
  }
}

int64_t SimulatedServer::Begin(uint64_t bytes) {
  Lock();
  const int64_t end_ns = EndOfSimulatedOp(storage_, key_, MonotonicNowNs(), bytes, shared_.state);
  shared_.owner.store(0, std::memory_order_release);
  return end_ns;
}

}  // namespace iobench
