#include "common/text/record_share_text.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/text/units.h"

namespace iobench {
namespace {

absl::Status BadShare(const std::string& text, const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("record size \"", text, "\": ", why,
                   "; write several sizes with the percentages of the ops that have them, such as 4k:60,64k:30,1m:10"));
}

}  // namespace

absl::StatusOr<RecordShare> ParseRecordShare(const std::string& text) {
  const std::pair<std::string, std::string> sides = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const absl::StatusOr<uint64_t> bytes = ParseBytes(sides.first, 1_KiB);
  if (!bytes.ok()) return BadShare(text, std::string(bytes.status().message()));
  double percent = 0;
  if (sides.second.empty()) return BadShare(text, "it has no share");
  if (!absl::SimpleAtod(sides.second, &percent) || !(percent > 0 && percent <= 100))
    return BadShare(text, absl::StrCat("\"", sides.second, "\" is no percentage above 0, up to 100"));
  return RecordShare{*bytes, percent};
}

std::string RecordShareOption(std::span<const RecordShare> shares) {
  return absl::StrJoin(shares.begin(), shares.end(), ",", [](std::string* out, const RecordShare& share) {
    absl::StrAppend(out, ShortSize(share.record_bytes), ":", share.percent);
  });
}

std::string RecordShareText(std::span<const RecordShare> shares) {
  return absl::StrJoin(shares.begin(), shares.end(), ", ", [](std::string* out, const RecordShare& share) {
    absl::StrAppend(out, FormatBytes(static_cast<double>(share.record_bytes)), " ", share.percent, " %");
  });
}

}  // namespace iobench
