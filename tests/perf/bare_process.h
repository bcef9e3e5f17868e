// Runs the bare loops of a case in separate processes, as programs that do nothing else. Threads of one process share
// more than is visible (worker/lane/own_descriptors.h).
#ifndef TESTS_PERF_BARE_PROCESS_H_
#define TESTS_PERF_BARE_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <vector>

#include "tests/perf/bare_loop.h"
#include "tests/perf/pairs.h"

namespace iobench {

class BareProcesses {
 public:
  // Forks `count` children; child i runs the loop that `make(i)` returns, on a buffer of op_bytes. Exits the program on
  // failure. REQUIRES: no threads have been started yet.
  BareProcesses(size_t count, size_t op_bytes, const std::function<std::unique_ptr<BareLoop>(size_t)>& make);
  ~BareProcesses();
  BareProcesses(const BareProcesses&) = delete;
  BareProcesses& operator=(const BareProcesses&) = delete;

  // Runs one pass of all of them, started together, and returns the cost of each.
  std::vector<Cost> Pass();

 private:
  struct Child {
    pid_t pid;
    int commands, costs;  // pipes
  };
  std::vector<Child> children_;
};

}  // namespace iobench

#endif  // TESTS_PERF_BARE_PROCESS_H_
