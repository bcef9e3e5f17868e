/* For libraries that are preloaded into the program: which calls are on the data of a run. */
#ifndef TESTS_SUPPORT_DATA_FILE_H_
#define TESTS_SUPPORT_DATA_FILE_H_

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns the part of the file's path after the data directory, in `path`; NULL: it is elsewhere. Lanes have descriptor
   tables of their own, so the thread's is read. */
static const char* place_in_data(int file, char* path, size_t path_bytes) {
  static const char directory[] = "/cluster-iobench.data/";
  char link[64];
  snprintf(link, sizeof link, "/proc/thread-self/fd/%d", file);
  const ssize_t size = readlink(link, path, path_bytes - 1);
  if (size <= 0) return NULL;
  path[size] = 0;
  const char* const found = strstr(path, directory);
  return found == NULL ? NULL : found + sizeof directory - 2; /* with the last slash */
}

#endif
