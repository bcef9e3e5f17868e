// The operation table. Each row defines an operation by its access pattern, its system calls and its effect on files.
// `-i`, `--op`, plans, report titles and docs are derived from the table; adding an operation means adding a row.
// Metadata operations have their rows in metadata_operation.h.
#ifndef COMMON_MODEL_OPERATION_H_
#define COMMON_MODEL_OPERATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/enum_set.h"
#include "common/model/op.h"

namespace iobench {

enum class Pattern {
  kSequential,
  kBackward,
  kRandom,         // every record exactly once
  kStride,         // every record exactly once
  kFirstRecord,    // record 0 repeatedly
  kRandomMix,      // random order, each record once; reads by percentage, per op or per lane
  kSequentialMix,  // sequential; reads as in kRandomMix
};

// The calls that perform the ops. Engines with an API of their own map each to their equivalent; mmap, for example,
// copies memory for the first three.
enum class Call {
  kStream,      // read(), write() at the file position
  kPositional,  // pread(), pwrite()
  kVector,      // preadv(), pwritev() with up to kMaxRecordsPerVector records per call
  kStdio,       // fread(), fwrite() with a buffer of one record
  kCharacter,   // getc(), putc(): an op processes one record, character by character
  kMetadata,    // calls on names: open, stat, unlink …
};
using Calls = EnumSet<Call>;

inline constexpr uint32_t kMaxRecordsPerVector = 16;  // IOzone's PVECMAX

inline constexpr int kNotIozone = -1;

struct OperationSpec {
  std::string_view name;   // kebab-case
  std::string_view title;  // display name
  int iozone_number;       // number of IOzone's -i, or kNotIozone
  bool retest;             // the second operation of its pair; -+n omits it
  Pattern pattern;
  OpKinds kinds;
  Call call;
  bool creates_files;  // writes new files; otherwise uses existing ones, prefilled if needed
  bool needs_data;     // reads or changes existing data, which is prefilled if missing

  bool reads() const { return kinds.Has(OpKind::kRead) || kinds.Has(OpKind::kUpdate); }
  bool writes() const { return kinds.Has(OpKind::kWrite) || kinds.Has(OpKind::kUpdate); }
  bool mixes() const { return pattern == Pattern::kRandomMix || pattern == Pattern::kSequentialMix; }
  // The kind of all ops; for a mix, the kind of those ops that are not reads.
  OpKind kind() const {
    if (kinds.Has(OpKind::kUpdate)) return OpKind::kUpdate;
    return kinds.Has(OpKind::kWrite) ? OpKind::kWrite : OpKind::kRead;
  }
  // For a mix: the read percentage if none is given. (Bonnie's seekers rewrite one record in ten.)
  uint32_t default_read_percent() const { return kinds.Has(OpKind::kUpdate) ? 90 : 50; }
  bool is_metadata() const { return call == Call::kMetadata; }
};

// All operations in the order of IOzone's numbers, followed by those that IOzone does not have, metadata operations
// last. Valid until the program ends.
std::span<const OperationSpec> Operations();

// Finds an operation by name. NotFound: the message lists similar names.
absl::StatusOr<const OperationSpec*> FindOperation(std::string_view name);

// Accepts an IOzone number "0" … "12", which returns all operations of that number (retests last), or a name, which
// returns that operation. NotFound: the message says what is accepted.
absl::StatusOr<std::vector<const OperationSpec*>> OperationsFor(std::string_view number_or_name);

}  // namespace iobench

#endif  // COMMON_MODEL_OPERATION_H_
