#include "coordinator/usage.h"

namespace iobench {

std::string ShortUsage() {
  return R"(cluster-iobench: what can this shared file system do, measured on many clients at once

Nothing was measured or written: say where. Examples:
  cluster-iobench /mnt/nfs                     this host: write, read and random access, a few seconds each
  cluster-iobench /mnt/nfs --dry-run           the same, but only say what would be done
  cluster-iobench /mnt/nfs -i 0 -i 1 -c -e -r 1m -s 4g    IOzone's letters: write and read 4 GiB per lane
  cluster-iobench --spawn 8 /mnt/nfs           8 worker processes on this host
  cluster-iobench -+m clients --insecure       workers on the clients of a list, over ssh
  mpirun -np 32 cluster-iobench /mnt/nfs       every rank is a worker
  cluster-iobench --suite smoke /mnt/nfs       a short check; --suite list shows the others

The data stand in DIR/cluster-iobench.data and are removed at the end. The results stay: in ./cluster-iobench.out/TIME,
or where --out says.

cluster-iobench run --help lists all options, --help iozone IOzone's letters, --help the other commands.
)";
}

}  // namespace iobench
