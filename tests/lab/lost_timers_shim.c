// Preloaded into linux.uml by one test. While the file /mnt/lab/lost_timers exists, one of 20 timers that the host's kernel sets is
// never set: what becomes of a timer signal that the kernel loses.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

typedef int (*SetTime)(timer_t, int, const struct itimerspec*, struct itimerspec*);

int timer_settime(timer_t timer, int flags, const struct itimerspec* next, struct itimerspec* previous) {
  static SetTime set;
  static int calls;
  if (set == NULL) set = (SetTime)dlsym(RTLD_NEXT, "timer_settime");
  if (++calls % 20 == 0 && access("/mnt/lab/lost_timers", F_OK) == 0) return 0;
  return set(timer, flags, next, previous);
}
