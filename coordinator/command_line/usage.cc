#include "coordinator/command_line/usage.h"

#include "absl/strings/str_cat.h"
#include "common/model/plan_traits.h"

namespace iobench {

std::string ShortUsage() {
  return absl::StrCat(R"(cluster-iobench: measure what a shared file system can do, from many clients at once

Nothing was measured or written: name a directory to test in. Examples:
  cluster-iobench /mnt/nfs                     on this host: write, read and random access, a few seconds each
  cluster-iobench /mnt/nfs --dry-run           the same, but only print what would be done
  cluster-iobench /mnt/nfs -i 0 -i 1 -c -e -r 1m -s 4g    IOzone's letters: write and read 4 GiB per lane
  cluster-iobench --spawn 8 /mnt/nfs           8 worker processes on this host
  cluster-iobench -+m clients --insecure       workers on the clients in a list, over ssh
  mpirun -np 32 cluster-iobench /mnt/nfs       every rank is a worker
  cluster-iobench --suite smoke /mnt/nfs       a short check; --suite list lists all suites

Test data go to DIR/)",
                      kDataDirectoryName,
                      R"( and are removed at the end. Results stay in ./cluster-iobench.out/TIME, or in
the directory given with --out.

cluster-iobench run --help lists all options, --help iozone lists IOzone's letters, --help lists the other commands.
)");
}

}  // namespace iobench
