#include "common/text/terminal_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/numbers.h"
#include "common/text/display_text.h"

namespace iobench {
namespace {

constexpr size_t kMinColumns = 40;
constexpr size_t kMaxColumns = 160;
constexpr size_t kIndentColumns = 2;

// The columns that the terminal shows of a line, which may have escape sequences for colors.
size_t ShownColumns(std::string_view line) {
  size_t columns = DisplayColumns(line);
  for (size_t at = 0; (at = line.find("\033[", at)) != std::string_view::npos;) {
    const size_t end = line.find('m', at);
    if (end == std::string_view::npos) break;
    columns -= DisplayColumns(line.substr(at, end + 1 - at));
    at = end;
  }
  return columns;
}

// Adds one line, in several if it is wider than `columns`.
void AppendFitted(std::string_view line, size_t columns, std::string& lines) {
  if (ShownColumns(line) <= columns) {
    lines += line;
    return;
  }
  // The lines after the first are shorter, so the first is taken off alone.
  const std::string first = Wrapped(line, columns).front();
  lines += first;
  const size_t indent = std::min(std::min(line.find_first_not_of(' '), line.size()) + kIndentColumns, columns / 2);
  std::string_view rest = line.substr(first.size());
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
  for (const std::string& part : Wrapped(rest, columns - indent)) {
    lines.append(1, '\n').append(indent, ' ').append(part);
  }
}

}  // namespace

size_t TextColumns(int fd) {
  const char* const wanted = std::getenv("COLUMNS");
  unsigned columns = 0;
  if (wanted == nullptr || !absl::SimpleAtoi(wanted, &columns) || columns == 0) {
    struct winsize size = {};
    // A terminal of unknown size, such as that of a serial line, has 0 columns.
    columns = ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
  }
  return columns == 0 ? kPipedColumns : std::clamp<size_t>(columns, kMinColumns, kMaxColumns);
}

std::string LinesFor(int fd, std::string_view text) {
  if (::isatty(fd) != 1) return std::string(text);
  const size_t columns = TextColumns(fd);
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    AppendFitted(text.substr(0, end), columns, lines);
    if (end < text.size()) lines += '\n';
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

std::string Hanging(std::string_view begin, size_t indent, std::string_view text, size_t columns) {
  std::string lines(begin);
  size_t used = DisplayColumns(begin);
  if (used >= indent) {
    lines += '\n';
    used = 0;
  }
  for (const std::string& line : Wrapped(text, columns - std::min(columns, indent))) {
    if (line.empty()) return lines + '\n';
    lines.append(indent - used, ' ').append(line).append(1, '\n');
    used = 0;
  }
  return lines;
}

}  // namespace iobench
