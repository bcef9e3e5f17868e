#include "coordinator/report/result_files.h"

namespace iobench {

std::span<const ResultFile> ResultFiles() {
  static constexpr ResultFile kFiles[] = {
      {kResultJson, kResultJson, "every figure of the run, for programs", &kJsonFormat},
      {kPhasesCsv, kPhasesCsv, "one row per phase, for a spreadsheet", &kPhasesCsvFormat},
      {kClientsCsv, kClientsCsv, "one row per phase and client", &kClientsCsvFormat},
      {kResultCsv, kResultCsv, "one row per phase, client and lane, for pandas or R", &kLanesCsvFormat},
      {kRawFiles, kRawRun, "the measured data", nullptr},
  };
  return kFiles;
}

}  // namespace iobench
