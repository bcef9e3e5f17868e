// Text fragments that several reports, or several parts of one, use: names, counts, rates, marks.
#ifndef COORDINATOR_REPORT_TEXT_CONSOLE_WORDS_H_
#define COORDINATOR_REPORT_TEXT_CONSOLE_WORDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/record_share_text.h"
#include "common/text/units.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// All texts are printable and without line breaks. Numbers are rounded for reading; the files have the exact ones
// (number_text.h).

std::string Percent(double percent);  // "0.003 %", "12.3 %"; "-" when not finite
std::string Microseconds(double us);  // "1.2 ms"; "-" when not finite
// Returns "1.2 ms", "~1.2 ms" if `percentile` (such as "p99") is listed as unsure, or "-" if nothing was measured.
std::string PercentileText(const v1::Latency& latency, std::string_view percentile, double us);
bool IsUnsure(const v1::Latency& latency, std::string_view percentile);  // "p99": it is listed as unsure
std::string OpsPerSecond(double rate);  // "315,000 ops/s"; "-" when not finite
// Returns a rate in the phase's unit: ops/s if its headline is in ops, otherwise bytes/s.
std::string RateText(bool in_ops, double bytes_per_s, double ops_per_s);
// "kernel NFS server: versions 3, 4.2, 8 threads, lease 90 s, grace 90 s, blocks up to 1 MiB".
std::string NfsServerText(const v1::NfsServerSetup& setup);
// "exports /data to 10.0.0.0/24 (rw,sync) from xfs on sdb, blocks of 4 KiB".
std::string NfsExportText(const v1::NfsExport& exported);
// The sizes of the phase's records, as of its operation (common/model/plan_traits.h): the shares of several (empty: it has
// one), and their text after "records of".
std::vector<RecordShare> RecordSharesOf(const v1::RunReport& report, const v1::PhaseReport& phase);
std::string RecordSizesText(const v1::RunReport& report, const v1::PhaseReport& phase);
// What lanes do ops on: "2,500 items per lane", "100 turns per lane", "1 item, the same for all lanes".
std::string ItemsText(const std::string& operation, const v1::Tree& tree);
// Example: "10,000 items per lane in one shared directory, files of 3.81 KiB".
std::string TreeText(const std::string& operation, const v1::Tree& tree);
// "collective, 4 ranks, 1 aggregator": how ranks used MPI-IO.
std::string MpiIoText(const v1::MpiIoFacts& facts);

// The phase's name in every output (NameInRun in common/text/phase_name.h): "write 64k/4k", "write, 2 of 5".
std::string PhaseNameAlone(const v1::RunReport& report, const v1::PhaseReport& phase);
// What all its repetitions are called: "write".
std::string NameOfAll(const v1::PhaseReport& phase);
// For headings: the name and what it does not say, the operation and whether it overwrites: "nightly (write)", "write, 2
// of 5, overwriting".
std::string PhaseTitle(const v1::RunReport& report, const v1::PhaseReport& phase);

// Returns "node01 worker 3 lane 12", as far as known: an empty host and negative numbers are left out.
std::string LaneName(std::string_view host, int64_t worker, int64_t lane);

// Returns one printable line for an error of a run or phase.
std::string ErrorText(const v1::ErrorReport& error);
// At most so many texts, one for all errors that differ only in their worker and lane ("node07 worker 3 lane 6 and 5 more:
// …"), and if there are further ones, their number.
std::vector<std::string> ErrorTexts(const google::protobuf::RepeatedPtrField<v1::ErrorReport>& errors, size_t max_texts);

// Where the bytes that a phase read came from: the parts that are known, without empty ones, whose sum is asked_bytes.
// "server" is there only if it is unknown which part of it came from the servers' memory and which from their disks.
struct ReadPart {
  std::string_view source;
  uint64_t bytes = 0;
};
std::vector<ReadPart> ReadPartsOf(const v1::ReadSources& sources);
// Returns "server's disk 12 MiB (75 %), client's memory 4 MiB (25 %)".
std::string ReadPartsText(const v1::ReadSources& sources);

// The COMMIT requests of the kernel's NFS client, which fsync and close wait for. Its counters have sums only: there are
// means, but no percentiles. Null: it sent none, or does not say.
const v1::NfsKindReport* CommitsIn(const v1::NfsRpcReport& rpc);
inline constexpr char kKernelCommit[] = "COMMIT by the kernel";

// Returns one printable line: "phase 4, read: raw/phase-003.pb: missing".
std::string MissingPhaseText(const v1::RunReport& report, const v1::MissingPhase& phase);

// The marks of a phase and its clients in their original order; those with the same code and text are combined. A mark
// that both lists have, as in a complete report, names its client once.
struct GroupedMark {
  std::string code;
  std::string text;
  std::vector<std::string> subjects;  // printable; empty: the phase itself
};
std::vector<GroupedMark> MarksOf(const v1::PhaseReport& phase);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_CONSOLE_WORDS_H_
