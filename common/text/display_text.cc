#include "common/text/display_text.h"

#include <algorithm>
#include <cstdint>

namespace iobench {
namespace {

constexpr char32_t kInvalid = 0xffffffff;

// Removes the first character from `text`. Returns kInvalid and removes one byte if it is not valid UTF-8 (including
// overlong forms, surrogates and values above U+10FFFF).
char32_t ReadCharacter(std::string_view& text) {
  const auto byte = [&text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80   ? 1
                        : lead < 0xc2 ? 0
                        : lead < 0xe0 ? 2
                        : lead < 0xf0 ? 3
                        : lead < 0xf5 ? 4
                                      : 0;
  char32_t character = length == 1 ? lead : lead & (0x7fU >> length);
  bool valid = length != 0 && length <= text.size();
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xc0) == 0x80;
    character = character << 6 | (byte(i) & 0x3f);
  }
  valid = valid && !(length == 3 && (character < 0x800 || (character >= 0xd800 && character < 0xe000)));
  valid = valid && !(length == 4 && (character < 0x10000 || character > 0x10ffff));
  text.remove_prefix(valid ? length : 1);
  return valid ? character : kInvalid;
}

struct Range {
  char32_t first, last;
};

template <size_t n>
bool IsIn(char32_t character, const Range (&ranges)[n]) {
  return std::any_of(ranges, ranges + n,
                     [=](Range r) { return r.first <= character && character <= r.last; });
}

// C0, DEL, C1; soft hyphen; zero width, direction marks and separators; interlinear; byte order mark; tags.
constexpr Range kUnsafe[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},      {0x61c, 0x61c},
                             {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},  {0x2060, 0x206f},
                             {0xfeff, 0xfeff}, {0xfff0, 0xfffb}, {0xe0000, 0xe0fff}};
constexpr Range kCombining[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
                                {0x64b, 0x65f},   {0x6d6, 0x6dc},   {0x900, 0x902},   {0x93c, 0x93c},
                                {0x941, 0x948},   {0xe31, 0xe31},   {0xe34, 0xe3a},   {0x1ab0, 0x1aff},
                                {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr Range kWide[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97c},
                           {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                           {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
                           {0x20000, 0x3fffd}};

size_t ColumnsOf(char32_t character) {
  if (IsIn(character, kCombining)) return 0;
  return IsIn(character, kWide) ? 2 : 1;
}

// Returns the longest prefix of `text` that fits.
std::string_view Beginning(std::string_view text, size_t columns) {
  std::string_view rest = text;
  size_t used = 0;
  while (!rest.empty()) {
    std::string_view after = rest;
    used += ColumnsOf(ReadCharacter(after));
    if (used > columns) break;
    rest = after;
  }
  return text.substr(0, text.size() - rest.size());
}

// Returns the longest suffix of `text` that fits.
std::string_view End(std::string_view text, size_t columns) {
  size_t used = DisplayColumns(text);
  while (used > columns) used -= ColumnsOf(ReadCharacter(text));
  while (!text.empty()) {  // skip combining marks of the character before
    std::string_view after = text;
    if (ColumnsOf(ReadCharacter(after)) != 0) break;
    text = after;
  }
  return text;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::string_view before = text;
    const char32_t character = ReadCharacter(text);
    if (character == kInvalid || IsIn(character, kUnsafe)) {
      result += '?';
    } else {
      result += before.substr(0, before.size() - text.size());
    }
  }
  return result;
}

size_t DisplayColumns(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) columns += ColumnsOf(ReadCharacter(text));
  return columns;
}

std::string Shortened(std::string_view text, size_t columns) {
  if (DisplayColumns(text) <= columns) return std::string(text);
  if (columns <= 4) return std::string(Beginning(text, columns));
  const size_t end_columns = (columns - 2) / 2;
  return std::string(Beginning(text, columns - 2 - end_columns)) + ".." + std::string(End(text, end_columns));
}

std::string CutAtEnd(std::string_view text, size_t columns) {
  if (DisplayColumns(text) <= columns) return std::string(text);
  if (columns <= 4) return std::string(Beginning(text, columns));
  return std::string(Beginning(text, columns - 2)) + "..";
}

std::string WithShortValues(std::string_view message) {
  constexpr size_t kMaxColumns = 80;
  std::string result;
  for (bool quoted = false;; quoted = !quoted) {
    const size_t end = message.find('"');
    const std::string_view part = message.substr(0, end);
    const bool whole_value = quoted && end != std::string_view::npos;
    if (whole_value && DisplayColumns(part) > kMaxColumns) {
      result.append(Beginning(part, kMaxColumns - 1)).append("…");
    } else {
      result.append(part);
    }
    if (end == std::string_view::npos) return result;
    result += '"';
    message.remove_prefix(end + 1);
  }
}

std::vector<std::string> Wrapped(std::string_view text, size_t columns) {
  columns = std::max<size_t>(columns, 2);  // so that the widest character fits
  std::vector<std::string> lines;
  // Examines only one line of text at a time; measuring all the remaining text for each line would be quadratic.
  for (std::string_view line = Beginning(text, columns); line.size() < text.size();
       line = Beginning(text, columns)) {
    const bool at_word_end = text[line.size()] == ' ';
    const size_t space = line.rfind(' ');
    if (!at_word_end && space != std::string_view::npos && space > 0) line = line.substr(0, space);
    text.remove_prefix(line.size());
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    lines.emplace_back(line);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace iobench
