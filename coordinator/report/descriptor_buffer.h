// A stream buffer for an open file that keeps errno. std::ofstream would lose the reason for a failed write.
#ifndef COORDINATOR_REPORT_DESCRIPTOR_BUFFER_H_
#define COORDINATOR_REPORT_DESCRIPTOR_BUFFER_H_

#include <array>
#include <cerrno>
#include <streambuf>
#include <string_view>

#include "coordinator/files/files.h"

namespace iobench {

// Borrows the file. Flush the stream to write buffered data.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(const files::HeldFile& file) : file_(file) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  // The errno of the first write that failed; 0: none has. Nothing is written after it.
  int errno_value() const { return errno_value_; }

 protected:
  int sync() override {
    const std::string_view bytes(pbase(), static_cast<size_t>(pptr() - pbase()));
    if (errno_value_ == 0 && !bytes.empty() && files::WriteAll(file_, bytes) != 0) errno_value_ = errno;
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return errno_value_ == 0 ? 0 : -1;
  }

  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }

 private:
  const files::HeldFile& file_;
  int errno_value_ = 0;
  std::array<char, 64 * 1024> buffer_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_DESCRIPTOR_BUFFER_H_
