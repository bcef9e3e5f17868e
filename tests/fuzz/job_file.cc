// Command lines and job files of other tools (coordinator/translate): any text is translated or refused, and what it
// becomes can be written.
#include <string>

#include "coordinator/translate/translation.h"
#include "tests/fuzz/fuzz_target.h"

namespace iobench {
namespace {

void WriteOut(const absl::StatusOr<Translation>& translation) {
  if (!translation.ok()) return;
  for (const TranslatedCommand& command : translation->commands) command.Words();
}

}  // namespace
}  // namespace iobench

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = iobench::TextOf(data, size);
  iobench::WriteOut(iobench::TranslateJobFile(text));
  iobench::WriteOut(iobench::TranslateWords({text}));
  iobench::JobFileIn({text});
  return 0;
}
