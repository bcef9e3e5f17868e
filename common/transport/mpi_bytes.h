/* What the program needs of MPI, as plain C: bytes to a rank, bytes from a rank. The module cluster-iobench-mpi.so
 * implements it and is loaded when MPI is wanted, so that hosts without an MPI library run everything else. No
 * protobuf or abseil passes this line: they must exist once in the process.
 *
 * One thread makes all calls (MPI_THREAD_FUNNELED), after init. Functions that return int return 0 or an MPI error
 * code, which `describe` puts into words. Nothing blocks except init and finalize. */
#ifndef COMMON_TRANSPORT_MPI_BYTES_H_
#define COMMON_TRANSPORT_MPI_BYTES_H_

#include <stddef.h>

#define IOBENCH_MPI_BYTES_VERSION 1
#define IOBENCH_MPI_BYTES_SYMBOL "IobenchMpiBytes"
#define IOBENCH_MPI_MAX_BYTES 0x7fffffff /* of one message: MPI counts in int */

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-redundant-void-arg): C declares "no arguments" so. */
struct MpiBytes {
  int version; /* IOBENCH_MPI_BYTES_VERSION of the module; compared before anything else is used */

  /* May be called before init. One line, owned by the module. */
  const char* (*library_version)(void);

  int (*init)(int* rank, int* size, int* ranks_on_this_host);

  /* Starts to send; `bytes` stay as they are until `test` says done. */
  int (*start_send)(int to, const void* bytes, size_t byte_count, void** transfer);

  /* Is there a message of any rank? Then *message must be given to start_receive, once. */
  int (*probe)(int* found, int* from, size_t* byte_count, void** message);
  int (*start_receive)(void* message, void* bytes, size_t byte_count, void** transfer);

  /* Done when all ranks have started one. */
  int (*start_barrier)(void** transfer);

  /* Done: the transfer is over and freed. */
  int (*test)(void* transfer, int* done);

  int (*finalize)(void);
  void (*abort)(int exit_code); /* ends all ranks */
  void (*describe)(int error, char* text, size_t text_bytes);
};
/* NOLINTEND(modernize-redundant-void-arg) */

/* The module's one symbol. */
const struct MpiBytes* IobenchMpiBytes(void);

#ifdef __cplusplus
}
#endif

#endif /* COMMON_TRANSPORT_MPI_BYTES_H_ */
