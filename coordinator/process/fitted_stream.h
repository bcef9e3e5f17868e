// Standard error on a terminal: lines that are too long for it are broken at spaces.
#ifndef COORDINATOR_PROCESS_FITTED_STREAM_H_
#define COORDINATOR_PROCESS_FITTED_STREAM_H_

#include <memory>
#include <ostream>
#include <streambuf>

namespace iobench {

// While it lives, what is written to `stream` goes to `fd` line by line, each as LinesFor has it; a line without an end
// follows when this is destroyed. Does nothing if `fd` is no terminal. Any thread may write. `stream` must outlive it.
class FittedStream {
 public:
  FittedStream(std::ostream& stream, int fd);
  ~FittedStream();
  FittedStream(const FittedStream&) = delete;
  FittedStream& operator=(const FittedStream&) = delete;

 private:
  std::ostream& stream_;
  std::unique_ptr<std::streambuf> buffer_;  // null: no terminal
  std::streambuf* before_ = nullptr;
};

}  // namespace iobench

#endif  // COORDINATOR_PROCESS_FITTED_STREAM_H_
