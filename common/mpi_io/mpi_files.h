/* The C interface to MPI-IO. The module cluster-iobench-mpi.so implements it as a part of mpi_bytes.h, whose version
 * is also its own, and for the same reasons: no protobuf or abseil types cross it, and it is loaded only if MPI is used.
 *
 * Any thread may call the functions, if MPI was initialised for several threads (MpiBytes::init); the calls on one file
 * must come from one thread. Functions that return int return 0 or an MPI error code, which errno_of and describe translate.
 * "Together" means that all ranks of the session make the call, in the same order as their other calls of this kind; it
 * blocks until they have. All offsets and sizes are in bytes. */
#ifndef COMMON_MPI_IO_MPI_FILES_H_
#define COMMON_MPI_IO_MPI_FILES_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-redundant-void-arg): C declares "no arguments" this way. */
struct MpiFiles {
  /* Opens the file with flags of open(2): O_RDONLY, O_WRONLY or O_RDWR, and O_CREAT. `hints` has key, value, key, value …
   * and a null at the end. `together`: all ranks open it together; otherwise it belongs to this caller alone. */
  int (*open)(const char* path, int flags, int together, const char* const* hints, void** file);

  /* Makes only some bytes of the file visible, as offsets 0, 1 …: from `begin` on, `block` bytes, of every `block_count` x
   * `block` bytes. Together with all who have opened the file. */
  int (*set_view)(void* file, uint64_t begin, uint64_t block, uint64_t block_count);

  /* Moves `bytes` bytes and sets *moved. `together`: together with all who have opened the file; 0 bytes are allowed. */
  int (*read_at)(void* file, int together, uint64_t offset, void* data, size_t bytes, size_t* moved);
  int (*write_at)(void* file, int together, uint64_t offset, const void* data, size_t bytes, size_t* moved);

  /* Writes what this process has written to stable storage. Together with all who have opened the file. */
  int (*sync)(void* file);
  int (*size)(void* file, uint64_t* bytes);

  /* Writes "KEY=VALUE" lines, the hints in effect, into text_bytes bytes, shortened if necessary, ended by a null. */
  int (*hints)(void* file, char* text, size_t text_bytes);

  /* Closes and frees it, even if that fails. Together with all who have opened the file. */
  int (*close)(void* file);

  /* Together: sets *least to the least `mine` of all ranks. Spins. */
  int (*vote)(int mine, int* least);

  /* Before a phase, each rank calls one of these two. meet waits, asleep, until all ranks have, and sets *all_can to whether all
   * have called meet. decline does not wait. */
  int (*meet)(int* all_can);
  void (*decline)(void);

  /* A rank will answer no more: every meet returns at once with *all_can = 0, now and from now on, also those under way. */
  void (*end_meetings)(void);

  int (*rank_count)(void);

  /* The errno that is closest to an error code; EIO if none is. */
  int (*errno_of)(int error);

  /* Writes a text for an error code into text_bytes bytes, shortened if necessary, ended by a null. */
  void (*describe)(int error, char* text, size_t text_bytes);
};
/* NOLINTEND(modernize-redundant-void-arg) */

#ifdef __cplusplus
}
#endif

#endif /* COMMON_MPI_IO_MPI_FILES_H_ */
