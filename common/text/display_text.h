// Text for terminals: display width, shortening, and making external names safe to print.
#ifndef COMMON_TEXT_DISPLAY_TEXT_H_
#define COMMON_TEXT_DISPLAY_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// Makes an external name (host, file, mount, message) safe to print: control characters, escape sequences, line breaks,
// bidirectional control characters and bytes that are not UTF-8 become '?'. Other text is unchanged.
std::string Printable(std::string_view text);

// Returns the display width of printable UTF-8: 2 columns for East Asian wide characters and emoji, 0 for combining
// marks, 1 for all others.
size_t DisplayColumns(std::string_view text);

// Limits `text` to `columns` by removing its middle, since names often differ at their ends: "abc..xyz".
std::string Shortened(std::string_view text, size_t columns);

// Limits `text` to `columns` by removing its end, for names whose beginning matters most: "abcde..".
std::string CutAtEnd(std::string_view text, size_t columns);

// Limits each value between double quotes in `message` to 80 columns, with "…" in place of the removed part.
std::string WithShortValues(std::string_view message);

// Breaks text at spaces into lines of at most `columns`. Breaks a word only if it is longer than a line. Returns at
// least one line.
std::vector<std::string> Wrapped(std::string_view text, size_t columns);

}  // namespace iobench

#endif  // COMMON_TEXT_DISPLAY_TEXT_H_
