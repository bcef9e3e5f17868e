// Whether the clients of a target see one file system there, or each another. Pure.
#ifndef COORDINATOR_ANALYSIS_SHARED_TARGET_H_
#define COORDINATOR_ANALYSIS_SHARED_TARGET_H_

#include <cstddef>
#include <span>
#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// What one worker sees at a target; borrows.
struct TargetSight {
  std::string client;  // for people
  const v1::WorkerFacts& worker;
  const v1::TargetFacts& target;
  const std::string& path;  // of the target, as the plan has it
};

enum class Sharing {
  kSame,       // one file system: the same source, or the same directory of a server that is spelled differently
  kPerhaps,    // nothing says that they differ: the same export of servers with different names, or a type of which we
               // do not know whether hosts share it
  kDifferent,  // a network file system and a local one, two exports, or each client's own
};

Sharing SharingOf(const TargetSight& a, const TargetSight& b);

struct TargetSharing {
  Sharing sharing = Sharing::kSame;  // of the first sight with the one that is least like it
  size_t filesystem_count = 0;
  // "node1, node2 and 30 more: nfs4 server:/export; node7: its own ext4 (/dev/sda1)"; filled where it is not kSame.
  std::string who_sees_what;
};

TargetSharing SharingAmong(std::span<const TargetSight> sights);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_SHARED_TARGET_H_
