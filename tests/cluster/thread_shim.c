/* LD_PRELOAD: pthread_create fails from its THREADS_ALLOWED-th call of a process on, with the errno THREADS_ERRNO. With
 * THREADS_OF=worker, only in processes whose first argument is "worker". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int concerns_this_process(void) {
  const char* const of = getenv("THREADS_OF");
  if (of == NULL) return 1;
  char line[4096] = "";
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? 0 : read(fd, line, sizeof line - 1);
  if (fd >= 0) close(fd);
  return size > 0 && strcmp(line + strlen(line) + 1, of) == 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static _Atomic int started;
  if (real == NULL) real = (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(RTLD_NEXT, "pthread_create");
  if (concerns_this_process() && atomic_fetch_add(&started, 1) >= atoi(getenv("THREADS_ALLOWED"))) return atoi(getenv("THREADS_ERRNO"));
  return real(thread, attributes, start, argument);
}
