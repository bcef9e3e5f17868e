/* LD_PRELOAD: makes the storage calls of one worker fail, hang or slow down once a file says so. The program makes them
 * with syscall(2)'s wrapper or, on names, with the functions of glibc below.
 *
 *   FAULT_ORDER   a file that does not exist at first. Then it contains one word:
 *                 an errno's number: calls fail with it, or "5x3": three of them; "hang": they never return; "slow": each
 *                 takes 20 ms longer
 *
 * Only threads other than the first are concerned, so that the program itself starts and ends as always. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NONE = 0, HANG = -1, SLOW = -2 };

static long (*real_syscall)(long, ...);
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
  char text[16] = "";
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return NONE;
  const char* const times = strchr(text, 'x');
  if (times != NULL) atomic_store(&left, atol(times + 1));
  atomic_store(&order, text[0] == 'h' ? HANG : text[0] == 's' ? SLOW : atoi(text));
  return atomic_load(&order);
}

/* Returns 1 if the call must fail with errno, which is set. */
static int strikes(void) {
  if (gettid() == getpid()) return 0;
  const int what = ordered();
  if (what == NONE) return 0;
  if (what == HANG) {
    for (;;) pause();
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
  real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  real_fstatat = (int (*)(int, const char*, struct stat*, int))dlsym(RTLD_NEXT, "fstatat");
}

long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  const int is_storage = number == SYS_read || number == SYS_write || number == SYS_pread64 || number == SYS_pwrite64;
  if (is_storage && strikes()) return -1;
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Prefills call this one, with more bytes than a manifest has. */
ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  return bytes >= 65536 && strikes() ? -1 : real_syscall(SYS_pwrite64, file, data, bytes, offset, 0, 0);
}

int fstatat(int directory, const char* name, struct stat* facts, int flags) {
  return strikes() ? -1 : real_fstatat(directory, name, facts, flags);
}
