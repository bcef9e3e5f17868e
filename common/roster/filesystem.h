// Which file system a worker sees at a target. The rule of who shares a file system is here and nowhere else.
#ifndef COMMON_ROSTER_FILESYSTEM_H_
#define COMMON_ROSTER_FILESYSTEM_H_

#include <compare>
#include <cstdint>
#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// Equal for workers that see the same file system. A value type, which can be a key.
struct FilesystemId {
  std::string name = {};     // its device on the host, or its source on the network
  std::string boot_id = {};  // of the host that alone has it; empty: hosts share it
  uint32_t clone = 0;        // with boot_id: number of the machine that was cloned with it
  uint32_t storage = 0;      // tells storages apart that are otherwise equal

  bool empty() const { return name.empty(); }  // the worker could not tell
  auto operator<=>(const FilesystemId&) const = default;
};

FilesystemId FilesystemOf(const v1::TargetFacts& seen);
// Notes that what the worker sees is this one.
void SetFilesystem(const FilesystemId& id, v1::TargetFacts& seen);
// The worker that sees it is on this clone (WorkerFacts.clone): what only its host has is then another one.
void SetClone(uint32_t clone, v1::TargetFacts& seen);
// True if only the host of the worker that sees it has it: its disk, or a server that it calls localhost.
bool IsOfOneHost(const v1::TargetFacts& seen);

}  // namespace iobench

#endif  // COMMON_ROSTER_FILESYSTEM_H_
