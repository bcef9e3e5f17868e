#include "common/model/engine.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/text/near_names.h"

namespace iobench {
namespace {

// clang-format off
constexpr EngineSpec kEngines[] = {
    // name   what                                files  mounted queue  direct sync   calls
    {"posix", "read, write, pread … pwritev",     true,  true,   false, true,  true,
     {Call::kStream, Call::kPositional, Call::kVector},
     {EngineFeature::kUpdate, EngineFeature::kFileLock, EngineFeature::kRecordLocks, EngineFeature::kJitter,
      EngineFeature::kFileAdvice, EngineFeature::kBuffers}},
    {"stdio", "fread, fwrite, getc, putc",        true,  true,   false, false, true,
     {Call::kStdio, Call::kCharacter},
     {EngineFeature::kFileLock, EngineFeature::kFileAdvice, EngineFeature::kBuffers}},
    {"mmap",  "memcpy of mapped files",           true,  true,   false, false, false,
     {Call::kStream, Call::kPositional, Call::kVector},
     {EngineFeature::kUpdate, EngineFeature::kFileLock, EngineFeature::kRecordLocks, EngineFeature::kFileAdvice,
      EngineFeature::kMapping, EngineFeature::kBuffers}},
    {"posix-aio", "aio_read, aio_write, --depth", true,  true,   true,  true,  true,
     {Call::kStream, Call::kPositional, Call::kVector},
     {EngineFeature::kFileLock, EngineFeature::kFileAdvice, EngineFeature::kCopy}, /*shares_threads=*/true},
    {"uring", "io_uring, --depth ops in flight",  true,  true,   true,  true,  true,
     {Call::kStream, Call::kPositional, Call::kVector},
     {EngineFeature::kFileLock, EngineFeature::kFileAdvice}},
    {"libnfs", "NFSv3 without a mount, --depth",  true,  false,  true,  false, true,
     {Call::kStream, Call::kPositional, Call::kVector}},
    {"metadata", "calls on names",                true,  true,   false, false, true,  Call::kMetadata},
    {"null",  "moves nothing: measures the tool", false, false,  false, true,  true,
     {Call::kStream, Call::kPositional, Call::kVector, Call::kStdio, Call::kCharacter, Call::kMetadata},
     EngineFeature::kUpdate},
};
// clang-format on

// Names that other tools use for our engines.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"io_uring", "uring"}, {"io-uring", "uring"}, {"liburing", "uring"}, {"posixaio", "posix-aio"},
    {"psync", "posix"},    {"nfs", "libnfs"},
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
  std::vector<std::string_view> names;
  for (const EngineSpec& engine : kEngines) {
    if (engine.name == ours) return &engine;
    names.push_back(engine.name);
  }
  const auto append = [](std::string* text, std::string_view each) { text->append(each); };
  return absl::NotFoundError(absl::StrCat("unknown engine \"", std::string(name), "\"; there are: ",
                                          absl::StrJoin(names, ", ", append), DidYouMean(name, names)));
}

absl::StatusOr<const EngineSpec*> EngineFor(const OperationSpec& operation, std::string_view name) {
  auto engine = FindEngine(name);
  if (!engine.ok()) return absl::InvalidArgumentError(engine.status().message());
  const bool updates = operation.kinds.Has(OpKind::kUpdate);
  if ((*engine)->calls.Has(operation.call) && (!updates || (*engine)->features.Has(EngineFeature::kUpdate))) {
    return engine;
  }
  if ((*engine)->name == "posix") {
    for (const EngineSpec& other : kEngines) {
      if (other.name != "null" && other.calls.Has(operation.call)) return &other;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("engine ", std::string(name), " cannot do ",
                                                 std::string(operation.name), ": leave one of the two out"));
}

bool EngineUsesFiles(std::string_view name) {
  const auto engine = FindEngine(name);
  return engine.ok() && (*engine)->uses_files;
}

}  // namespace iobench
