// UTF-8 checks for external names. Paths, hosts and mounts may contain any bytes, but protobuf strings and JSON must be
// UTF-8: one invalid byte would make the receiver reject the whole message.
#ifndef COMMON_TEXT_UTF8_H_
#define COMMON_TEXT_UTF8_H_

#include <string>
#include <string_view>

namespace iobench {

// Returns `text` with U+FFFD in place of each invalid byte sequence.
std::string AsUtf8(std::string_view text);

// Overlong forms, surrogates and characters above U+10FFFF are invalid, as protobuf and JSON see them.
inline bool IsUtf8(std::string_view text) {
  return AsUtf8(text) == text;
}

}  // namespace iobench

#endif  // COMMON_TEXT_UTF8_H_
