// What an errno means, who decides, and what to do: the table of causes.
#include "coordinator/preflight/cause.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>

namespace iobench {
namespace {

v1::TargetFacts Seen(const std::string& filesystem, const std::string& options) {
  v1::TargetFacts seen;
  seen.set_filesystem(filesystem);
  seen.set_mount_options(options);
  return seen;
}

TEST_CASE("read-only: the client's mount, the server's export, or a disk with errors") {
  const Cause& cause = *CauseOf(EROFS);
  CHECK(AdviceOn(cause, Seen("nfs4", "ro,hard")) == "mount it read-write on this client");
  CHECK(
      AdviceOn(cause, Seen("nfs4", "rw,hard,rootcontext=x")).find("the server decides: export it with rw") !=
      std::string::npos);
  CHECK(AdviceOn(cause, Seen("ext4", "rw")).find("kernel's log") != std::string::npos);
  CHECK(MeaningOf(cause, Seen("nfs4", "rw")) == "EROFS: nothing can be written there");
}

TEST_CASE("no space: bytes and inodes are both counted") {
  v1::TargetFacts seen = Seen("nfs4", "rw");
  CHECK(MeaningOf(*CauseOf(ENOSPC), seen) == "ENOSPC: no space is left");
  seen.mutable_space()->set_total_bytes(1048576);
  seen.mutable_space()->set_available_bytes(524288);
  seen.mutable_space()->set_total_items(64);
  CHECK(MeaningOf(*CauseOf(ENOSPC), seen) ==
        "ENOSPC: no inode is left (512 KiB of 1 MiB and 0 of 64 inodes are free)");
  seen.mutable_space()->set_available_items(3);
  CHECK(MeaningOf(*CauseOf(ENOSPC), seen).find("ENOSPC: no space is left (") == 0);
  CHECK(MeaningOf(*CauseOf(EDQUOT), seen) == "EDQUOT: a quota is used up");
}

TEST_CASE("what a check has to judge itself is no cause") {
  for (const int error : {EEXIST, EAGAIN, ENOTEMPTY, ENAMETOOLONG, EINVAL, EFBIG})
    CHECK(CauseOf(error) == nullptr);
}

}  // namespace
}  // namespace iobench
