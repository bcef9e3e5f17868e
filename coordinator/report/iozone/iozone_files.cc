#include "coordinator/report/iozone/iozone_files.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/analysis/iozone_bands.h"
#include "coordinator/files/files.h"
#include "coordinator/report/atomic_file.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/iozone/iozone_tests.h"
#include "coordinator/report/iozone/iozone_time.h"

namespace iobench {
namespace {

// The name of a lane's file: the lane's number between two texts.
struct NameOfLane {
  const char* begin;
  const char* end;

  std::string Of(uint32_t lane) const { return absl::StrCat(begin, lane, end); }
  bool Matches(std::string_view name) const {
    if (!name.starts_with(begin)) return false;
    name.remove_prefix(std::string_view(begin).size());
    const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    return digits > 0 && name.substr(digits) == end;
  }
};

constexpr NameOfLane kHistogramName = {"Iozone_histogram_child_", ".txt"};
constexpr NameOfLane kLogName = {"Child_", ".log"};

using TextOfLane = std::string (*)(const v1::PhaseReport& phase, const v1::LanePhaseReport& lane);

// Joins the texts of all phases, by lane.
std::map<uint32_t, std::string> TextsByLane(const v1::RunReport& report, TextOfLane text_of) {
  std::map<uint32_t, std::string> texts;
  for (const v1::PhaseReport& phase : report.phases()) {
    for (const v1::ClientPhaseReport& client : phase.clients()) {
      for (const v1::WorkerPhaseReport& worker : client.workers()) {
        for (const v1::LanePhaseReport& lane : worker.lanes()) texts[lane.lane()] += text_of(phase, lane);
      }
    }
  }
  return texts;
}

absl::Status WriteAll(const std::map<uint32_t, std::string>& texts, const std::string& directory,
                      const NameOfLane& name) {
  absl::Status status;
  for (const auto& [lane, text] : texts) {
    status.Update(WriteFileAtomically(
        absl::StrCat(directory, "/", name.Of(lane)),
        [&contents = text](std::ostream& out) {
          out << contents;
          return Flush(out, "IOzone");
        },
        Durable::kLater));
  }
  status.Update(SyncDirectory(directory));
  return status;
}

}  // namespace

bool HasIozoneFiles(const v1::IozoneOutput& output) {
  return output.histograms() || output.log();
}

std::string FileNamedLikeIozones(const v1::IozoneOutput& output, const std::string& directory) {
  std::string first;
  for (const std::string& name : files::NamesIn(directory)) {
    const bool is_like =
        (output.histograms() && kHistogramName.Matches(name)) || (output.log() && kLogName.Matches(name));
    if (is_like && (first.empty() || name < first)) first = name;
  }
  return first;
}

absl::Status WriteIozoneFiles(const v1::RunReport& report, const std::string& directory) {
  absl::Status status;
  if (report.run().iozone().histograms()) {
    status.Update(WriteAll(TextsByLane(report, HistogramText), directory, kHistogramName));
  }
  if (report.run().iozone().log()) {
    status.Update(WriteAll(TextsByLane(report, LogText), directory, kLogName));
  }
  return status;
}

std::string HistogramText(const v1::PhaseReport& phase, const v1::LanePhaseReport& lane) {
  const std::span<const IozoneBand> bands = IozoneBands();
  if (lane.iozone_bands_size() != static_cast<int>(bands.size())) return "";
  std::string text = absl::StrCat("Child: ", lane.lane(), " Op: ", IozoneLogName(phase));
  int line = 0;
  for (size_t i = 0; i < bands.size(); ++i) {
    if (bands[i].line != line) absl::StrAppend(&text, "\nBand ", bands[i].line, ":");
    line = bands[i].line;
    absl::StrAppend(&text, " ", bands[i].label, ":", lane.iozone_bands(static_cast<int>(i)));
  }
  return text + "\n\n";
}

std::string LogText(const v1::PhaseReport& phase, const v1::LanePhaseReport& lane) {
  if (lane.sat_out() || lane.failed()) return "";
  std::string name = IozoneLogName(phase);
  if (name == "write") name = "Write";
  return absl::StrFormat("%-25s %s\n%-25s %s\n", absl::StrCat(name, " test start: "),
                         CtimeText(phase.started_at(), lane.start_us() / 1e6),
                         absl::StrCat(name, " test finished: "), CtimeText(phase.started_at(), lane.end_s()));
}

}  // namespace iobench
