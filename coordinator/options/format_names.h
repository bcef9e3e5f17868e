// The names that --format accepts, for each kind of report: one for each row of a table, in its order. The file with
// the table does not compile if the two differ.
#ifndef COORDINATOR_OPTIONS_FORMAT_NAMES_H_
#define COORDINATOR_OPTIONS_FORMAT_NAMES_H_

#include <string_view>

namespace iobench {

// Of a run: coordinator/report/document/document.cc.
inline constexpr std::string_view kFormatNames[] = {
    "json",     "csv",    "clients-csv", "lanes-csv", "timeline-csv", "openmetrics",     "hlog",
    "workbook", "iozone", "html",        "bonnie",    "bonnie-csv",   "bonnie-csv-1.96", "markdown",
    "sqlite",   "junit",  "bonnie-1",    "fio-json",  "ior",          "mdtest"};

// Of `compare` and `history`: coordinator/report/compare/compare_formats.cc.
inline constexpr std::string_view kCompareFormatNames[] = {"text", "json", "junit", "markdown", "html"};

// How `compare` pairs the phases of two runs.
inline constexpr std::string_view kPairingNames[] = {"alike", "by-name"};

// Of `validate`: coordinator/report/validate/validate_formats.cc.
inline constexpr std::string_view kValidateFormatNames[] = {"text", "json", "junit", "html"};

// Of `capacity`: coordinator/report/capacity/capacity_formats.cc.
inline constexpr std::string_view kCapacityFormatNames[] = {"text", "json", "html"};

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_FORMAT_NAMES_H_
