// SIGBUS inside a lane's mapped files becomes an error of that lane instead of the end of the process.
//
// The kernel sends it to the thread that touches a page which the file no longer has (somebody cut it), for which the
// disk has no block left, or which cannot be read. The handler puts anonymous memory in place of that page and all that
// follows it in its map, notes the address, and returns: the copy under way ends by itself, nothing of it reaches the
// file, and the engine looks at the note after each op. So no frame is jumped over, and an op pays one load. mmap(2) in
// a handler is a plain system call on Linux. A SIGBUS anywhere else goes to whatever handled it before.
#ifndef WORKER_ENGINE_BUS_ERROR_H_
#define WORKER_ENGINE_BUS_ERROR_H_

#include <csignal>
#include <cstddef>
#include <span>

namespace iobench {

struct MappedRange {
  std::byte* begin = nullptr;  // of a page
  size_t bytes = 0;
};

// While it lives, SIGBUS of this thread within `maps` is noted. One at a time on a thread; `maps` must outlive it and
// stay mapped. Installs the process's handler if it is not there (another library may have put its own).
class BusErrorGuard {
 public:
  explicit BusErrorGuard(std::span<const MappedRange> maps);
  ~BusErrorGuard();
  BusErrorGuard(const BusErrorGuard&) = delete;
  BusErrorGuard& operator=(const BusErrorGuard&) = delete;

  // Where the first one was; null: there was none. From its page on, that map leads to no file any more.
  const std::byte* fault() const { return fault_; }

 private:
  static void OnSignal(int number, siginfo_t* info, void* context);
  static void InstallHandler();
  bool Take(std::byte* address);

  const std::span<const MappedRange> maps_;
  std::byte* volatile fault_ = nullptr;  // the handler's, on the same thread
  sigset_t old_mask_{};
};

}  // namespace iobench

#endif  // WORKER_ENGINE_BUS_ERROR_H_
