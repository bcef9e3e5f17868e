// Traces (-Y): refused with file and line, or ops within the file that are the same when written and read again.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "common/unique_fd.h"
#include "tests/fuzz/fuzz_target.h"
#include "worker/prepare/trace_file.h"

using namespace iobench;

namespace {

constexpr uint64_t kFileBytes = uint64_t{1} << 40;

std::string Written(const TraceOps& ops) {
  const UniqueFd file(::memfd_create("trace", MFD_CLOEXEC));
  Require(WriteTrace(file.get(), "trace", ops).ok(), "a trace can be written");
  std::string text(static_cast<size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
  Require(::pread(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "and read");
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::StatusOr<TraceOps> ops = ParseTrace(TextOf(data, size), "trace", kFileBytes);
  if (!ops.ok()) {
    Require(absl::IsInvalidArgument(ops.status()) && !ops.status().message().empty(), "a refusal says why");
    return 0;
  }
  Require(!ops->empty(), "a trace has ops");
  for (const TraceOp& op : *ops) {
    Require(op.length > 0 && op.offset + op.length <= kFileBytes, "an op lies within the file");
  }
  const absl::StatusOr<TraceOps> again = ParseTrace(Written(*ops), "again", kFileBytes);
  Require(again.ok() && again->size() == ops->size(), "a written trace can be replayed");
  for (size_t i = 0; i < ops->size(); ++i) {
    const TraceOp &a = (*ops)[i], &b = (*again)[i];
    Require(a.offset == b.offset && a.length == b.length && a.delay_us == b.delay_us, "op by op");
  }
  return 0;
}
