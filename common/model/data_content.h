// Derived properties of DataContent, which depend on several of its fields, and of what a verification found.
#ifndef COMMON_MODEL_DATA_CONTENT_H_
#define COMMON_MODEL_DATA_CONTENT_H_

#include <cstdint>

#include "iobench/v1/plan.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The unit of verification, and of O_DIRECT.
inline constexpr uint64_t kSectorBytes = 512;

// True if the data of a write are made once and do not depend on its place: zeros, a pattern, or one buffer that is
// written again and again. Storage that deduplicates or compresses may hold such data in a fraction of their size.
inline bool IsMadeOnce(const v1::DataContent& data) {
  return data.kind() == v1::DataContent::ZERO || data.kind() == v1::DataContent::PATTERN ||
         data.kind() == v1::DataContent::SAME;
}

// Data is verified in one of two ways, which exclude each other. Both functions are false if nothing is verified.
//
// True if every 512-byte sector identifies its writer, place and generation (--verify), so that a check detects stale,
// misplaced and foreign data as well as damage.
inline bool HasSectors(const v1::DataContent& data) {
  return data.verify() && data.kind() != v1::DataContent::PATTERN;
}
// True if every byte read is compared with pattern_byte (-V). A pattern is the same everywhere and in every phase, so a
// check detects damage but neither stale nor misplaced data.
inline bool ChecksPattern(const v1::DataContent& data) {
  return data.verify() && data.kind() == v1::DataContent::PATTERN;
}

// The generation of the sectors that a pass over a lane's records writes (--time), if pass 0 has `first`. The largest
// number stays: from then on, passes have equal sectors.
inline uint32_t GenerationOfPass(uint32_t first, uint64_t pass) {
  return pass < UINT32_MAX - first ? first + static_cast<uint32_t>(pass) : UINT32_MAX;
}

// True if data were found to be other than what was written, or gone.
inline bool FoundBadData(const v1::VerifyResult& verify) {
  return verify.mismatched() > 0 || verify.missing_bytes() > 0;
}

}  // namespace iobench

#endif  // COMMON_MODEL_DATA_CONTENT_H_
