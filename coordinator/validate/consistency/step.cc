#include "coordinator/validate/consistency/step.h"

#include "absl/strings/str_cat.h"

namespace iobench {

using Kind = Step::Kind;

bool Reads(Kind kind) {
  return kind == Kind::kRead || kind == Kind::kDirectRead || kind == Kind::kMappedRead;
}

bool SuitsLockedFiles(Kind kind) {
  return kind != Kind::kCreate && kind != Kind::kAppend && kind != Kind::kRename && kind != Kind::kLink &&
         kind != Kind::kUnlink;
}

std::string ContentsOf(const Step& step) {
  const std::string mark = absl::StrCat(step.number, ".");
  std::string contents;
  while (contents.size() < step.bytes) contents += mark;
  contents.resize(step.bytes);
  return contents;
}

std::string TextOf(const Step& step, std::string_view client) {
  const std::string file = absl::StrCat("f", step.file), to = absl::StrCat("f", step.to_file);
  const std::string range = absl::StrCat(step.bytes, " bytes at ", step.offset, " of ", file);
  const auto does = [&]() -> std::string {
    switch (step.kind) {
      case Kind::kCreate:
        return absl::StrCat("creates or empties ", file, " and writes ", step.bytes, " bytes");
      case Kind::kWrite:
        return absl::StrCat("writes ", range);
      case Kind::kAppend:
        return absl::StrCat("appends ", step.bytes, " bytes to ", file);
      case Kind::kDirectWrite:
        return absl::StrCat("writes past its cache ", range);
      case Kind::kMappedWrite:
        return absl::StrCat("writes through a mapping ", range);
      case Kind::kTruncate:
        return absl::StrCat("truncates ", file, " to ", step.offset, " bytes");
      case Kind::kAllocate:
        return absl::StrCat("allocates ", range);
      case Kind::kPunch:
        return absl::StrCat("makes a hole of ", range);
      case Kind::kRead:
        return absl::StrCat("reads at ", step.offset, " of ", file);
      case Kind::kDirectRead:
        return absl::StrCat("reads past its cache at ", step.offset, " of ", file);
      case Kind::kMappedRead:
        return absl::StrCat("reads through a mapping at ", step.offset, " of ", file);
      case Kind::kRename:
        return absl::StrCat("renames ", file, " to ", to);
      case Kind::kLink:
        return absl::StrCat("links ", file, " to ", to);
      case Kind::kUnlink:
        return absl::StrCat("removes ", file);
    }
    return "";
  };
  return absl::StrCat(std::string(client), ": ", does(), IsLocked(step.file) ? ", under a lock" : "");
}

}  // namespace iobench
