/* LD_PRELOAD: makes the storage calls of one worker fail, hang or slow down once a file says so. With a
 * preloaded library, the program makes them with the functions of glibc below.
 *
 *   FAULT_ORDER   a file that does not exist at first. Then it contains one word:
 *                 an errno's number: calls fail with it, or "5x3": three of them; "hang": they never return; "gate": they wait until
 *                 somebody opens the FIFO $FAULT_ORDER.gate for writing, and go on; "flush": only fsync() does; "slow": each takes 20 ms longer. With "@123" behind the word, only process 123 obeys
 *
 * Only threads other than the first are concerned, so that the program itself starts and ends as always. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "data_file.h"

enum { NONE = 0, HANG = -1, SLOW = -2, GATE = -3, FLUSH = -4 };

static int (*real_fstatat)(int, const char*, struct stat*, int);

static _Atomic int order;
static _Atomic long left = -1; /* failures that are still to come; < 0: no end */

static int ordered(void) {
  static _Atomic long looked_ms;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const long now_ms = now.tv_sec * 1000 + now.tv_nsec / 1000000;
  if (atomic_load(&order) != NONE || now_ms - atomic_load(&looked_ms) < 10) return atomic_load(&order);
  atomic_store(&looked_ms, now_ms);
  const char* const file = getenv("FAULT_ORDER");
  const int fd = file == NULL ? -1 : open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NONE;
  char text[32] = "";
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return NONE;
  const char* const only = strchr(text, '@');
  if (only != NULL && atol(only + 1) != getpid()) return NONE;
  const char* const times = strchr(text, 'x');
  if (times != NULL) atomic_store(&left, atol(times + 1));
  atomic_store(&order, text[0] == 'h' ? HANG : text[0] == 's' ? SLOW : text[0] == 'g' ? GATE : text[0] == 'f' ? FLUSH : atoi(text));
  return atomic_load(&order);
}

static void wait_at_gate(void) {
  char gate[4096];
  snprintf(gate, sizeof gate, "%s.gate", getenv("FAULT_ORDER"));
  const int fd = open(gate, O_RDONLY | O_CLOEXEC); /* returns when it has a writer */
  if (fd >= 0) close(fd);
}

/* Returns 1 if the call must fail with errno, which is set. */
static int strikes(void) {
  if (gettid() == getpid()) return 0;
  const int what = ordered();
  if (what == NONE) return 0;
  if (what == HANG) {
    for (;;) pause();
  }
  if (what == FLUSH) return 0;
  if (what == GATE) {
    wait_at_gate();
    return 0;
  }
  if (what == SLOW) {
    const struct timespec longer = {0, 20000000};
    nanosleep(&longer, NULL);
    return 0;
  }
  if (atomic_load(&left) == 0) return 0;
  if (atomic_load(&left) > 0) atomic_fetch_sub(&left, 1);
  errno = what;
  return 1;
}

__attribute__((constructor)) static void find_real(void) {
  real_fstatat = (int (*)(int, const char*, struct stat*, int))dlsym(RTLD_NEXT, "fstatat");
}

static int is_data(int file) {
  char path[4096];
  const char* const ours = place_in_data(file, path, sizeof path);
  return ours != NULL && strstr(ours, "manifest") == NULL;
}

static int struck(int file) { return gettid() != getpid() && is_data(file) && strikes(); }

ssize_t read(int file, void* data, size_t bytes) { return struck(file) ? -1 : syscall(SYS_read, file, data, bytes); }

ssize_t write(int file, const void* data, size_t bytes) {
  return struck(file) ? -1 : syscall(SYS_write, file, data, bytes);
}

ssize_t pread(int file, void* data, size_t bytes, off_t offset) {
  return struck(file) ? -1 : syscall(SYS_pread64, file, data, bytes, offset);
}

/* Prefills call this one, too. */
ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  return struck(file) ? -1 : syscall(SYS_pwrite64, file, data, bytes, offset);
}

int fsync(int file) {
  if (gettid() != getpid() && is_data(file) && ordered() == FLUSH) wait_at_gate();
  return struck(file) ? -1 : (int)syscall(SYS_fsync, file);
}

/* The ops on names. A lane also looks at its own files before a phase, which is no op. */
int fstatat(int directory, const char* name, struct stat* facts, int flags) {
  const int is_op = strncmp(name, "lane-", 5) != 0;
  return is_op && strikes() ? -1 : real_fstatat(directory, name, facts, flags);
}
