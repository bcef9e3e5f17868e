// The mpiio engine: MPI_File_read_at and MPI_File_write_at, or with all ranks their collective forms.
#ifndef WORKER_ENGINE_MPIIO_ENGINE_H_
#define WORKER_ENGINE_MPIIO_ENGINE_H_

#include <memory>

#include "worker/engine/io_engine.h"

namespace iobench {

// Every lane opens its files for itself (MPI_COMM_SELF). With options.together, all ranks open one shared file together in
// the first Open, and each op is a collective call; what a lane does after it has closed that file, it does alone.
//
// Supported options: mpi_io (hints, view), together. MPI opens files by name, so their paths must lead to the files of the
// set. A call that reports success but has not moved all bytes fails: OMPIO 4.1 reports a write to a full file system as
// done, and ROMIO a read beyond the end, so the size of the file is compared with the last byte that the lane used.
std::unique_ptr<IoEngine> MakeMpiIoEngine(const EngineOptions& options);

}  // namespace iobench

#endif  // WORKER_ENGINE_MPIIO_ENGINE_H_
