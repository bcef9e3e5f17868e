// A step of a random script: what one client does with one file, so that a model can say what must come of it.
#ifndef COORDINATOR_VALIDATE_CONSISTENCY_STEP_H_
#define COORDINATOR_VALIDATE_CONSISTENCY_STEP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iobench {

// Files up to kLockedFiles keep their names, stay open on all clients, and are used under a lock. The others are opened
// by name for each step, and closed after it: both must show what was done before, wherever it was done.
inline constexpr uint32_t kLockedFiles = 2, kScriptFiles = 6;
inline constexpr uint32_t kScriptPageBytes = 4096, kScriptFilePages = 3;
inline constexpr uint32_t kScriptFileBytes = kScriptPageBytes * kScriptFilePages;

struct Step {
  enum class Kind {
    kCreate,  // by name: creates the file, or empties it, and writes
    kWrite,
    kAppend,       // by name
    kDirectWrite,  // one page
    kMappedWrite,
    kTruncate,  // to `offset`
    kAllocate,
    kPunch,
    kRead,  // a page from `offset` on, as the next two
    kDirectRead,
    kMappedRead,
    kRename,  // by name, to to_file, as the next one
    kLink,
    kUnlink,  // by name
  };
  Kind kind = Kind::kRead;
  uint32_t client = 0;  // index among the clients that take part
  uint32_t file = 1;    // from 1 on
  uint32_t to_file = 0;
  uint32_t offset = 0;  // bytes
  uint32_t bytes = 0;
  uint32_t number =
      0;  // from 1 on, in the script that was generated: its contents are unlike those of all others

  bool operator==(const Step&) const = default;
};
using Script = std::vector<Step>;

bool Reads(Step::Kind kind);
// Whether the kind can be used with files that stay open.
bool SuitsLockedFiles(Step::Kind kind);
inline bool IsLocked(uint32_t file) {
  return file <= kLockedFiles;
}

// What a write of the step puts into the file.
std::string ContentsOf(const Step& step);

// "c01: writes 300 bytes at 4096 of f4"
std::string TextOf(const Step& step, std::string_view client);

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CONSISTENCY_STEP_H_
