// Turns a SIGBUS inside a lane's mapped files into an error of that lane, so that it does not end the process.
//
// The kernel sends SIGBUS to the thread that touches a mapped page if the file was truncated before that page, the disk
// has no free block for it, or it cannot be read. The handler replaces this page and the rest of its map with anonymous
// memory, records the address and returns. The copy in progress then completes, but none of its data reaches the file;
// the engine checks the recorded address after each op, which costs one load. The handler may call mmap(2) because it
// is a plain system call on Linux. A SIGBUS at any other address is passed to the previous handler.
#ifndef WORKER_ENGINE_BUS_ERROR_H_
#define WORKER_ENGINE_BUS_ERROR_H_

#include <csignal>
#include <cstddef>
#include <span>

namespace iobench {

// One map of the engine, in whole pages.
struct MappedRange {
  std::byte* begin = nullptr;  // start of a page
  size_t bytes = 0;
};

// Records SIGBUS signals of the calling thread within `maps` during its lifetime. Only one guard may exist per thread;
// `maps` must outlive it and stay mapped. Installs the process-wide signal handler unless it is already in place.
class BusErrorGuard {
 public:
  explicit BusErrorGuard(std::span<const MappedRange> maps);
  ~BusErrorGuard();
  BusErrorGuard(const BusErrorGuard&) = delete;
  BusErrorGuard& operator=(const BusErrorGuard&) = delete;

  // Returns the address of the first SIGBUS, or null if there was none. From its page to the end, that map is no longer
  // backed by the file.
  const std::byte* fault() const { return fault_; }

 private:
  static void OnSignal(int number, siginfo_t* info, void* context);
  static void InstallHandler();
  bool Take(std::byte* address);

  const std::span<const MappedRange> maps_;
  std::byte* volatile fault_ = nullptr;  // written by the handler, on the same thread
  sigset_t old_mask_{};
};

}  // namespace iobench

#endif  // WORKER_ENGINE_BUS_ERROR_H_
