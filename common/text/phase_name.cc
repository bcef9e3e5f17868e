#include "common/text/phase_name.h"

#include "absl/strings/str_cat.h"

namespace iobench {

std::string NameInRun(std::string_view name, uint32_t repetition, uint32_t repetitions, bool in_rounds) {
  std::string text(name);
  if (in_rounds) {
    absl::StrAppend(&text, ", round ", repetition + 1);
  } else if (repetitions > 1) {
    absl::StrAppend(&text, ", ", repetition + 1, " of ", repetitions);
  }
  return text;
}

}  // namespace iobench
