// The sizes of this host's processor caches.
#ifndef WORKER_CLIENT_PROCESSOR_CACHES_H_
#define WORKER_CLIENT_PROCESSOR_CACHES_H_

#include <cstdint>
#include <string>

namespace iobench {

// The caches that one processor can use, even if it shares them with others; 0: unknown or none.
struct ProcessorCaches {
  uint64_t l2_bytes = 0;
  uint64_t l3_bytes = 0;
};

// Reads index0, index1 … of `directory`, as the kernel describes the caches of a processor in sysfs
// (Documentation/ABI/testing/sysfs-devices-system-cpu). Caches for instructions do not count.
ProcessorCaches CachesIn(const std::string& directory);

// Returns those of processor 0. Without sysfs, what the C library reports.
ProcessorCaches CachesOfThisHost();

}  // namespace iobench

#endif  // WORKER_CLIENT_PROCESSOR_CACHES_H_
