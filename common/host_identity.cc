#include "common/host_identity.h"

#include <unistd.h>

#include "absl/strings/ascii.h"
#include "common/proc_file.h"

namespace iobench {

std::string HostName() {
  char name[256] = "";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

std::string BootId() {
  const std::string text = ReadWholeFile("/proc/sys/kernel/random/boot_id").value_or("");
  return std::string(absl::StripAsciiWhitespace(text));
}

}  // namespace iobench
