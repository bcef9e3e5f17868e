// How long this process waits for a file system that does not answer, and what it does meanwhile.
#ifndef COORDINATOR_FILES_FILE_PATIENCE_H_
#define COORDINATOR_FILES_FILE_PATIENCE_H_

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "common/clock.h"

namespace iobench {

// The errno of a call that was given up: after the limit, or after Ctrl-C. No file system returns either. ErrnoStatus has
// texts for both.
inline constexpr int kErrnoNoAnswer = ETIME;
inline constexpr int kErrnoStoppedWaiting = ERESTART;

// One object for the process. Set it before the calls that it is for, from any thread.
struct PatienceForFiles {
  std::atomic<int64_t> limit_ns{300 * kNanosPerSecond};  // for one call; 0: none
  // Set by the first signal. A call that has taken `after_interrupt_ns` since is given up, unless the file system answers
  // another within two thirds of that. The end is due two seconds after Ctrl-C.
  std::atomic<const std::atomic<bool>*> interrupted{nullptr};
  std::atomic<int64_t> after_interrupt_ns{6 * kNanosPerSecond / 10};
};
PatienceForFiles& FilePatience();

// While it exists, `attend` is called every half second while the thread that made it waits for a file system, so that
// workers stay in touch. One at a time.
class WhileFilesHang {
 public:
  explicit WhileFilesHang(std::function<void()> attend);
  WhileFilesHang(const WhileFilesHang&) = delete;
  WhileFilesHang& operator=(const WhileFilesHang&) = delete;
  ~WhileFilesHang();
};

// While it exists, calls of its thread are given up after `limit_ns`, if FilePatience has no shorter limit: for what is worth
// less than the workers, who go without their coordinator meanwhile.
class ShorterPatience {
 public:
  explicit ShorterPatience(int64_t limit_ns);
  ShorterPatience(const ShorterPatience&) = delete;
  ShorterPatience& operator=(const ShorterPatience&) = delete;
  ~ShorterPatience();
};

// Waits for one call. `Next` returns 0 if the caller shall wait another kNapMs, and otherwise the errno with which the call is
// given up. It names call and path on stderr once they take long. Time in which this process was stopped does not count.
class CallWait {
 public:
  static constexpr int kNapMs = 20;
  static constexpr int64_t kLongestNapNs = kNanosPerSecond;  // a longer one was a stop
  // `call`: "open /mnt/x". `still_answers`: whether the file system answers another call soon enough. `begin_ns`: since when
  // it has not answered.
  CallWait(std::string call, std::function<bool()> still_answers, int64_t begin_ns = MonotonicNowNs());
  ~CallWait();  // says that the call has ended, if it has said that it takes long
  int Next();

 private:
  const std::string call_;
  const std::function<bool()> still_answers_;
  const int64_t begin_ns_;
  const int64_t limit_ns_;
  int64_t interrupted_ns_ = 0;  // when the interrupt was noticed; 0: it was not
  int64_t attended_ns_ = begin_ns_;
  int64_t looked_ns_ = MonotonicNowNs();  // by the latest Next
  int64_t stopped_ns_ = 0;
  bool said_ = false;
  bool given_up_ = false;
  bool alive_ = false;  // after the interrupt, the file system has answered
};

}  // namespace iobench

#endif  // COORDINATOR_FILES_FILE_PATIENCE_H_
