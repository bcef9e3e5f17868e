// The bundled page without data, as built from web/ and embedded into the program.
#ifndef COORDINATOR_REPORT_PAGE_PAGE_SHELL_H_
#define COORDINATOR_REPORT_PAGE_PAGE_SHELL_H_

#include <string_view>

namespace iobench {

// The placeholder for the data; it occurs once in the shell.
inline constexpr std::string_view kDataPlace = "@REPORT_DATA@";

// Empty: this program was built without the page.
std::string_view PageShell();

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PAGE_PAGE_SHELL_H_
