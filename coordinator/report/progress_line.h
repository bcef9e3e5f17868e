// One line on stderr that says how a phase is going. Nothing here can change a result: it reads no lane, only samples
// from polls, and a terminal that does not take the line at once (stopped with Ctrl-S) is left out, never waited for.
#ifndef COORDINATOR_REPORT_PROGRESS_LINE_H_
#define COORDINATOR_REPORT_PROGRESS_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace iobench {

struct ProgressSample {
  std::string phase;         // "random read"
  uint32_t index = 0;        // of the phase within the run, from 0
  uint32_t count = 0;        // phases in the run
  uint64_t bytes = 0;        // moved by now in this phase
  uint64_t total_bytes = 0;  // that it will move; 0: a time rules, see total_s
  bool metadata = false;     // what counts are ops, not bytes
  uint64_t ops = 0;
  uint64_t total_ops = 0;
  double total_s = 0;      // that it will take, where a time rules; 0: not known
  double bytes_per_s = 0;  // now
  double ops_per_s = 0;
  double elapsed_s = 0;  // since the phase began
  uint32_t lanes_running = 0;
  uint32_t lanes = 0;
  uint32_t errors = 0;  // lanes failed and workers lost so far
};

// "2/6 random read   43 %   1.23 GiB/s   left 12 s   32 of 32 lanes   1 error": the least important parts are left out
// where `width_columns` is too small. Printable, without a line break.
std::string FormatProgress(const ProgressSample& sample, size_t width_columns);

struct ProgressOptions {
  enum class Mode {
    kSilent,
    kRewrite,  // one line, rewritten in place
    kLines,    // a line every few seconds, for a log
  };
  Mode mode = Mode::kSilent;
  size_t width_columns = 0;    // 0: asked from the terminal each time, 100 where that is none
  double line_interval_s = 5;  // kLines
};

// Rewrites on a terminal that can, else silent, or lines where `forced` (--progress).
ProgressOptions ProgressOptionsFor(int fd, bool forced);

// One thread uses it.
class ProgressLine {
 public:
  ProgressLine(int fd, const ProgressOptions& options) : fd_(fd), options_(options) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Update(const ProgressSample& sample);

  // Takes the line off the terminal. Call before anything else is printed.
  void Clear();

 private:
  bool Write(const std::string& text);

  const int fd_;
  const ProgressOptions options_;
  bool shown_ = false;
  // kLines: what was printed last.
  bool printed_ = false;
  uint32_t printed_index_ = 0;
  double printed_elapsed_s_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PROGRESS_LINE_H_
