// The operation table. Each row defines an operation by its access pattern, its system calls and its effect on files.
// `-i`, `--op`, plans, report titles and docs are derived from the table; adding an operation means adding a row.
// Metadata operations have their rows in metadata_operation.h.
#ifndef COMMON_MODEL_OPERATION_H_
#define COMMON_MODEL_OPERATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/enum_set.h"
#include "common/model/op.h"

namespace iobench {

// The order in which a lane visits its records. With vectors, "record" means a whole vector of records.
enum class Pattern {
  kSequential,
  kBackward,
  // Random order, each record exactly once per pass.
  kRandom,
  // Every n-th record (-j), then the records in between, until each has been visited exactly once.
  kStride,
  // Record 0 of each file again and again, as many times as the file has records.
  kFirstRecord,
  // Random order, each record once. Reads are drawn by percentage, per op or per lane.
  kRandomMix,
  // Sequential order; reads are drawn as in kRandomMix.
  kSequentialMix,
};

// The calls that perform the ops. Engines with their own API map each to its equivalent; mmap, for example, copies
// memory for the first three.
enum class Call {
  kStream,      // read(), write() at the file position
  kPositional,  // pread(), pwrite()
  kVector,      // preadv(), pwritev() with up to kMaxRecordsPerVector adjacent records; a call is one op
  kStdio,       // fread(), fwrite() with a buffer of one record
  kCharacter,   // getc(), putc(): an op processes one record, character by character
  kMetadata,    // calls on names: open, stat, unlink …
};
using Calls = EnumSet<Call>;

// The number of records per vector, which is PVECMAX in IOzone.
inline constexpr uint32_t kMaxRecordsPerVector = 16;

// OperationSpec::iozone_number of operations that have a name only.
inline constexpr int kNotIozone = -1;

// One row of the table. Rows are constants; pointers to them stay valid until the program ends.
struct OperationSpec {
  std::string_view name;   // in kebab-case, as in plans, options and results
  std::string_view title;  // for headings of reports
  // The number that selects it with -i, or kNotIozone.
  int iozone_number;
  // The second operation of a pair such as write and rewrite; -+n leaves it out.
  bool retest;
  Pattern pattern;
  // All kinds that its ops can have; more than one only for a mix.
  OpKinds kinds;
  Call call;
  // The operation writes new files. Otherwise it uses existing files, which are prefilled if they are missing.
  bool creates_files;
  // The operation reads or changes existing data, which is prefilled if it is missing or too short.
  bool needs_data;
  // By default, each of its writes is followed by this flush call; its figure is the number of such pairs per second.
  std::optional<OpKind> flushes_each_with = std::nullopt;

  bool reads() const { return kinds.Has(OpKind::kRead) || kinds.Has(OpKind::kUpdate); }
  bool writes() const { return kinds.Has(OpKind::kWrite) || kinds.Has(OpKind::kUpdate); }
  bool mixes() const { return pattern == Pattern::kRandomMix || pattern == Pattern::kSequentialMix; }
  // Lanes may only read or only write. A rewrite of what was read is both.
  bool mixes_by_lane() const { return mixes() && !kinds.Has(OpKind::kUpdate); }
  // The kind of all ops; for a mix, the kind of those ops that are not reads.
  OpKind kind() const {
    if (kinds.Has(OpKind::kUpdate)) return OpKind::kUpdate;
    return kinds.Has(OpKind::kWrite) ? OpKind::kWrite : OpKind::kRead;
  }
  // For a mix: the read percentage if none is given. (Bonnie's seekers rewrite one record in ten.)
  uint32_t default_read_percent() const { return kinds.Has(OpKind::kUpdate) ? 90 : 50; }
  // Each op begins where the one before it ended.
  bool is_sequential() const { return pattern == Pattern::kSequential || pattern == Pattern::kSequentialMix; }
  bool is_random() const { return pattern == Pattern::kRandom || pattern == Pattern::kRandomMix; }
  // Its ops may have several sizes (Operation.records): a call moves one record, and no other op depends on its size.
  bool can_have_sizes() const {
    return (is_sequential() || is_random()) && (call == Call::kStream || call == Call::kPositional);
  }
  bool is_metadata() const { return call == Call::kMetadata; }
  // Its figure is ops/s in place of bytes/s. (Bonnie reports seeks per second.)
  bool headline_in_ops() const {
    return is_metadata() || flushes_each_with.has_value() || (mixes() && kinds.Has(OpKind::kUpdate));
  }
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
