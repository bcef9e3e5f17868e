#include "coordinator/validate/consistency/file_model.h"

#include <algorithm>
#include <cerrno>

namespace iobench {
namespace {

using Kind = Step::Kind;

void Put(std::string& file, size_t offset, const std::string& contents) {
  file.resize(std::max(file.size(), offset + contents.size()), '\0');
  file.replace(offset, contents.size(), contents);
}

}  // namespace

FileModel::FileModel() {
  for (uint32_t file = 1; file <= kLockedFiles; ++file) files_[file] = std::make_shared<std::string>();
}

Expected FileModel::Apply(const Step& step) {
  std::shared_ptr<std::string>& file = files_[step.file];
  if (step.kind == Kind::kCreate) {
    if (file == nullptr) file = std::make_shared<std::string>();
    *file = ContentsOf(step);
    return {};
  }
  if (file == nullptr) return {.error = ENOENT};
  switch (step.kind) {
    case Kind::kWrite:
    case Kind::kDirectWrite:
    case Kind::kMappedWrite:
      Put(*file, step.offset, ContentsOf(step));
      return {};
    case Kind::kAppend:
      *file += ContentsOf(step);
      return {};
    case Kind::kTruncate:
      file->resize(step.offset, '\0');
      return {};
    case Kind::kAllocate:
      file->resize(std::max<size_t>(file->size(), step.offset + step.bytes), '\0');
      return {};
    case Kind::kPunch:
      for (size_t at = step.offset; at < std::min<size_t>(file->size(), step.offset + step.bytes); ++at) {
        (*file)[at] = '\0';
      }
      return {};
    case Kind::kRead:
    case Kind::kDirectRead:
    case Kind::kMappedRead:
      return {.read = step.offset < file->size() ? file->substr(step.offset, kScriptPageBytes) : "",
              .size = file->size()};
    case Kind::kRename: {
      std::shared_ptr<std::string>& to = files_[step.to_file];
      if (to == file) return {};  // two names of one file: rename does nothing
      to = std::move(file);
      file = nullptr;
      return {};
    }
    case Kind::kLink:
      if (files_[step.to_file] != nullptr) return {.error = EEXIST};
      files_[step.to_file] = file;
      return {};
    case Kind::kUnlink:
      file = nullptr;
      return {};
    case Kind::kCreate:
      break;
  }
  return {};
}

}  // namespace iobench
