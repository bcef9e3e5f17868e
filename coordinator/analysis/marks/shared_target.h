// Determines whether the clients of a target see the same file system there. Pure.
#ifndef COORDINATOR_ANALYSIS_MARKS_SHARED_TARGET_H_
#define COORDINATOR_ANALYSIS_MARKS_SHARED_TARGET_H_

#include <cstddef>
#include <span>
#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// What one worker sees at a target. Borrows its members.
struct TargetSight {
  std::string client;  // display name
  const v1::TargetFacts& target;
  const std::string& path;  // path of the target in the plan
};

// How much two views have in common, in ascending order of difference, so that the largest value of several is the one
// to report.
enum class Sharing {
  kSame,  // one file system: the same source, or the same server directory under different names
  kPerhaps,  // no difference is known: the same export of servers with different names, or a type that may or may not
             // be shared between hosts
  kDifferent,  // a network and a local file system, two exports, or a separate one on each client
};

// Compares two workers' views of one target. Equal FilesystemIds mean kSame. For NFS, so do an equal number and an
// equal time of change of the target's directory, because the server assigns both; different numbers mean kDifferent.
// Otherwise the type, the source and the path on the server decide.
Sharing SharingOf(const TargetSight& a, const TargetSight& b);

struct TargetSharing {
  Sharing sharing = Sharing::kSame;  // of the first worker's view with the one that is least like it
  // File systems that turned out to be the first worker's, under another name, are not counted separately.
  size_t filesystem_count = 0;
  // Example: "node1, node2 and 30 more: nfs4 server:/export; node7: its own ext4 (/dev/sda1)". Empty if kSame.
  std::string who_sees_what;
};

// Compares the first view with each of the others; `sights` are those of one target. No views: kSame.
TargetSharing SharingAmong(std::span<const TargetSight> sights);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_MARKS_SHARED_TARGET_H_
