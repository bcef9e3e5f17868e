// What Bonnie++'s formats show of a run: which phases are its tests, and their figures for all clients and for each.
#ifndef COORDINATOR_REPORT_BONNIE_BONNIE_RUN_H_
#define COORDINATOR_REPORT_BONNIE_BONNIE_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/analysis/foreign/bonnie_figures.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Bonnie++'s tests in the order of its columns. The first six work on data, the others on files' names.
enum class BonnieTest {
  kPutc,
  kPutBlock,
  kRewrite,
  kGetc,
  kGetBlock,
  kSeeks,
  kSeqCreate,
  kSeqStat,
  kSeqDelete,
  kRandomCreate,
  kRandomStat,
  kRandomDelete,
};
inline constexpr size_t kBonnieTestCount = 12;
inline constexpr size_t kBonnieDataTestCount = 6;

// A line of the report: all clients together, or one of them.
struct BonnieMachine {
  std::string name;           // as received: not made printable
  uint32_t worker_count = 0;  // that took part
  std::array<BonnieFigure, kBonnieTestCount> figures;

  const BonnieFigure& Of(BonnieTest test) const { return figures[static_cast<size_t>(test)]; }
};

// One repetition of the tests. Sizes and counts are those of one worker, which is one copy of Bonnie++; 0: no phase has
// them. Borrows the report.
struct BonnieRun {
  std::array<const v1::PhaseReport*, kBonnieTestCount> phases{};  // null: not run
  uint64_t file_bytes = 0;
  uint64_t chunk_bytes = 0;
  uint64_t seek_count = 0;
  uint32_t seeker_count = 0;
  uint64_t item_count = 0;  // files in the tests of names
  uint64_t max_item_bytes = 0;
  uint64_t min_item_bytes = 0;  // 0 also if all files have the same size
  uint64_t directory_count = 0;
  std::vector<BonnieMachine> machines;  // all clients together; then each, if there are several

  const v1::PhaseReport* PhaseOf(BonnieTest test) const { return phases[static_cast<size_t>(test)]; }
  bool has_data_tests() const;
  bool has_item_tests() const;
};

// Returns one run per repetition, and with --each-path per path, that has any of the tests; of several phases that are
// the same test, the first.
// FailedPrecondition: there is none.
absl::StatusOr<std::vector<BonnieRun>> BonnieRunsOf(const v1::RunReport& report);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_BONNIE_BONNIE_RUN_H_
