// Checks sectors that say who wrote them (worker/data/sector.h) and tells the ways apart in which they can be wrong.
#ifndef WORKER_DATA_SECTOR_CHECKER_H_
#define WORKER_DATA_SECTOR_CHECKER_H_

#include <cstdint>
#include <string>

#include "worker/data/data_checker.h"
#include "worker/data/mismatch_log.h"
#include "worker/data/sector.h"

namespace iobench {

// What the sectors of a lane's files should say.
struct SectorExpectation {
  uint64_t run = 0;
  uint64_t seed = 0;
  uint32_t owner = 0;
  uint32_t reader = 0;  // the lane that reads; may have written, too
  bool shared = false;  // data of another owner are then of another place of the same file
  // Every sector has one generation of low..high. Where they differ it cannot be known which, and the sector counts as
  // undetermined.
  uint32_t low = 0;
  uint32_t high = 0;
  uint64_t unit_bytes = kSectorBytes;
  uint64_t file_bytes = 0;  // of each of the lane's files, or of its extent
  uint32_t compress_percent = 0;
};

// In this order, the first that fits:
//  zeros         nothing but zeros
//  corrupt       no header of ours; or header and contents do not belong together and none of them is another write's;
//                or a header that no write of this run can have made
//  torn          the header is genuine, but (part of) the contents is of another generation, or zeros
//  other-run, other-file, wrong-offset   genuine, but of elsewhere
//  stale         genuine and of this place, but older than what should be here
//  unknown       newer than what should be here
// A sector without room for a header (under 48 bytes) is only known as right, zeros, stale or corrupt.
class SectorChecker final : public DataChecker {
 public:
  explicit SectorChecker(const SectorExpectation& expected) : expected_(expected) {}

  // An op may begin or end within a sector (a trace that is replayed): such a sector is not looked at.
  void Check(const Op& op, const std::byte* data) override;
  v1::VerifyResult Result() const override;

 private:
  void CheckSector(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length);
  void CheckTiny(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length);
  SectorHeader HeaderOf(uint32_t file, uint64_t offset) const;
  FoundSector Classify(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length) const;
  DataBlocks BlocksOf(uint32_t owner, uint32_t writer, uint32_t generation) const;
  bool IsGenuine(const SectorHeader& header, uint64_t length) const;
  bool IsTorn(const std::byte* sector, uint64_t length, FoundSector& found) const;
  std::string Expected() const;
  std::string Describe(const FoundSector& found) const;

  const SectorExpectation expected_;
  MismatchLog log_;
};

}  // namespace iobench

#endif  // WORKER_DATA_SECTOR_CHECKER_H_
