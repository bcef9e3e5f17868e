// Record sizes and their shares of the ops, as users write and read them: "4k:60,64k:30,1m:10".
#ifndef COMMON_TEXT_RECORD_SHARE_TEXT_H_
#define COMMON_TEXT_RECORD_SHARE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace iobench {

// Of one operation.
inline constexpr size_t kMaxRecordSizes = 16;

// One of several record sizes, and the percentage of the ops that have it.
struct RecordShare {
  uint64_t record_bytes = 0;
  double percent = 0;

  friend bool operator==(const RecordShare&, const RecordShare&) = default;
};

// Reads one element of such a list, "64k:30"; a bare size is KiB. InvalidArgument: it has no share, or a size or a share
// that is none; the message shows the syntax.
absl::StatusOr<RecordShare> ParseRecordShare(const std::string& text);

// "4k:60,64k:30": can be parsed again.
std::string RecordShareOption(std::span<const RecordShare> shares);

// "4 KiB 60 %, 64 KiB 30 %, 1 MiB 10 %", after "records of".
std::string RecordShareText(std::span<const RecordShare> shares);

}  // namespace iobench

#endif  // COMMON_TEXT_RECORD_SHARE_TEXT_H_
