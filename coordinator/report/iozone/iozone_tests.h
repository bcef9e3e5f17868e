// How IOzone names and lays out its tests: one row per operation that is one of them.
#ifndef COORDINATOR_REPORT_IOZONE_IOZONE_TESTS_H_
#define COORDINATOR_REPORT_IOZONE_IOZONE_TESTS_H_

#include <cstddef>
#include <span>
#include <string>

#include "iobench/v1/result.pb.h"

namespace iobench {

// A column of the table of automatic mode. `above` and `below` are the two lines of its heading.
struct IozoneColumn {
  const char* above = "";
  const char* below = "";
  int heading_width = 9;  // IOzone's headings are not exactly above their values
  int width = 9;
};

struct IozoneTest {
  const char* operation = "";  // a row of common/model/operation.h
  IozoneColumn column;
  const char* excel = "";    // "Re-writer": the start of the titles of -R
  const char* label = "";    // "Initial write": row label of -R with several lanes
  const char* subject = "";  // "initial writers \t": of the throughput lines, with the tabs in front of "="
  const char* parent_tabs = "";  // further tabs in the line of the parent
  bool wide_count = false;       // the number of lanes is at least two columns wide
  const char* log_name = "";     // of -+z and -+T: "Rewrite"
  // The operation whose second pass this is; IOzone shows a missing one (-+n) as 0. Empty: this is no second pass.
  const char* first_pass = "";
};

// In the order of IOzone's columns: those of every table, those of -E, those of -E with vectors.
std::span<const IozoneTest> IozoneTests();
inline constexpr size_t kUsualColumns = 13;
inline constexpr size_t kPositionalColumns = 17;  // with pwrite to repread
inline constexpr size_t kAllColumns = 21;         // with pwritev to repreadv

// Returns the row's number; IozoneTests().size(): the operation is not one of IOzone's.
size_t IozoneTestNumber(const std::string& operation);

// Words for a phase, also if its operation is not one of IOzone's.
std::string IozoneLabel(const v1::PhaseReport& phase);    // "Initial write"
std::string IozoneLogName(const v1::PhaseReport& phase);  // "Rewrite"

}  // namespace iobench

#endif  // COORDINATOR_REPORT_IOZONE_IOZONE_TESTS_H_
