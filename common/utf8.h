// Names from outside (paths, hosts, mounts) may hold any bytes; messages and JSON hold UTF-8 only, and one wrong byte
// makes the receiver refuse the whole message.
#ifndef COMMON_UTF8_H_
#define COMMON_UTF8_H_

#include <string>
#include <string_view>

namespace iobench {

// `text` with U+FFFD in place of what is not UTF-8.
std::string AsUtf8(std::string_view text);

inline bool IsUtf8(std::string_view text) {
  return AsUtf8(text) == text;
}

}  // namespace iobench

#endif  // COMMON_UTF8_H_
