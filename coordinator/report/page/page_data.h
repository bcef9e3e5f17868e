// The data of the page: the report as result.json has it, without what belongs to single clients and lanes, which
// follows in packed columns.
#ifndef COORDINATOR_REPORT_PAGE_PAGE_DATA_H_
#define COORDINATOR_REPORT_PAGE_PAGE_DATA_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// Above these numbers, over all phases, values are rounded so that the page stays below 6 MB.
inline constexpr size_t kMaxExactLanes = 20'000;
inline constexpr size_t kMaxExactCells = 200'000;  // client × time
// Above this one, neighbouring slices are joined.
inline constexpr size_t kMaxCells = 1'000'000;

// Returns the data as the page's program reads it.
absl::StatusOr<std::string> PageData(const v1::RunReport& report);

// Returns JSON and columns (packed_columns.h) in the form that web/src/data.js reads: the number of bytes of JSON (4
// bytes, little-endian), the JSON, zeros up to a multiple of 8 bytes, the columns; all of it compressed (gzip) and in
// base64.
std::string PackForPage(const std::string& json, const std::string& columns);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PAGE_PAGE_DATA_H_
