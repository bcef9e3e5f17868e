// Helpers for tests of the console's text.
#ifndef TESTS_UNIT_CONSOLE_TEXT_H_
#define TESTS_UNIT_CONSOLE_TEXT_H_

#include <sstream>
#include <string>
#include <vector>

namespace iobench {

inline std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline ConsoleStyle Brief() {
  ConsoleStyle style;
  style.detail = Detail::kBrief;
  return style;
}

}  // namespace iobench

#endif  // TESTS_UNIT_CONSOLE_TEXT_H_
