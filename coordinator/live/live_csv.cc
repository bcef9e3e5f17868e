#include "coordinator/live/live_csv.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "coordinator/report/text/csv_text.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

constexpr char kHeader[] =
    "time,elapsed_s,phase_index,phase,client,bytes_per_s,ops_per_s,bytes,ops,lanes_running,lanes,workers_lost,"
    "mean_us,p50_us,p99_us,max_us\n";

// With three decimals at most: more are not known.
std::string NumberCell(double value) {
  std::string text;
  if (std::isfinite(value)) AppendShortest(std::round(value * 1000) / 1000, text);
  return text;
}

void AppendRow(const LiveSample& sample, const LiveRow& row, const std::string& client,
               const std::string& time, std::string& text) {
  absl::StrAppend(&text, time, ",", NumberCell(row.at_s), ",", sample.index, ",", CsvText(sample.phase),
                  ",", CsvText(client), ",", NumberCell(row.bytes_per_s), ",");
  absl::StrAppend(&text, NumberCell(row.ops_per_s), ",", row.bytes, ",", row.ops, ",", row.lanes_running,
                  ",");
  absl::StrAppend(&text, row.lane_count, ",", row.workers_lost);
  const LiveLatency& latency = row.latency;
  for (const double value_us : {latency.mean_us, latency.p50_us, latency.p99_us, latency.max_us}) {
    absl::StrAppend(&text, ",", NumberCell(value_us));
  }
  text += '\n';
}

}  // namespace

std::string LiveCsvRows(const LiveSample& sample, const std::string& time) {
  std::string text;
  AppendRow(sample, sample.cluster, "all", time, text);
  for (const LiveRow& row : sample.clients) AppendRow(sample, row, row.client, time, text);
  return text;
}

absl::StatusOr<std::unique_ptr<LiveCsv>> LiveCsv::Open(const std::string& path, bool replace) {
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  const bool created = fd >= 0;
  if (!created && errno == EEXIST) {
    if (!replace) {
      return absl::AlreadyExistsError(
          absl::StrCat("--live-csv ", path, " exists: use another name, or --force to replace it"));
    }
    fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  }
  if (fd < 0) return absl::ErrnoToStatus(errno, absl::StrCat("--live-csv ", path));
  return std::unique_ptr<LiveCsv>(new LiveCsv(path, UniqueFd(fd), created));
}

LiveCsv::~LiveCsv() {
  if (created_ && !started_) unlink(path_.c_str());
}

void LiveCsv::RunStarts(const v1::RunReport& report) {
  (void)report;
  started_ = true;
  // Fails on a pipe, which has nothing to remove.
  if (ftruncate(fd_.get(), 0) != 0 && errno != EINVAL) {
    status_ = absl::ErrnoToStatus(errno, absl::StrCat("--live-csv ", path_));
  }
  Append(kHeader);
}

void LiveCsv::Write(const LiveSample& sample) {
  Append(LiveCsvRows(sample, WallClockIso8601()));
}

void LiveCsv::Append(const std::string& text) {
  size_t done = 0;
  while (status_.ok() && done < text.size()) {
    const ssize_t written = write(fd_.get(), text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      status_ = absl::ErrnoToStatus(errno, absl::StrCat("--live-csv ", path_, " is incomplete"));
    } else {
      done += static_cast<size_t>(written);
    }
  }
}

}  // namespace iobench
