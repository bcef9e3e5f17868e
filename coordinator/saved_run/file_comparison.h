// Compares saved files of any length with what is computed again, piece by piece: results of a long run take gigabytes.
#ifndef COORDINATOR_SAVED_RUN_FILE_COMPARISON_H_
#define COORDINATOR_SAVED_RUN_FILE_COMPARISON_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/unique_fd.h"

namespace iobench {

// Reads a regular file, of which it keeps one piece in memory.
class PieceReader final : public std::streambuf {
 public:
  // Errors, also those of status(), begin with "result PATH". InvalidArgument: not a regular file, such as a FIFO,
  // which is never waited for.
  static absl::StatusOr<std::unique_ptr<PieceReader>> Open(const std::string& path);

  // Returns the part of the file that follows what was taken; empty: the file ends there, or status() is an error.
  std::string_view Piece();
  // REQUIRES: at most as many as Piece() has.
  void Take(size_t bytes) { gbump(static_cast<int>(bytes)); }
  const absl::Status& status() const { return status_; }

 protected:
  int_type underflow() override;

 private:
  PieceReader(UniqueFd file, std::string name);

  const UniqueFd file_;
  const std::string name_;
  std::string piece_;
  absl::Status status_;
};

// Returns the line in which the file first differs from what `write` writes, such as "line 3"; empty: in none. Keeps
// neither of the two in memory. Errors, also those of `write`, begin with "result PATH".
absl::StatusOr<std::string> LineOfFirstDifference(
    const std::string& path, const std::function<absl::Status(std::ostream& out)>& write);

}  // namespace iobench

#endif  // COORDINATOR_SAVED_RUN_FILE_COMPARISON_H_
