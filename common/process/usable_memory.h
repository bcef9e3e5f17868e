// How much memory this process can use: what the host has, or less where its control groups have a limit. Their page
// cache counts, too.
#ifndef COMMON_PROCESS_USABLE_MEMORY_H_
#define COMMON_PROCESS_USABLE_MEMORY_H_

#include <cstdint>
#include <string>

namespace iobench {

struct UsableMemory {
  uint64_t host_bytes = 0;  // 0: unknown
  uint64_t bytes = 0;       // the smaller of it and the smallest limit
  uint64_t group = 0;       // inode of the control group with that limit; 0: the host limits
};

// `root`: "" outside of tests.
UsableMemory MemoryOfThisProcess(const std::string& root = "");

// Returns what can still be allocated: MemAvailable, or less where a limit is closer. 0: unknown.
uint64_t AvailableMemoryBytes(const std::string& root = "");

}  // namespace iobench

#endif  // COMMON_PROCESS_USABLE_MEMORY_H_
