#include "common/model/engine.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/near_names.h"

namespace iobench {
namespace {

using F = EngineFeature;

constexpr Calls kRecordCalls = {Call::kStream, Call::kPositional, Call::kVector};

// clang-format off
constexpr EngineSpec kEngines[] = {
    // name       what                              files  mounted calls
    {"posix",     "read, write, pread … pwritev",   true,  true,   kRecordCalls,
     {F::kUpdate, F::kDirect, F::kSync, F::kFileLock, F::kRecordLocks, F::kJitter, F::kFileAdvice, F::kBuffers,
      F::kPreallocate, F::kInterleaved, F::kLibcCalls, F::kFlushCallChoice}},
    {"stdio",     "fread, fwrite, getc, putc",      true,  true,   {Call::kStdio, Call::kCharacter},
     {F::kSync, F::kFileLock, F::kFileAdvice, F::kBuffers, F::kPreallocate, F::kLibcCalls, F::kFlushCallChoice}},
    {"mmap",      "memcpy of mapped files",         true,  true,   kRecordCalls,
     {F::kUpdate, F::kFileLock, F::kRecordLocks, F::kFileAdvice, F::kMapping, F::kBuffers, F::kPreallocate,
      F::kLibcCalls}},
    {"posix-aio", "aio_read, aio_write, --depth",   true,  true,   kRecordCalls,
     {F::kDirect, F::kSync, F::kQueue, F::kCopy, F::kFileLock, F::kFileAdvice, F::kPreallocate, F::kLibcCalls,
      F::kFlushCallChoice},
     CallThreads::kShared},
    {"uring",     "io_uring, --depth ops in flight", true, true,   kRecordCalls,
     {F::kDirect, F::kSync, F::kQueue, F::kFileLock, F::kFileAdvice, F::kPreallocate, F::kFlushCallChoice},
     CallThreads::kKernel},
    {"libnfs",    "NFSv3 without a mount, --depth", true,  false,  kRecordCalls, {F::kSync, F::kQueue}},
    {"mpiio",     "MPI-IO, one rank or all together", true, true, kRecordCalls, {F::kInterleaved, F::kMpiIo},
     CallThreads::kShared},
    {"metadata",  "calls on names",                 true,  true,   Call::kMetadata,
     {F::kSync, F::kPreallocate, F::kLibcCalls}},
    {"sim",       "simulated storage, sim:KEY=VALUE,…", false, false,
     {Call::kStream, Call::kPositional, Call::kVector, Call::kStdio, Call::kCharacter, Call::kMetadata},
     {F::kDirect, F::kSync, F::kInterleaved, F::kQueue, F::kFlushCallChoice}},
    {"null",      "moves nothing: measures the tool", false, false,
     {Call::kStream, Call::kPositional, Call::kVector, Call::kStdio, Call::kCharacter, Call::kMetadata},
     {F::kUpdate, F::kDirect, F::kSync, F::kInterleaved, F::kFlushCallChoice}},
};
// clang-format on

// Names that other tools use for our engines.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"io_uring", "uring"},     {"io-uring", "uring"}, {"liburing", "uring"},
    {"posixaio", "posix-aio"}, {"psync", "posix"},    {"nfs", "libnfs"},      {"mpi-io", "mpiio"},
};

}  // namespace

std::span<const EngineSpec> Engines() {
  return kEngines;
}

absl::StatusOr<const EngineSpec*> FindEngine(std::string_view name) {
  std::string_view ours = name;
  for (const auto& [alias, engine] : kAliases) {
    if (alias == name) ours = engine;
  }
  for (const EngineSpec& engine : kEngines) {
    if (engine.name == ours) return &engine;
  }
  std::vector<std::string_view> names;
  for (const EngineSpec& engine : kEngines) names.push_back(engine.name);
  const auto append = [](std::string* text, std::string_view each) { text->append(each); };
  return absl::NotFoundError(absl::StrCat("unknown engine \"", std::string(name), "\"; there are: ",
                                          absl::StrJoin(names, ", ", append), DidYouMean(name, names)));
}

absl::StatusOr<const EngineSpec*> EngineFor(const OperationSpec& operation, std::string_view name) {
  auto engine = FindEngine(name);
  if (!engine.ok()) return absl::InvalidArgumentError(engine.status().message());
  const bool updates = operation.kinds.Has(OpKind::kUpdate);
  if ((*engine)->calls.Has(operation.call) && (!updates || (*engine)->Can(EngineFeature::kUpdate))) {
    return engine;
  }
  if ((*engine)->name == kDefaultEngine) {
    for (const EngineSpec& other : kEngines) {
      if (other.uses_files && other.calls.Has(operation.call)) return &other;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("engine ", std::string(name), " cannot do ",
                                                 std::string(operation.name), ": leave one of the two out"));
}

std::string EnginesWith(EngineFeature feature) {
  std::string names;
  for (const EngineSpec& engine : kEngines) {
    if (!engine.uses_files || !engine.Can(feature)) continue;
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(engine.name));
  }
  return names;
}

bool EngineUsesFiles(std::string_view name) {
  const auto engine = FindEngine(name);
  return engine.ok() && (*engine)->uses_files;
}

}  // namespace iobench
