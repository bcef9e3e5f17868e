#include "common/process/self_contained.h"

#include <link.h>
#include <netdb.h>
#include <nss.h>

#include <cstddef>
#include <initializer_list>

namespace iobench {

bool IsSelfContained() {
  // The first object is the program itself. What needs a dynamic loader names it, also if the loader was started by hand.
  return dl_iterate_phdr(
             [](dl_phdr_info* program, size_t, void*) {
               for (int i = 0; i < program->dlpi_phnum; ++i) {
                 if (program->dlpi_phdr[i].p_type == PT_INTERP) return 1;
               }
               return 2;
             },
             nullptr) == 2;
}

void KeepLookupsBuiltIn() {
  if (!IsSelfContained()) return;
  __nss_configure_lookup("hosts", "files dns");
  for (const char* database : {"passwd", "group", "initgroups", "services", "protocols", "networks"}) {
    __nss_configure_lookup(database, "files");
  }
}

}  // namespace iobench
