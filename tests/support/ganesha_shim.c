// Preloaded into ganesha.nfsd, so that the tests need no service and no file of the host.
//
// ganesha registers its ports with rpcbind and ends when there is none. The tests name its ports in their URLs, so
// nobody needs to ask rpcbind, and an rpcbind of the host must not hear of these ports either.
//
// ganesha finds the file system of an export in /etc/mtab, which systemd makes at boot; a chroot or a container may have
// none, and then ganesha refuses every mount without a reason. The kernel's own list has the same content.
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

bool rpcb_set(unsigned program, unsigned version, const void* config, const void* address) {
  (void)program;
  (void)version;
  (void)config;
  (void)address;
  return true;
}

bool rpcb_unset(unsigned program, unsigned version, const void* config) {
  (void)program;
  (void)version;
  (void)config;
  return true;
}

FILE* setmntent(const char* path, const char* mode) {
  return fopen(strcmp(path, MOUNTED) == 0 ? "/proc/self/mounts" : path, mode);
}
