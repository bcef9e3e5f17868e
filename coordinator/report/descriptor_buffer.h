// A stream buffer for a file descriptor that keeps errno. std::ofstream would lose the reason for a failed write.
#ifndef COORDINATOR_REPORT_DESCRIPTOR_BUFFER_H_
#define COORDINATOR_REPORT_DESCRIPTOR_BUFFER_H_

#include <unistd.h>

#include <array>
#include <cerrno>
#include <streambuf>

namespace iobench {

// Does not own the descriptor. Flush the stream to write buffered data.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  // The errno of the first write that failed; 0: none has. Nothing is written after it.
  int errno_value() const { return errno_value_; }

 protected:
  int sync() override {
    const char* from = pbase();
    while (from < pptr() && errno_value_ == 0) {
      const ssize_t written = ::write(fd_, from, static_cast<size_t>(pptr() - from));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        errno_value_ = errno;
      } else {
        from += written;
      }
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return errno_value_ == 0 ? 0 : -1;
  }

  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

 private:
  const int fd_;
  int errno_value_ = 0;
  std::array<char, 64 * 1024> buffer_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_DESCRIPTOR_BUFFER_H_
