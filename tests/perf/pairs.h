// The method of all benchmarks here: passes of a bare loop and of our own alternate and are compared in pairs.
#ifndef TESTS_PERF_PAIRS_H_
#define TESTS_PERF_PAIRS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace iobench {

// Exits the program with its name and the message.
[[noreturn]] void Fail(const std::string& message);

struct Cost {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;  // of the calling thread
};
Cost CostOf(const std::function<void()>& pass);

// The results of one case: medians over its pairs.
class Pairs {
 public:
  // Adds one pair: the cost of a pass of `op_count` ops for each lane. Rates are summed over lanes, as is CPU time.
  void Add(uint64_t op_count, std::span<const Cost> bare, std::span<const Cost> ours);

  // Prints one line of JSON: `ratio` is ours / bare by wall time, `cpu_ratio` by CPU time (more reliable on a machine
  // that others use too), `kops` are thousand ops per second of all lanes. REQUIRES: at least one pair.
  void Print(const std::string& name) const;

 private:
  std::vector<double> ratios_, cpu_ratios_, bare_kops_, kops_, bare_cpu_ns_, cpu_ns_;
};

}  // namespace iobench

#endif  // TESTS_PERF_PAIRS_H_
