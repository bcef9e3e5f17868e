/* LD_PRELOAD: counts the data calls of glibc on files in a data directory, as a library that traces or serves I/O sees
 * them. At the end of the process it adds "CALL COUNT" lines to the file $CALL_COUNTS. With COUNT_HIDDEN it removes LD_PRELOAD
 * from the environment, so that the program does not know that it is there. With WRITE_HASHES, it appends a hash of the
 * contents of each write to that file; with LOSE_AFTER=N, writes to offset LOSE_AT are lost from the Nth on, as storage
 * loses them: the caller is told that they have succeeded. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "data_file.h"

enum { READ, WRITE, PREAD, PWRITE, PREADV, PWRITEV, OPENAT, KINDS };
static const char* const names[KINDS] = {"read", "write", "pread", "pwrite", "preadv", "pwritev", "openat"};
static _Atomic long counts[KINDS];

static int is_data(int file) {
  char path[4096];
  const char* const ours = place_in_data(file, path, sizeof path);
  return ours != NULL && (strstr(ours, "/lane-") != NULL || strstr(ours, "/tree-") != NULL);
}

enum { MAX_HASHES = 1 << 20 };
static unsigned long* hashes; /* mapped: lanes have descriptor tables of their own */
static int hashes_file = -1;
static _Atomic long hash_count;
static long lose_after = -1, lose_at;
static _Atomic long written_there;

/* FNV-1a, over words: fast, and no two of our records collide. */
static void note_hash(const void* data, size_t bytes) {
  if (hashes == NULL) return;
  unsigned long hash = 0xcbf29ce484222325u;
  const unsigned long* const words = data;
  for (size_t i = 0; i < bytes / sizeof *words; ++i) hash = (hash ^ words[i]) * 0x100000001b3u;
  const long at = atomic_fetch_add(&hash_count, 1);
  if (at < MAX_HASHES) hashes[at] = hash;
}

static int is_lost(long offset) {
  return lose_after >= 0 && offset == lose_at && atomic_fetch_add(&written_there, 1) >= lose_after;
}

static void count(int kind, int file) {
  if (is_data(file)) atomic_fetch_add(&counts[kind], 1);
}

__attribute__((constructor)) static void begin(void) {
  if (getenv("COUNT_HIDDEN") != NULL) unsetenv("LD_PRELOAD");
  if (getenv("WRITE_HASHES") != NULL) {
    hashes_file = open(getenv("WRITE_HASHES"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (ftruncate(hashes_file, MAX_HASHES * sizeof *hashes) != 0) abort();
    hashes = mmap(NULL, MAX_HASHES * sizeof *hashes, PROT_READ | PROT_WRITE, MAP_SHARED, hashes_file, 0);
  }
  if (getenv("LOSE_AFTER") != NULL) lose_after = atol(getenv("LOSE_AFTER"));
  if (getenv("LOSE_AT") != NULL) lose_at = atol(getenv("LOSE_AT"));
}

__attribute__((destructor)) static void end(void) {
  const char* const path = getenv("CALL_COUNTS");
  const long noted = atomic_load(&hash_count);
  if (noted > 0) {  /* not in processes that wrote nothing: they share the file */
    if (truncate(getenv("WRITE_HASHES"), (noted < MAX_HASHES ? noted : MAX_HASHES) * sizeof *hashes) != 0) abort();
  }
  FILE* const file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) return;
  for (int i = 0; i < KINDS; ++i) fprintf(file, "%s %ld\n", names[i], atomic_load(&counts[i]));
  fclose(file);
}

ssize_t read(int file, void* data, size_t bytes) {
  count(READ, file);
  return syscall(SYS_read, file, data, bytes);
}
ssize_t write(int file, const void* data, size_t bytes) {
  count(WRITE, file);
  if (is_data(file)) {
    note_hash(data, bytes);
    if (is_lost(lseek(file, 0, SEEK_CUR))) return lseek(file, bytes, SEEK_CUR) < 0 ? -1 : (ssize_t)bytes;
  }
  return syscall(SYS_write, file, data, bytes);
}
ssize_t pread(int file, void* data, size_t bytes, off_t offset) {
  count(PREAD, file);
  return syscall(SYS_pread64, file, data, bytes, offset);
}
ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  count(PWRITE, file);
  if (is_data(file)) {
    note_hash(data, bytes);
    if (is_lost(offset)) return (ssize_t)bytes;
  }
  return syscall(SYS_pwrite64, file, data, bytes, offset);
}
ssize_t preadv(int file, const struct iovec* parts, int part_count, off_t offset) {
  count(PREADV, file);
  return syscall(SYS_preadv, file, parts, part_count, offset, 0L);
}
ssize_t pwritev(int file, const struct iovec* parts, int part_count, off_t offset) {
  count(PWRITEV, file);
  return syscall(SYS_pwritev, file, parts, part_count, offset, 0L);
}
int openat(int directory, const char* name, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const int mode = va_arg(list, int);
  va_end(list);
  const int file = (int)syscall(SYS_openat, directory, name, flags, mode);
  if (file >= 0) count(OPENAT, file);
  return file;
}
