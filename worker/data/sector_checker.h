// Checks verifiable sectors (worker/data/sector.h) and classifies the mismatches.
#ifndef WORKER_DATA_SECTOR_CHECKER_H_
#define WORKER_DATA_SECTOR_CHECKER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "worker/data/data_checker.h"
#include "worker/data/mismatch_log.h"
#include "worker/data/sector.h"
#include "worker/data/written_records.h"

namespace iobench {

// The expected contents of the sectors in a lane's files.
struct SectorExpectation {
  // Identity of the data, as in SectorIdentity: the run that created it, the seed of its contents, the owner of the
  // files.
  uint64_t run = 0;
  uint64_t seed = 0;
  uint32_t owner = 0;
  uint32_t reader = 0;  // the lane that reads; it may have written too
  bool shared = false;  // shared file: data of another owner is then from another offset of the same file
  // Every sector has one generation in low..high. If they differ, the exact one is unknown, and the sector counts as
  // undetermined, unless `last_pass` is set.
  uint32_t low = 0;
  uint32_t high = 0;
  // The sectors of its records have `high`, and all others `low`. Null: see above.
  std::shared_ptr<const WrittenRecords> last_pass = nullptr;
  // Writes of some records failed: zeros, an older generation, or parts of both are no mismatch, but undetermined.
  bool unacknowledged = false;
  uint64_t unit_bytes = kSectorBytes;
  uint64_t file_bytes = 0;  // size of each of the lane's files, or of its extent
  uint32_t compress_percent = 0;
};

// A mismatch belongs to the first class that applies:
//   zeros         nothing but zeros
//   corrupt       no header of this program; or header and contents do not match and no part of the contents is from
//                 another write; or no write of this run can have made this header
//   torn          the header is genuine, but (part of) the contents is from another generation, or zeros
//   other-run, other-file, wrong-offset   genuine, but from elsewhere
//   stale         genuine and at the right offset, but older than expected
//   unknown       newer than expected
// A sector without room for a header (under 48 bytes) can only be right, zeros, stale or corrupt.
class SectorChecker final : public DataChecker {
 public:
  explicit SectorChecker(const SectorExpectation& expected) : expected_(expected) {}

  // An op may start or end within a sector (when a trace is replayed); such a partial sector is not checked.
  void Check(const Op& op, const std::byte* data) override;
  v1::VerifyResult Result() const override;

 private:
  void CheckSector(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length);
  void CheckTiny(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length);
  void Note(const FoundSector& found);
  SectorHeader HeaderOf(uint32_t file, uint64_t offset) const;
  FoundSector Classify(uint32_t file, uint64_t offset, const std::byte* sector, uint64_t length) const;
  DataBlocks BlocksOf(uint32_t owner, uint32_t writer, uint32_t generation) const;
  bool IsGenuine(const SectorHeader& header, uint64_t length) const;
  bool IsTorn(const std::byte* sector, uint64_t length, FoundSector& found) const;
  std::string Expected(const FoundSector& found) const;
  std::string Describe(const FoundSector& found) const;

  struct Generations {
    uint32_t low, high;
  };
  Generations GenerationsAt(uint32_t file, uint64_t offset) const {
    if (expected_.last_pass == nullptr) return {expected_.low, expected_.high};
    const uint32_t exactly = expected_.last_pass->Has(file, offset) ? expected_.high : expected_.low;
    return {exactly, exactly};
  }

  const SectorExpectation expected_;
  MismatchLog log_;
};

}  // namespace iobench

#endif  // WORKER_DATA_SECTOR_CHECKER_H_
