#include "common/model/operation.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/model/metadata_operation.h"
#include "common/text/near_names.h"

namespace iobench {
namespace {

constexpr auto kSequential = Pattern::kSequential;
constexpr OpKinds kRead = OpKind::kRead;
constexpr OpKinds kWrite = OpKind::kWrite;
constexpr OpKinds kBoth = {OpKind::kRead, OpKind::kWrite};
constexpr OpKinds kReadUpdate = {OpKind::kRead, OpKind::kUpdate};
constexpr int kNo = kNotIozone;
constexpr auto kStream = Call::kStream;
constexpr auto kPositional = Call::kPositional;
constexpr auto kVector = Call::kVector;
constexpr auto kStdio = Call::kStdio;
constexpr auto kCharacter = Call::kCharacter;

// clang-format off
constexpr OperationSpec kOnRecords[] = {
    // name            title             -i  retest pattern                 kinds           call         creates needs
    {"write",          "initial write",   0, false, kSequential,            kWrite,         kStream,     true,   false},
    {"rewrite",        "rewrite",         0, true,  kSequential,            kWrite,         kStream,     false,  true},
    {"read",           "read",            1, false, kSequential,            kRead,          kStream,     false,  true},
    {"reread",         "re-read",         1, true,  kSequential,            kRead,          kStream,     false,  true},
    {"random-read",    "random read",     2, false, Pattern::kRandom,       kRead,          kPositional, false,  true},
    {"random-write",   "random write",    2, false, Pattern::kRandom,       kWrite,         kPositional, false,  true},
    {"backward-read",  "backward read",   3, false, Pattern::kBackward,     kRead,          kPositional, false,  true},
    {"record-rewrite", "record rewrite",  4, false, Pattern::kFirstRecord,  kWrite,         kPositional, false,  true},
    {"stride-read",    "stride read",     5, false, Pattern::kStride,       kRead,          kPositional, false,  true},
    {"fwrite",         "fwrite",          6, false, kSequential,            kWrite,         kStdio,      true,   false},
    {"refwrite",       "re-fwrite",       6, true,  kSequential,            kWrite,         kStdio,      false,  true},
    {"fread",          "fread",           7, false, kSequential,            kRead,          kStdio,      false,  true},
    {"refread",        "re-fread",        7, true,  kSequential,            kRead,          kStdio,      false,  true},
    {"random-mix",     "random mix",      8, false, Pattern::kRandomMix,    kBoth,          kPositional, false,  true},
    {"pwrite",         "pwrite",          9, false, kSequential,            kWrite,         kPositional, true,   false},
    {"repwrite",       "re-pwrite",       9, true,  kSequential,            kWrite,         kPositional, false,  true},
    {"pread",          "pread",          10, false, kSequential,            kRead,          kPositional, false,  true},
    {"repread",        "re-pread",       10, true,  kSequential,            kRead,          kPositional, false,  true},
    {"pwritev",        "pwritev",        11, false, Pattern::kRandom,       kWrite,         kVector,     true,   false},
    {"repwritev",      "re-pwritev",     11, true,  Pattern::kRandom,       kWrite,         kVector,     false,  true},
    {"preadv",         "preadv",         12, false, Pattern::kRandom,       kRead,          kVector,     false,  true},
    {"repreadv",       "re-preadv",      12, true,  Pattern::kRandom,       kRead,          kVector,     false,  true},
    {"sequential-mix", "sequential mix", kNo, false, Pattern::kSequentialMix, kBoth,        kStream,     false,  true},
    {"putc",           "putc",           kNo, false, kSequential,           kWrite,         kCharacter,  true,   false},
    {"getc",           "getc",           kNo, false, kSequential,           kRead,          kCharacter,  false,  true},
    {"update",         "read-change-write", kNo, false, kSequential,        OpKind::kUpdate, kStream,    false,  true},
    {"seeks",          "random seeks",   kNo, false, Pattern::kRandomMix,   kReadUpdate,    kPositional, false,  true},
    {"append-log",     "append to a log", kNo, false, kSequential,          kWrite,         kStream,     true,   false,
     OpKind::kFdatasync},
};
// clang-format on

// The metadata operations, which have a table of their own, come last.
std::vector<OperationSpec> AllOperations() {
  std::vector<OperationSpec> all(std::begin(kOnRecords), std::end(kOnRecords));
  for (const MetadataSpec& spec : MetadataOperations()) {
    all.push_back({.name = spec.name,
                   .title = spec.title,
                   .iozone_number = kNotIozone,
                   .retest = false,
                   .pattern = kSequential,
                   .kinds = spec.kinds(),
                   .call = Call::kMetadata,
                   .creates_files = false,
                   .needs_data = false});
  }
  return all;
}

// "0 write, rewrite; 1 read, reread; …"
std::string KnownOperations() {
  std::string known;
  std::optional<int> number;
  for (const OperationSpec& operation : Operations()) {
    if (operation.iozone_number == number) {
      known += ", ";
    } else if (operation.iozone_number == kNotIozone) {
      known += "; and by name ";
    } else {
      absl::StrAppend(&known, known.empty() ? "" : "; ", operation.iozone_number, " ");
    }
    known += operation.name;
    number = operation.iozone_number;
  }
  return known;
}

}  // namespace

std::span<const OperationSpec> Operations() {
  static const std::vector<OperationSpec> all = AllOperations();
  return all;
}

absl::StatusOr<const OperationSpec*> FindOperation(std::string_view name) {
  for (const OperationSpec& operation : Operations()) {
    if (operation.name == name) return &operation;
  }
  std::vector<std::string_view> names;
  for (const OperationSpec& operation : Operations()) names.push_back(operation.name);
  const std::string hint = DidYouMean(name, names);
  return absl::NotFoundError(
      absl::StrCat("unknown operation \"", std::string(name), "\"",
                   hint.empty() ? absl::StrCat("; known: ", KnownOperations()) : hint));
}

absl::StatusOr<std::vector<const OperationSpec*>> OperationsFor(std::string_view number_or_name) {
  const bool is_number = !number_or_name.empty() &&
                         std::all_of(number_or_name.begin(), number_or_name.end(), absl::ascii_isdigit);
  if (!is_number) {
    absl::StatusOr<const OperationSpec*> operation = FindOperation(number_or_name);
    if (!operation.ok()) return operation.status();
    return std::vector<const OperationSpec*>{*operation};
  }
  int number = -1;
  std::vector<const OperationSpec*> rows;
  if (absl::SimpleAtoi(std::string(number_or_name), &number)) {
    for (const OperationSpec& operation : Operations()) {
      if (operation.iozone_number == number) rows.push_back(&operation);
    }
  }
  if (rows.empty()) {
    return absl::NotFoundError(absl::StrCat("unknown operation number ", std::string(number_or_name),
                                            "; known: ", KnownOperations()));
  }
  return rows;
}

}  // namespace iobench
