#include "coordinator/validate/consistency/random_script.h"

#include <random>
#include <span>
#include <vector>

#include "coordinator/validate/consistency/file_model.h"

namespace iobench {
namespace {

using Kind = Step::Kind;

constexpr uint32_t kMaxStepsInARow = 3;  // of one client

// Kinds in the shares in which they come. Reads are half of all, so that caches have something to keep.
constexpr Kind kMixed[] = {Kind::kCreate,      Kind::kWrite,     Kind::kWrite,      Kind::kAppend,
                           Kind::kDirectWrite, Kind::kTruncate,  Kind::kTruncate,   Kind::kMappedWrite,
                           Kind::kAllocate,    Kind::kPunch,     Kind::kRename,     Kind::kLink,
                           Kind::kUnlink,      Kind::kCreate,    Kind::kRead,       Kind::kRead,
                           Kind::kRead,        Kind::kRead,      Kind::kRead,       Kind::kRead,
                           Kind::kRead,        Kind::kRead,      Kind::kDirectRead, Kind::kDirectRead,
                           Kind::kMappedRead,  Kind::kMappedRead};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}
  // In [0, end). The distributions of the standard library differ between libraries.
  uint32_t Below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }

 private:
  std::mt19937_64 random_;
};

Step RandomStep(Dice& dice, std::span<const Kind> kinds, const FileModel& model) {
  Step step;
  step.kind = kinds[dice.Below(static_cast<uint32_t>(kinds.size()))];
  const bool may_be_locked = SuitsLockedFiles(step.kind) && dice.Below(3) == 0;
  step.file = may_be_locked ? 1 + dice.Below(kLockedFiles)
                            : 1 + kLockedFiles + dice.Below(kScriptFiles - kLockedFiles);
  // Errors are tried, too, but not most of the time.
  if (model.ContentsOfFile(step.file) == nullptr && dice.Below(4) > 0) step.kind = Kind::kCreate;
  const uint32_t others = kScriptFiles - kLockedFiles - 1;
  const uint32_t page = kScriptPageBytes * dice.Below(kScriptFilePages);
  switch (step.kind) {
    case Kind::kCreate:
      step.bytes = 1 + dice.Below(kScriptPageBytes);
      break;
    case Kind::kRename:
    case Kind::kLink:
      step.to_file = 1 + kLockedFiles + (step.file - kLockedFiles + dice.Below(others)) % (others + 1);
      break;
    case Kind::kUnlink:
      break;
    case Kind::kTruncate:
      step.offset = dice.Below(kScriptFileBytes);
      break;
    case Kind::kRead:
    case Kind::kDirectRead:
    case Kind::kMappedRead:
      step.offset = page;
      break;
    case Kind::kDirectWrite:
      step.offset = page;
      step.bytes = kScriptPageBytes;
      break;
    case Kind::kAppend: {
      // The model knows how much still fits.
      const std::string* const file = model.ContentsOfFile(step.file);
      const auto size = static_cast<uint32_t>(file == nullptr ? 0 : file->size());
      step.bytes = 1 + dice.Below(1000);
      if (size + step.bytes > kScriptFileBytes) {
        step.kind = Kind::kTruncate;
        step.bytes = 0;
        step.offset = dice.Below(kScriptPageBytes);
      }
      break;
    }
    default:
      step.offset = dice.Below(kScriptFileBytes - kScriptPageBytes);
      step.bytes = 1 + dice.Below(kScriptPageBytes);
  }
  return step;
}

}  // namespace

Script RandomScript(uint64_t seed, uint32_t clients, size_t length, const std::set<Kind>& unusable) {
  std::vector<Kind> kinds;
  for (const Kind kind : kMixed) {
    if (!unusable.contains(kind)) kinds.push_back(kind);
  }
  Dice dice(seed);
  FileModel model;
  Script script;
  uint32_t client = dice.Below(clients), left = 0;
  while (script.size() < length) {
    if (left == 0) {
      client = clients == 1 ? 0 : (client + 1 + dice.Below(clients - 1)) % clients;
      left = 1 + dice.Below(kMaxStepsInARow);
    }
    --left;
    Step step = RandomStep(dice, kinds, model);
    step.client = client;
    step.number = static_cast<uint32_t>(script.size()) + 1;
    static_cast<void>(model.Apply(step));
    script.push_back(step);
  }
  for (client = 0; client < clients; ++client) {
    for (uint32_t file = 1; file <= kScriptFiles; ++file) {
      for (uint32_t page = 0; page < kScriptFilePages; ++page) {
        script.push_back({.kind = Kind::kRead,
                          .client = client,
                          .file = file,
                          .offset = page * kScriptPageBytes,
                          .number = static_cast<uint32_t>(script.size()) + 1});
      }
    }
  }
  return script;
}

}  // namespace iobench
