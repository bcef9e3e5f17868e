// Ranks of an MPI job: rank 0 coordinates and is worker 0 as well, the others are workers 1, 2 …
#ifndef COMMON_TRANSPORT_MPI_TRANSPORT_H_
#define COMMON_TRANSPORT_MPI_TRANSPORT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/mpi_launch.h"
#include "common/transport/transport.h"

struct MpiBytes;  // of the module, plain C: mpi_bytes.h

namespace iobench {

class MpiRanks;

// MPI as long as this exists. The thread that started it makes all MPI calls, those of Coordinator's transport and of
// RunWorker too. They look at MPI and nap in turn (MpiNap), so that a waiting rank costs less than 1 % of a core.
class MpiSession {
 public:
  // Loads the module, then MPI_Init. Unavailable: no module, or no MPI library on this host. FailedPrecondition: a
  // launcher promised ranks, but MPI knows only one: the launcher belongs to another MPI.
  static absl::StatusOr<std::unique_ptr<MpiSession>> Start();

  // Finalizes. Rank 0 first sends away workers that nobody told to leave; all nap until the last one is here.
  // When ranks no longer agree on what comes next (one says no goodbye, MPI failed), all are aborted: exit code 1.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const;
  int size() const;

  // REQUIRES: rank() == 0; no other transport of this session exists. WorkerId = rank. `rank0_worker` and the session
  // outlive it. The destructor tells ranks to leave that have not been told, and waits for their goodbyes.
  // WaitEvent and Post may return Internal: MPI failed, and the run with it.
  std::unique_ptr<Transport> Coordinator(WorkerHandler& rank0_worker);

  // REQUIRES: rank() > 0. Until Leave, then handler.Shutdown(). OK: Leave without a reason. FailedPrecondition: Leave
  // with this reason. Internal: MPI failed.
  absl::Status RunWorker(WorkerHandler& handler);

  // Ends all ranks at once. For what cannot be reported any more.
  [[noreturn]] void Abort(int exit_code);

 private:
  MpiSession(const MpiBytes& mpi, std::unique_ptr<MpiRanks> ranks);

  const MpiBytes& mpi_;
  const std::unique_ptr<MpiRanks> ranks_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_TRANSPORT_H_
