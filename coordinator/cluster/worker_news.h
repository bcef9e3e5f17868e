// What a coordinator says, while a run lasts, of workers that fall silent, stand still, come back or are lost.
#ifndef COORDINATOR_CLUSTER_WORKER_NEWS_H_
#define COORDINATOR_CLUSTER_WORKER_NEWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/text/repeated_lines.h"

namespace iobench {

// A switch that fails does the same to a thousand workers, and a flapping network does it again and again. So of each kind,
// only the first workers of a period are named; the others are summed up in one line at its end. Not thread-safe.
class WorkerNews {
 public:
  enum class Kind { kSilent, kAnswers, kStandsStill, kReconnected, kLost };

  WorkerNews();

  // `worker`: "worker 3 on node07". `line`: what there is to say of it.
  void Add(Kind kind, const std::string& worker, std::string line, int64_t now_ns);
  // Returns the lines to print now. Call it after Add, about once a second, and at the end with INT64_MAX.
  std::vector<std::string> Take(int64_t now_ns);

 private:
  std::vector<RepeatedLines> lines_;  // by kind
};

}  // namespace iobench

#endif  // COORDINATOR_CLUSTER_WORKER_NEWS_H_
