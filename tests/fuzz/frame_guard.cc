// A hostile connection: the verdict of its guard does not depend on how the bytes are cut.
// The same bytes as an event: parsed, it takes no more memory than was found out before, within a factor.
#include <google/protobuf/stubs/logging.h>

#include <algorithm>

#include "common/transport/guard/frame_guard.h"
#include "common/transport/guard/swelling.h"
#include "iobench/v1/control.pb.h"
#include "tests/fuzz/fuzz_target.h"

using namespace iobench;

namespace {

constexpr uint64_t kMaxEventBytes = 1 << 20;

std::string Verdict(const uint8_t* data, size_t size, size_t piece) {
  FrameGuard guard(kMaxEventBytes, 0);
  for (size_t at = 0; at < size; at += piece) {
    const absl::Status status = guard.Check({data + at, std::min(piece, size - at)}, 0);
    if (!status.ok()) return std::string(status.message());
  }
  return "";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const google::protobuf::LogSilencer silencer;
  const std::string whole = Verdict(data, size, std::max<size_t>(size, 1));
  Require(Verdict(data, size, 1) == whole, "the verdict depends on single bytes");
  Require(Verdict(data, size, 7) == whole, "the verdict depends on pieces");

  static const Swelling* const swelling = new Swelling(*v1::WorkerEvent::descriptor());
  const std::string text = TextOf(data, size);
  const uint64_t expected = swelling->BytesParsed(text, UINT64_MAX / 2);
  if (v1::WorkerEvent event; event.ParseFromString(text)) {
    Require(event.SpaceUsedLong() <= 4 * expected + 4096, "an event takes more than was expected");
  }
  return 0;
}
