// The progress line on stderr. It cannot affect results: it does not access lanes, only samples from polls. If the
// terminal does not accept output at once (stopped with Ctrl-S), the line is skipped without waiting.
#ifndef COORDINATOR_REPORT_CONSOLE_PROGRESS_LINE_H_
#define COORDINATOR_REPORT_CONSOLE_PROGRESS_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace iobench {

// What the line shows of one moment. Unprintable characters in the name are replaced.
struct ProgressSample {
  std::string phase;         // "random read"
  uint32_t index = 0;        // of the phase within the run, counted from 0
  uint32_t count = 0;        // phases in the run
  uint64_t bytes = 0;        // transferred so far in this phase
  uint64_t total_bytes = 0;  // expected total of the phase; 0: limited by time, see total_s
  bool metadata = false;     // progress is counted in ops, not bytes
  uint64_t ops = 0;
  uint64_t total_ops = 0;
  double total_s = 0;      // expected duration, if limited by time; 0: unknown
  double bytes_per_s = 0;  // current rate
  double ops_per_s = 0;
  double elapsed_s = 0;  // since the start of the phase
  uint32_t lanes_running = 0;
  uint32_t lanes = 0;
  uint32_t errors = 0;  // workers lost so far; failed lanes are known only at the end of a phase
};

// Returns the completed share of the phase, 0 to 1; NaN if unknown.
double ShareDone(const ProgressSample& sample);
// Returns the time until the end of the phase, from the mean rate so far, because the current rate would make the value
// jump. NaN: not yet known.
double SecondsLeft(const ProgressSample& sample);
// Returns "left 3 s".
std::string LeftText(double seconds);

// Returns "2/6 random read 43 % 1.23 GiB/s left 12 s 32 of 32 lanes 1 error". If `width_columns` is too small, the
// least important parts are omitted. Printable, without line break.
std::string FormatProgress(const ProgressSample& sample, size_t width_columns);

struct ProgressOptions {
  enum class Mode {
    kSilent,
    kRewrite,  // one line, rewritten in place
    kLines,    // a new line every few seconds, for logs
  };
  Mode mode = Mode::kSilent;
  size_t width_columns = 0;    // 0: query the terminal each time, 100 if there is none
  double line_interval_s = 5;  // kLines
};

// Returns kRewrite for a terminal that supports it; otherwise kSilent, or kLines if `forced` (--progress).
ProgressOptions ProgressOptionsFor(int fd, bool forced);

// Not thread-safe. Does not own `fd`. The destructor removes the line.
class ProgressLine {
 public:
  ProgressLine(int fd, const ProgressOptions& options) : fd_(fd), options_(options) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Shows the sample. With kLines, only if line_interval_s of the phase have passed since the last line, or for another
  // phase. Never blocks.
  void Update(const ProgressSample& sample);

  // Removes the line from the terminal. Call it before anything else is printed.
  void Clear();

 private:
  bool Write(const std::string& text);

  const int fd_;
  const ProgressOptions options_;
  bool shown_ = false;
  // kLines: what was last printed.
  bool printed_ = false;
  uint32_t printed_index_ = 0;
  double printed_elapsed_s_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_PROGRESS_LINE_H_
