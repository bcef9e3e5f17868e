#include "coordinator/selftest/phase_cost.h"

#include <sys/resource.h>

#include "common/time.h"

namespace iobench {
namespace {

rusage UsageOfProcess() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage;
}

}  // namespace

double ProcessCpuSeconds() {
  const rusage usage = UsageOfProcess();
  return SecondsFrom(usage.ru_utime) + SecondsFrom(usage.ru_stime);
}

uint64_t PeakMemoryBytes() {
  return static_cast<uint64_t>(UsageOfProcess().ru_maxrss) * 1024;  // in KiB
}

}  // namespace iobench
