#include "tests/perf/pairs.h"

#include <errno.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "common/clock.h"

namespace iobench {
namespace {

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * kNanosPerSecond + now.tv_nsec;
}

double MedianOf(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

double KopsOf(uint64_t op_count, std::span<const Cost> lanes) {
  double sum = 0;
  for (const Cost& cost : lanes)
    sum += static_cast<double>(op_count) * 1e6 / static_cast<double>(cost.wall_ns);
  return sum;
}

double CpuNsPerOpOf(uint64_t op_count, std::span<const Cost> lanes) {
  double sum = 0;
  for (const Cost& cost : lanes) sum += static_cast<double>(cost.cpu_ns);
  return sum / static_cast<double>(op_count * lanes.size());
}

}  // namespace

void Fail(const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, message.c_str());
  std::exit(1);
}

Cost CostOf(const std::function<void()>& pass) {
  const int64_t cpu_begin_ns = ThreadCpuNs();
  const int64_t wall_begin_ns = MonotonicNowNs();
  pass();
  const int64_t wall_end_ns = MonotonicNowNs();
  return {wall_end_ns - wall_begin_ns, ThreadCpuNs() - cpu_begin_ns};
}

void Pairs::Add(uint64_t op_count, std::span<const Cost> bare, std::span<const Cost> ours) {
  bare_kops_.push_back(KopsOf(op_count, bare));
  kops_.push_back(KopsOf(op_count, ours));
  bare_cpu_ns_.push_back(CpuNsPerOpOf(op_count, bare));
  cpu_ns_.push_back(CpuNsPerOpOf(op_count, ours));
  ratios_.push_back(kops_.back() / bare_kops_.back());
  cpu_ratios_.push_back(bare_cpu_ns_.back() / cpu_ns_.back());
}

void Pairs::Print(const std::string& name) const {
  std::printf(
      "{\"case\": \"%s\", \"ratio\": %.4f, \"cpu_ratio\": %.4f, \"bare_kops\": %.1f, \"kops\": %.1f, "
      "\"bare_cpu_ns_per_op\": %.1f, \"cpu_ns_per_op\": %.1f, \"pairs\": %zu}\n",
      name.c_str(), MedianOf(ratios_), MedianOf(cpu_ratios_), MedianOf(bare_kops_), MedianOf(kops_),
      MedianOf(bare_cpu_ns_), MedianOf(cpu_ns_), ratios_.size());
  std::fflush(stdout);
}

}  // namespace iobench
