#include "common/text/repeated_lines.h"

#include <utility>

namespace iobench {

uint64_t RepeatedLines::LeftOut::all() const {
  uint64_t count = others;
  for (const auto& [subject, its_count] : by_subject) count += its_count;
  return count;
}

void RepeatedLines::EndPeriod(int64_t now_ns) {
  if (now_ns < period_ends_ns_) return;
  period_ends_ns_ = now_ns == INT64_MAX ? INT64_MAX : now_ns + period_ns_;
  const LeftOut left_out = std::exchange(left_out_, {});
  if (left_out.all() == 0) return;
  if (std::string line = sum_up_(left_out); !line.empty()) lines_.push_back(std::move(line));
}

void RepeatedLines::Add(const std::string& subject, std::string line, int64_t now_ns) {
  EndPeriod(now_ns);
  const auto told = left_out_.by_subject.find(subject);
  if (told != left_out_.by_subject.end()) {
    ++told->second;
  } else if (left_out_.by_subject.size() < max_lines_) {
    left_out_.by_subject[subject] = 0;
    lines_.push_back(std::move(line));
  } else {
    ++left_out_.others;
  }
}

std::vector<std::string> RepeatedLines::Take(int64_t now_ns) {
  if (left_out_.all() > 0) EndPeriod(now_ns);
  return std::exchange(lines_, {});
}

}  // namespace iobench
