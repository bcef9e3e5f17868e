#include "coordinator/process/fitted_stream.h"

#include <unistd.h>

#include <string>
#include <string_view>

#include "common/mutex.h"
#include "common/text/terminal_width.h"

namespace iobench {
namespace {

class LineBuffer final : public std::streambuf {
 public:
  LineBuffer(std::streambuf& out, int fd) : out_(out), fd_(fd) {}
  ~LineBuffer() override {
    if (!line_.empty()) Put(LinesFor(fd_, line_));
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const MutexLock lock(mutex_);
    Add({text, static_cast<size_t>(size)});
    return size;
  }
  int overflow(int character) override {
    if (character == traits_type::eof()) return 0;
    const char one = static_cast<char>(character);
    const MutexLock lock(mutex_);
    Add({&one, 1});
    return character;
  }
  // A stream such as std::cerr asks for it after each piece of a line, which is not whole then.
  int sync() override { return out_.pubsync(); }

 private:
  void Add(std::string_view text) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
      line_ += text.substr(0, end);
      Put(LinesFor(fd_, line_) + '\n');
      line_.clear();
    }
    line_ += text;
  }
  void Put(const std::string& text) { out_.sputn(text.data(), static_cast<std::streamsize>(text.size())); }

  std::streambuf& out_;
  const int fd_;
  Mutex mutex_;
  std::string line_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

FittedStream::FittedStream(std::ostream& stream, int fd) : stream_(stream) {
  if (::isatty(fd) != 1) return;
  before_ = stream.rdbuf();
  buffer_ = std::make_unique<LineBuffer>(*before_, fd);
  stream.rdbuf(buffer_.get());
}

FittedStream::~FittedStream() {
  if (buffer_ != nullptr) stream_.rdbuf(before_);
}

}  // namespace iobench
