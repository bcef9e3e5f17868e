// Durability checks: blocks that say which write they come from, and what is left of them after a fault.
#ifndef WORKER_CHECK_BLOCK_WRITES_H_
#define WORKER_CHECK_BLOCK_WRITES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "common/time.h"
#include "iobench/v1/control.pb.h"

namespace iobench {

inline constexpr size_t kCheckBlockBytes = 4096;
inline constexpr uint64_t kMaxCheckBlocks = 1 << 18;  // of one file: 1 GiB

// Fills a block of kCheckBlockBytes. Every sector of 512 bytes says which writer and which write it comes from.
void FillCheckBlock(uint64_t key, uint64_t number, std::span<std::byte> block);

enum class BlockState {
  kWritten,  // as a whole by this writer's write `number`
  kEmpty,    // zeros
  kTorn,     // sectors of several writes, or of something else
};
BlockState ReadCheckBlock(uint64_t key, std::span<const std::byte> block, uint64_t& number);

// Writes block after block from number writes.begun on until `end_worker_ns`, `cancelled`, the max. file size, or the
// first write that fails, and notes in `counts` how many were acknowledged, which took longest, and whether
// the file is full. Creates the file. The error is that of opening it; a write that fails is counted instead.
absl::Status WriteBlocks(int directory, const std::string& name, const std::string& path,
                         const v1::BlockWrites& writes, int64_t end_worker_ns,
                         const std::atomic<bool>& cancelled, const std::function<WorkerTime()>& now,
                         v1::BlockCounts& counts);

// Reads what the writer's acknowledged writes must have left, bypassing the page cache if the file system can,
// otherwise after dropping the file from it.
absl::Status CheckBlocks(int directory, const std::string& name, const std::string& path,
                         const v1::BlockWrites& writes, v1::BlockCounts& counts);

}  // namespace iobench

#endif  // WORKER_CHECK_BLOCK_WRITES_H_
