// The operation table: an operation is data, an op stream x a call x what it does to files. `-i`, `--op`, the plan,
// the reports' titles and the docs are made from it; a new operation is a new row.
#ifndef COMMON_OPERATION_H_
#define COMMON_OPERATION_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

enum class Pattern {
  kSequential,
  kBackward,
  kRandom,       // every record exactly once
  kStride,       // every record exactly once
  kFirstRecord,  // record 0 again and again
  kRandomMix,    // random order, kind by percentage per op, or per lane
};

enum class Access { kRead, kWrite, kMixed };

// How the posix engine moves bytes: read()/write() at the file position, or pread()/pwrite().
enum class Call { kStream, kPositional };

struct OperationSpec {
  std::string_view name;   // kebab-case, everywhere
  std::string_view title;  // for people
  int iozone_number;       // IOzone's -i
  bool retest;             // the second of its pair; left out by -+n
  Pattern pattern;
  Access access;
  Call call;
  bool creates_files;  // writes new files; otherwise the data must be there (prefilled if need be)
  bool needs_data;     // reads or changes existing data
};

// All operations, in the order of IOzone's numbers.
std::span<const OperationSpec> Operations();

// By name. NotFound lists near names.
absl::StatusOr<const OperationSpec*> FindOperation(std::string_view name);

// "0" … "12" gives the rows of that IOzone number (retests last), a name gives its row. NotFound says what is known.
absl::StatusOr<std::vector<const OperationSpec*>> OperationsFor(std::string_view number_or_name);

}  // namespace iobench

#endif  // COMMON_OPERATION_H_
