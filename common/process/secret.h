// Tokens and private keys in memory.
#ifndef COMMON_PROCESS_SECRET_H_
#define COMMON_PROCESS_SECRET_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace iobench {

// A text that nobody else may learn. Its memory is overwritten before it is freed; copies are secrets too, but what a
// library copies of it is beyond this. From the first secret that is not empty on, this process leaves no core dump: see
// secret.cc. As a value, as thread-safe as std::string.
class Secret {
 public:
  Secret() = default;
  Secret(std::string text);  // implicit, so that a new secret is one at once
  Secret(const char* text) : Secret(std::string(text)) {}
  Secret(const Secret& other) = default;
  Secret(Secret&& other) noexcept;
  Secret& operator=(const Secret& other);
  Secret& operator=(Secret&& other) noexcept;
  ~Secret() { Wipe(text_); }

  // Lend the text, which lives as long as this object.
  operator std::string_view() const { return text_; }
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  size_t size() const { return text_.size(); }
  friend bool operator==(const Secret& one, const Secret& other) { return one.text_ == other.text_; }

  // Overwrites all of a string's memory, beyond its end too, and empties it.
  static void Wipe(std::string& text);

 private:
  std::string text_;
};

}  // namespace iobench

#endif  // COMMON_PROCESS_SECRET_H_
