// Text for a terminal: how wide it stands there, and names from outside made safe to print.
#ifndef COORDINATOR_REPORT_DISPLAY_TEXT_H_
#define COORDINATOR_REPORT_DISPLAY_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// A name from outside (host, file, mount, message) as it may be printed: control characters, escape sequences, line
// breaks, characters that change the writing direction and bytes that are not UTF-8 become '?'. The rest stays.
std::string Printable(std::string_view text);

// Columns that printable UTF-8 takes: 2 for East Asian wide characters and emoji, 0 for combining marks, else 1.
size_t DisplayColumns(std::string_view text);

// `text` in at most `columns`: a longer one loses its middle, since names often differ at the ends: "abc..xyz".
std::string Shortened(std::string_view text, size_t columns);

// The same for names that say at their beginning what they are: "abcde..".
std::string CutAtEnd(std::string_view text, size_t columns);

// A message in which each value that stands between double quotes has at most 80 columns, "…" in place of the rest.
std::string WithShortValues(std::string_view message);

// Lines of at most `columns`, broken at spaces; a single longer word is broken where it must be. At least one line.
std::vector<std::string> Wrapped(std::string_view text, size_t columns);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_DISPLAY_TEXT_H_
