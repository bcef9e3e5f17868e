/* The C interface to MPI: sends bytes to a rank and receives bytes from a rank. The module cluster-iobench-mpi.so
 * implements it. It is loaded only if MPI is used, so that all other features work on hosts without an MPI library.
 * No protobuf or abseil types cross this interface, because these libraries must exist only once in the process.
 *
 * The thread that called init makes all calls. Functions that return int return 0 or an MPI error code, which `describe`
 * translates to text. Nothing blocks except init and finalize. */
#ifndef COMMON_TRANSPORT_MPI_MPI_BYTES_H_
#define COMMON_TRANSPORT_MPI_MPI_BYTES_H_

#include <stddef.h>

#include "common/mpi_io/mpi_files.h"

#define IOBENCH_MPI_BYTES_VERSION 3
#define IOBENCH_MPI_BYTES_SYMBOL "IobenchMpiBytes"
#define IOBENCH_MPI_MAX_BYTES 0x7fffffff /* max. size of one message: MPI counts in int */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-redundant-void-arg): C declares "no arguments" this way. */
struct MpiBytes {
  int version; /* the module's IOBENCH_MPI_BYTES_VERSION; check it before using any other member */

  /* Returns one line, owned by the module. May be called before init. */
  const char* (*library_version)(void);

  /* Initialises MPI and returns the rank of this process, the number of ranks, and how many of them share this host. It
   * blocks until all ranks have called it, napping between polls. *several_threads: whether threads other than the caller's
   * will call `files`, for which all ranks must ask alike; it returns whether they can. `lanes_wait`: they surely will, and wait in
   * MPI for each other. */
  int (*init)(int* several_threads, int lanes_wait, int* rank, int* size, int* ranks_on_this_host);

  /* Starts to send. `bytes` must stay unchanged until `test` reports that the transfer is done. */
  int (*start_send)(int to, const void* bytes, size_t byte_count, void** transfer);

  /* Sets *found if a message of any rank has arrived. *message must then be passed to start_receive exactly once. */
  int (*probe)(int* found, int* from, size_t* byte_count, void** message);

  /* Starts to receive the message. `bytes` must have room for *byte_count bytes until `test` reports the end. */
  int (*start_receive)(void* message, void* bytes, size_t byte_count, void** transfer);

  /* Starts a barrier, which is done when all ranks have started it. */
  int (*start_barrier)(void** transfer);

  /* Sets *done if the transfer is complete; the transfer is then freed. */
  int (*test)(void* transfer, int* done);

  /* Ends MPI. It spins until all ranks have called it, so complete a barrier first. MPI cannot be initialised again. */
  int (*finalize)(void);

  /* Ends all ranks at once. It may return, because MPI does not promise otherwise. */
  void (*abort)(int exit_code);

  /* Writes a text for an error code into text_bytes bytes, shortened if necessary and terminated by a null. */
  void (*describe)(int error, char* text, size_t text_bytes);

  /* MPI-IO, for other threads. Use it after init has returned *several_threads. */
  const struct MpiFiles* files;
};
/* NOLINTEND(modernize-redundant-void-arg) */

/* The only symbol that the module exports. */
const struct MpiBytes* IobenchMpiBytes(void);

#ifdef __cplusplus
}
#endif

#endif /* COMMON_TRANSPORT_MPI_MPI_BYTES_H_ */
