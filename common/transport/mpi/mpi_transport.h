// The MPI transport. Rank 0 is the coordinator and also worker 0; the other ranks are workers 1, 2 …
#ifndef COMMON_TRANSPORT_MPI_MPI_TRANSPORT_H_
#define COMMON_TRANSPORT_MPI_MPI_TRANSPORT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/transport/mpi_launch.h"
#include "common/transport/transport.h"

struct MpiBytes;  // the C interface of the module: mpi_bytes.h

namespace iobench {

class MpiRanks;

// Keeps MPI initialised during its lifetime. The thread that called Start makes all MPI calls, including those of the
// transport and of RunWorker. It alternates between polling MPI and sleeping (MpiNap), so that a waiting rank uses less
// than 1 % of a core.
class MpiSession {
 public:
  // What the lanes of this process do with MPI.
  enum class LanesUse { kNothing, kPerhapsFiles, kFiles };

  // Loads the module and calls MPI_Init. Except with kNothing, for which all ranks must ask alike, lanes may then use
  // TheMpiFiles(), if the MPI library permits it; CheckMpiFiles() says. Unavailable: the module or an MPI library is missing
  // on this host.
  // FailedPrecondition: the launcher announced several ranks but MPI sees only one, so the launcher belongs to another
  // MPI.
  static absl::StatusOr<std::unique_ptr<MpiSession>> Start(LanesUse use = LanesUse::kNothing);

  // Finalizes MPI. Rank 0 first dismisses workers that have not received Leave; then all ranks wait, polling with
  // sleeps, until the last one has arrived. If ranks no longer agree on the next step (a goodbye is missing, MPI
  // failed), all ranks are aborted with exit code 1.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  int rank() const;
  int size() const;

  // Creates the coordinator's transport, with WorkerId = rank. Its destructor sends Leave to ranks that have not
  // received it and waits for their goodbyes. WaitEvent and Post may also return Internal: MPI failed, which ends the
  // run. REQUIRES: rank() == 0; no other transport of this session exists; `rank0_worker` and the session outlive the
  // transport.
  std::unique_ptr<Transport> Coordinator(WorkerHandler& rank0_worker);

  // Rank 0: dismisses the other ranks as the destructor does. False: a rank is missing (dead, stopped, hung), so MPI
  // cannot be finalized. Save everything and call Abort. REQUIRES: the transport is destroyed.
  bool CanEnd();

  // Serves requests until Leave, then calls handler.Shutdown(). OK: Leave without a reason. FailedPrecondition: Leave
  // with this reason. Internal: MPI failed. If rank 0 has sent nothing for the duration of the lease, the rank
  // stops its lanes and waits until rank 0 tells it to go (FailedPrecondition). Unavailable: rank 0 did not within ten
  // minutes, the handler has abandoned its run, and the caller can only Abort. REQUIRES: rank() > 0.
  absl::Status RunWorker(WorkerHandler& handler);

  // Ends all ranks at once, for errors that can no longer be reported.
  [[noreturn]] void Abort(int exit_code);

 private:
  MpiSession(const MpiBytes& mpi, std::unique_ptr<MpiRanks> ranks);

  const MpiBytes& mpi_;
  const std::unique_ptr<MpiRanks> ranks_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_MPI_MPI_TRANSPORT_H_
