/* LD_PRELOAD: fdatasync() of a file whose path contains $PLANNED_FILES flushes nothing, but takes a planned time: the
 * nanoseconds in the file $PLANNED_NS, one number a line, in turn and then from the first again. At the end of the process,
 * the times that the calls took are in the file $TAKEN_NS: more than planned where the processor did something else
 * meanwhile. Only one thread may make such calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PLANNED = 1 << 16, MAX_TAKEN = 1 << 20 };
static long planned[MAX_PLANNED], taken[MAX_TAKEN];
static long planned_count, taken_count;
static const char* files;

static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}

static int is_planned(int file) {
  char link[64], path[4096]; /* lanes have descriptor tables of their own */
  snprintf(link, sizeof link, "/proc/thread-self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return strstr(path, files) != NULL;
}

int fdatasync(int file) {
  const long begin = now_ns();
  if (planned_count == 0 || !is_planned(file)) {
    int (*const real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    return real(file);
  }
  const long end = begin + planned[taken_count % planned_count];
  enum { SPIN_NS = 100000 }; /* a sleep may end late */
  if (end - begin > SPIN_NS) {
    const struct timespec until = {(end - SPIN_NS) / 1000000000, (end - SPIN_NS) % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  }
  long now = now_ns();
  while (now < end) now = now_ns();
  if (taken_count == MAX_TAKEN) abort();
  taken[taken_count++] = now - begin;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  files = getenv("PLANNED_FILES");
  const char* const path = getenv("PLANNED_NS");
  FILE* const plan = path == NULL || files == NULL ? NULL : fopen(path, "re");
  if (plan == NULL) return;
  while (planned_count < MAX_PLANNED && fscanf(plan, "%ld", &planned[planned_count]) == 1) ++planned_count;
  fclose(plan);
}

__attribute__((destructor)) static void end(void) {
  const char* const path = getenv("TAKEN_NS");
  FILE* const out = path == NULL || taken_count == 0 ? NULL : fopen(path, "we");
  if (out == NULL) return;
  for (long i = 0; i < taken_count; ++i) fprintf(out, "%ld\n", taken[i]);
  fclose(out);
}
