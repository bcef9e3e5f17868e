// Programs that are linked statically, and need no library of their host: cmake/Bundle.cmake makes them.
#ifndef COMMON_PROCESS_SELF_CONTAINED_H_
#define COMMON_PROCESS_SELF_CONTAINED_H_

namespace iobench {

// Whether this program is one of them. It must not load libraries: those of the host belong to another C library.
bool IsSelfContained();

// For main(), before the first lookup of a host, user or group: in a self-contained program, keeps the C library from
// loading the modules that the host's /etc/nsswitch.conf names. Only `files` and `dns`, which are built in, remain.
void KeepLookupsBuiltIn();

}  // namespace iobench

#endif  // COMMON_PROCESS_SELF_CONTAINED_H_
