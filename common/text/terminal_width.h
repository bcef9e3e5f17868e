// How wide text for people is: as wide as the terminal that it goes to.
#ifndef COMMON_TEXT_TERMINAL_WIDTH_H_
#define COMMON_TEXT_TERMINAL_WIDTH_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace iobench {

// For files and pipes, so that their lines are the same everywhere.
inline constexpr size_t kPipedColumns = 100;

// The columns for text on `fd`: those that the environment asks for with COLUMNS, as for other programs; or those of the
// terminal; or kPipedColumns if it is none or does not tell them. Longer lines than 160 columns are hard to read, and
// shorter ones than 40 hold no table.
size_t TextColumns(int fd);

// Returns `text`, lines for people, as it is to be written to `fd`: on a terminal, lines that are too long are broken at spaces,
// with two more blanks before what follows; elsewhere as it is, since programs read it line by line.
std::string LinesFor(int fd, std::string_view text);

// Returns `begin`, and `text` beside it in lines of at most `columns` that start at column `indent`; below it if `begin`
// reaches that column. Ends with a newline.
std::string Hanging(std::string_view begin, size_t indent, std::string_view text, size_t columns);

}  // namespace iobench

#endif  // COMMON_TEXT_TERMINAL_WIDTH_H_
