// Keeps lines that may be repeated without an end, such as those about strangers or a flapping network, from flooding the
// output.
#ifndef COMMON_TEXT_REPEATED_LINES_H_
#define COMMON_TEXT_REPEATED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace iobench {

// In each period, passes on at most so many lines, and only one for each subject, at once; what it leaves out is summed
// up in one line at the end of the period. The first period begins with the first line. Not thread-safe.
class RepeatedLines {
 public:
  // Lines that were left out.
  struct LeftOut {
    std::map<std::string, uint64_t> by_subject;  // of the subjects whose line was passed on
    uint64_t others = 0;                         // of further subjects

    uint64_t all() const;
  };
  // Returns the line that sums them up, or nothing.
  using SumUp = std::function<std::string(const LeftOut& left_out)>;

  RepeatedLines(int64_t period_ns, size_t max_lines, SumUp sum_up)
      : period_ns_(period_ns), max_lines_(max_lines), sum_up_(std::move(sum_up)) {}

  void Add(const std::string& subject, std::string line, int64_t now_ns);
  // Returns the lines to print now. Call it about once a second, and at the end with INT64_MAX.
  std::vector<std::string> Take(int64_t now_ns);

 private:
  void EndPeriod(int64_t now_ns);

  const int64_t period_ns_;
  const size_t max_lines_;
  const SumUp sum_up_;
  int64_t period_ends_ns_ = INT64_MIN;
  LeftOut left_out_;
  std::vector<std::string> lines_;
};

}  // namespace iobench

#endif  // COMMON_TEXT_REPEATED_LINES_H_
