// The operation table: an operation is data, an op stream x a call x what it does to files. `-i`, `--op`, the plan,
// the reports' titles and the docs are made from it; a new operation is a new row.
#ifndef COMMON_OPERATION_H_
#define COMMON_OPERATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/enum_set.h"
#include "common/op.h"

namespace iobench {

enum class Pattern {
  kSequential,
  kBackward,
  kRandom,         // every record exactly once
  kStride,         // every record exactly once
  kFirstRecord,    // record 0 again and again
  kRandomMix,      // random order, each record once; kind by percentage per op, or per lane
  kSequentialMix,  // in order; kind as in kRandomMix
};

// The calls that do it; an engine of its own does each where the system's do not fit (mmap copies for all of the first
// three).
enum class Call {
  kStream,      // read(), write() at the file position
  kPositional,  // pread(), pwrite()
  kVector,      // preadv(), pwritev(), up to kMostRecordsPerVector records each
  kStdio,       // fread(), fwrite() with a buffer of one record
  kCharacter,   // getc(), putc(): an op is a record of single characters
  kMetadata,    // on names: open, stat, unlink …
};
using Calls = EnumSet<Call>;

inline constexpr uint32_t kMostRecordsPerVector = 16;  // IOzone's PVECMAX

inline constexpr int kNotIozone = -1;

struct OperationSpec {
  std::string_view name;   // kebab-case, everywhere
  std::string_view title;  // for people
  int iozone_number;       // IOzone's -i; kNotIozone: it has none
  bool retest;             // the second of its pair; left out by -+n
  Pattern pattern;
  OpKinds kinds;
  Call call;
  bool creates_files;  // writes new files; otherwise the data must be there (prefilled if need be)
  bool needs_data;     // reads or changes existing data

  bool reads() const { return kinds.Has(OpKind::kRead) || kinds.Has(OpKind::kUpdate); }
  bool writes() const { return kinds.Has(OpKind::kWrite) || kinds.Has(OpKind::kUpdate); }
  bool mixes() const { return pattern == Pattern::kRandomMix || pattern == Pattern::kSequentialMix; }
  // Of an operation whose ops are all alike: their kind. Of a mix: the kind of those that are not reads.
  OpKind kind() const {
    if (kinds.Has(OpKind::kUpdate)) return OpKind::kUpdate;
    return kinds.Has(OpKind::kWrite) ? OpKind::kWrite : OpKind::kRead;
  }
  // Of a mix, where none is asked for. Bonnie's seekers rewrite one record in ten.
  uint32_t usual_read_percent() const { return kinds.Has(OpKind::kUpdate) ? 90 : 50; }
  bool is_metadata() const { return call == Call::kMetadata; }
};

// All operations, in the order of IOzone's numbers; those that IOzone does not have come last.
std::span<const OperationSpec> Operations();

// By name. NotFound lists near names.
absl::StatusOr<const OperationSpec*> FindOperation(std::string_view name);

// "0" … "12" gives the rows of that IOzone number (retests last), a name gives its row. NotFound says what is known.
absl::StatusOr<std::vector<const OperationSpec*>> OperationsFor(std::string_view number_or_name);

}  // namespace iobench

#endif  // COMMON_OPERATION_H_
