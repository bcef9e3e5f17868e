// What a few files must contain after a script's steps, whoever made them.
#ifndef COORDINATOR_VALIDATE_CONSISTENCY_FILE_MODEL_H_
#define COORDINATOR_VALIDATE_CONSISTENCY_FILE_MODEL_H_

#include <array>
#include <memory>
#include <string>

#include "coordinator/validate/consistency/step.h"

namespace iobench {

// What must come of a step.
struct Expected {
  int error = 0;  // errno; 0: success
  std::string read = {};
  uint64_t size = 0;  // of the file that is read
};

// Begins with the locked files, empty, and without the others. Knows every step in every state, so that any part of a
// script is a script.
class FileModel {
 public:
  FileModel();
  Expected Apply(const Step& step);
  // Of the file of this name; null: there is none.
  const std::string* ContentsOfFile(uint32_t file) const { return files_[file].get(); }

 private:
  // Names of one file share it.
  std::array<std::shared_ptr<std::string>, kScriptFiles + 1> files_;
};

}  // namespace iobench

#endif  // COORDINATOR_VALIDATE_CONSISTENCY_FILE_MODEL_H_
