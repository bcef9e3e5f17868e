#include "coordinator/report/page/page_shell.h"

#ifdef IOBENCH_PAGE_FILE
// .incbin instead of an array in C++: the compiler would need seconds for two million numbers.
asm(".pushsection .rodata\n"
    "iobench_page_begin:\n"
    ".incbin \"" IOBENCH_PAGE_FILE
    "\"\n"
    "iobench_page_end:\n"
    ".popsection\n");
extern "C" {
extern const char iobench_page_begin[] __attribute__((visibility("hidden")));
extern const char iobench_page_end[] __attribute__((visibility("hidden")));
}

std::string_view iobench::PageShell() {
  return {iobench_page_begin, static_cast<size_t>(iobench_page_end - iobench_page_begin)};
}
#else
std::string_view iobench::PageShell() {
  return {};
}
#endif
