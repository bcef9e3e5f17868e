// Words that the parts of the console report share.
#ifndef COORDINATOR_REPORT_CONSOLE_WORDS_H_
#define COORDINATOR_REPORT_CONSOLE_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iobench/v1/result.pb.h"

namespace iobench {

std::string Counted(int64_t count, std::string_view noun);  // "1 lane", "1,234 lanes"
std::string Percent(double percent);                        // "0.003 %", "12.3 %"; "-" when not finite
std::string Microseconds(double us);                        // "1.2 ms"; "-" when not finite
// "1.2 ms", "~1.2 ms" where `percentile` ("p99") is listed as unsure; "-" where nothing was measured.
std::string PercentileText(const v1::Latency& latency, std::string_view percentile, double us);
bool IsUnsure(const v1::Latency& latency, std::string_view percentile);  // "p99": listed as unsure
std::string OpsPerSecond(double rate);  // "315,000 ops/s"
// A rate in the unit of the phase: ops/s for metadata, else bytes/s.
std::string RateText(bool metadata, double bytes_per_s, double ops_per_s);
// What the first assignment does; a default one where a damaged plan has none.
const v1::Operation& FirstOperationOf(const v1::Phase& phase);
// "10,000 items per lane in one shared directory, files of 3.81 KiB"
std::string TreeText(const v1::Tree& tree);

// "write", "nightly (write)" where the plan gave the phase a name that does not say its operation; with its repetition
// where there are more.
std::string PhaseTitle(const v1::RunReport& report, const v1::PhaseReport& phase);

// For tables: its name alone, as result.csv has it; with its repetition.
std::string PhaseNameAlone(const v1::RunReport& report, const v1::PhaseReport& phase);

double MedianOf(std::vector<double> values);  // NaN of none

// "64k", "4m": without a space, as it is typed for an option.
std::string ShortSize(uint64_t bytes);

// "node01 worker 3 lane 12", as far as known.
std::string LaneName(std::string_view host, int64_t worker, int64_t lane);

// One line per error of a run or phase, printable.
std::string ErrorText(const v1::ErrorReport& error);

// The marks of a phase and of its clients, those that say the same put together, in the order they came.
struct GroupedMark {
  std::string code;
  std::string text;
  std::vector<std::string> subjects;  // printable; empty: the phase
};
std::vector<GroupedMark> MarksOf(const v1::PhaseReport& phase);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_CONSOLE_WORDS_H_
