#include "worker/data/pattern_checker.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"

namespace iobench {
namespace {

// The first byte is as wanted and each byte equals the next.
bool IsAll(std::byte wanted, const std::byte* data, uint64_t length) {
  return data[0] == wanted && std::memcmp(data, data + 1, length - 1) == 0;
}

}  // namespace

void PatternChecker::Check(const Op& op, const std::byte* data) {
  const std::byte wanted{pattern_};
  log_.CountSectors((op.length + kSectorBytes - 1) / kSectorBytes);
  if (op.length == 0 || IsAll(wanted, data, op.length)) return;
  for (uint64_t at = 0; at < op.length; at += kSectorBytes) {
    const std::byte* const sector = data + at;
    const uint64_t length = std::min(kSectorBytes, op.length - at);
    if (IsAll(wanted, sector, length)) continue;
    const std::byte* const wrong =
        std::find_if(sector, sector + length, [=](std::byte byte) { return byte != wanted; });
    FoundSector found{.file = op.object, .offset = op.offset + static_cast<uint64_t>(wrong - data)};
    found.what = IsAll(std::byte{0}, sector, length) ? v1::Mismatch::ZEROS : v1::Mismatch::CORRUPT;
    found.header.magic = std::to_integer<uint64_t>(*wrong);
    log_.Note(found);
  }
}

v1::VerifyResult PatternChecker::Result() const {
  v1::VerifyResult result = log_.Result();
  for (size_t i = 0; i < log_.kept(); ++i) {
    const FoundSector& found = log_.kept(i);
    v1::Mismatch& mismatch = *result.add_first();
    mismatch.set_what(found.what);
    mismatch.set_file(std::to_string(found.file));
    mismatch.set_offset(found.offset);
    mismatch.set_expected(absl::StrFormat("every byte 0x%02x", pattern_));
    mismatch.set_found(found.what == v1::Mismatch::ZEROS ? "zeros"
                                                         : absl::StrFormat("0x%02x", found.header.magic));
  }
  return result;
}

}  // namespace iobench
