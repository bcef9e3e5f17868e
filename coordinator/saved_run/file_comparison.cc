#include "coordinator/saved_run/file_comparison.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/file_kind.h"

namespace iobench {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18;

// Compares what is written to it with a file. `saved` must outlive it.
class Comparison final : public std::streambuf {
 public:
  explicit Comparison(PieceReader& saved) : saved_(saved) {}
  // Returns the line in which the file first differs from everything that was written; empty: in none.
  std::string LineOfDifference() {
    return differs_ || !saved_.Piece().empty() ? absl::StrCat("line ", 1 + equal_lines_) : "";
  }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize bytes) override {
    Compare({text, static_cast<size_t>(bytes)});
    return bytes;
  }
  int_type overflow(int_type c) override {
    const char one = traits_type::to_char_type(c);
    if (!traits_type::eq_int_type(c, traits_type::eof())) Compare({&one, 1});
    return traits_type::not_eof(c);
  }

 private:
  void Compare(std::string_view computed) {
    while (!computed.empty() && !differs_) {
      const std::string_view saved = saved_.Piece().substr(0, computed.size());
      const auto equal_end = std::mismatch(saved.begin(), saved.end(), computed.begin()).first;
      equal_lines_ += std::count(saved.begin(), equal_end, '\n');
      differs_ = saved.empty() || equal_end != saved.end();
      saved_.Take(saved.size());
      computed.remove_prefix(saved.size());
    }
  }

  PieceReader& saved_;
  int64_t equal_lines_ = 0;
  bool differs_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<PieceReader>> PieceReader::Open(const std::string& path) {
  std::string name = absl::StrCat("result ", path);
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(name, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return ErrnoStatus(name, errno);
  if (!S_ISREG(facts.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": not a regular file, but ", std::string(KindOfFile(facts.st_mode))));
  }
  return std::unique_ptr<PieceReader>(new PieceReader(std::move(file), std::move(name)));
}

PieceReader::PieceReader(UniqueFd file, std::string name)
    : file_(std::move(file)), name_(std::move(name)), piece_(kPieceBytes, '\0') {}

std::string_view PieceReader::Piece() {
  if (traits_type::eq_int_type(underflow(), traits_type::eof())) return {};
  return {gptr(), static_cast<size_t>(egptr() - gptr())};
}

PieceReader::int_type PieceReader::underflow() {
  while (gptr() == egptr() && status_.ok()) {
    const ssize_t moved = ::read(file_.get(), piece_.data(), piece_.size());
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) status_ = ErrnoStatus(name_, errno);
    if (moved == 0) break;
    if (moved > 0) setg(piece_.data(), piece_.data(), piece_.data() + moved);
  }
  return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

absl::StatusOr<std::string> LineOfFirstDifference(
    const std::string& path, const std::function<absl::Status(std::ostream& out)>& write) {
  IOBENCH_ASSIGN_OR_RETURN(const auto saved, PieceReader::Open(path));
  Comparison comparison(*saved);
  std::ostream out(&comparison);
  IOBENCH_RETURN_IF_ERROR(Annotate(write(out), absl::StrCat("result ", path)));
  std::string line = comparison.LineOfDifference();
  IOBENCH_RETURN_IF_ERROR(saved->status());
  return line;
}

}  // namespace iobench
