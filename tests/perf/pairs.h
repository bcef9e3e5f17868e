// What every benchmark here measures: passes of a bare loop and of ours that take turns, compared pair by pair.
#ifndef TESTS_PERF_PAIRS_H_
#define TESTS_PERF_PAIRS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace iobench {

// Ends the program with the message behind its name.
[[noreturn]] void Fail(const std::string& message);

struct Cost {
  int64_t wall_ns = 0;
  int64_t cpu_ns = 0;  // of the calling thread
};
Cost CostOf(const std::function<void()>& pass);

// The figures of one case: medians over its pairs.
class Pairs {
 public:
  // One pair: what a pass of `op_count` ops cost each lane. Rates add up over lanes, and so does CPU time.
  void Add(uint64_t op_count, std::span<const Cost> bare, std::span<const Cost> ours);

  // One line of JSON: `ratio` is ours / bare by wall time, `cpu_ratio` by CPU time (what to look at on a machine that
  // others use too), `kops` are thousand ops per second of all lanes. REQUIRES: a pair.
  void Print(const std::string& name) const;

 private:
  std::vector<double> ratios_, cpu_ratios_, bare_kops_, kops_, bare_cpu_ns_, cpu_ns_;
};

}  // namespace iobench

#endif  // TESTS_PERF_PAIRS_H_
