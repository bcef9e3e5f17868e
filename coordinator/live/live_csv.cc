#include "coordinator/live/live_csv.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/own_files/own_directory.h"
#include "common/status_util.h"
#include "coordinator/files/file_patience.h"
#include "coordinator/report/text/csv_text.h"
#include "coordinator/report/text/number_text.h"

namespace iobench {
namespace {

constexpr CsvColumn kLiveColumns[] = {
    {"time", "", "when the row was written, ISO 8601 in UTC"},
    {"elapsed_s", "s", "since the start of the phase: when the client's counters were read"},
    {"phase_index", "", "index of the phase within the run, from 0"},
    {"phase", "", "name of the phase"},
    {"client", "", "the client's name, or all (the cluster)"},
    {"bytes_per_s", "bytes/s", "since the client's previous row; empty: no answer; all: sums of the known ones"},
    {"ops_per_s", "ops/s", "the same in ops"},
    {"bytes", "bytes", "in this phase so far; in the last row of a phase, everything it did"},
    {"ops", "", "the same in ops"},
    {"lanes_running", "", "lanes that have not ended"},
    {"lanes", "", "all lanes that take part"},
    {"workers_lost", "", "for a client: in this phase; for the cluster: in the whole run"},
    {"mean_us", "us",
     "latency of the ops since the client's previous row, within 3.2 % (below 0.128 us: 0.004 us); empty: none, or no "
     "answer; in the last row of a phase: over the whole phase"},
    {"p50_us", "us", "median"},
    {"p99_us", "us", "99th percentile"},
    {"max_us", "us", "max"},
};

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

// Observers of a run must not block for long: meanwhile, nobody hears the workers.
constexpr int64_t kPatienceNs = 2 * kNanosPerSecond;

}  // namespace

std::span<const CsvColumn> LiveCsvColumns() {
  return kLiveColumns;
}

std::string LiveCsvRows(const LiveSample& sample, const std::string& time) {
  std::string text;
  AppendRow(sample, sample.cluster, "all", time, text);
  for (const LiveRow& row : sample.clients) AppendRow(sample, row, row.client, time, text);
  return text;
}

absl::StatusOr<std::unique_ptr<LiveCsv>> LiveCsv::Open(const std::string& path, bool replace) {
  const std::string name = absl::StrCat("--live-csv ", path);
  const auto made = [&](absl::StatusOr<files::HeldFile> file, There there) -> absl::StatusOr<std::unique_ptr<LiveCsv>> {
    if (!file.ok()) return Annotate(file.status(), "--live-csv");
    return std::unique_ptr<LiveCsv>(new LiveCsv(path, *std::move(file), there));
  };
  absl::StatusOr<files::HeldFile> fresh = files::CreateNew(path, O_APPEND);
  if (!absl::IsAlreadyExists(fresh.status())) return made(std::move(fresh), There::kThis);
  if (!replace) {
    return absl::AlreadyExistsError(absl::StrCat(name, " exists: use another name, or --force to replace it"));
  }
  const std::optional<struct stat> there = files::Stat(path, files::Links::kShow);
  if (!there.has_value()) return ErrnoStatus(name, errno);
  if (S_ISREG(there->st_mode)) {
    files::Remove(path + kPartialSuffix);  // left by a crash
    return made(files::CreateNew(path + kPartialSuffix, O_APPEND), There::kOld);
  }
  const auto is_stream = [](const struct stat& facts) { return S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode); };
  const absl::Status neither =
      absl::InvalidArgumentError(absl::StrCat(name, " is neither a file nor a pipe: use another name"));
  // /dev/stdout is a link of root. In a directory that is checked, nobody else can exchange such a link before it is opened.
  const bool is_link = S_ISLNK(there->st_mode) && BelongsToUs(*there);
  if (!is_link && !is_stream(*there)) return neither;
  const std::string parent = std::filesystem::path(path).parent_path().string();
  IOBENCH_RETURN_IF_ERROR(Annotate(files::CheckOwnDirectory(parent.empty() ? "." : parent), name));
  files::HeldFile stream = files::Open(path, O_WRONLY | O_APPEND | O_CLOEXEC | (is_link ? 0 : O_NOFOLLOW));
  if (!stream.valid()) return ErrnoStatus(name, errno);
  const std::optional<struct stat> opened = files::StatOpen(stream);
  if (!opened.has_value() || !is_stream(*opened)) return neither;
  return made(std::move(stream), There::kStream);
}

LiveCsv::~LiveCsv() {
  if (started_) return;
  if (there_ == There::kThis) files::Remove(path_);
  if (there_ == There::kOld) files::Remove(path_ + kPartialSuffix);
}

void LiveCsv::RunStarts(const v1::RunReport& report) {
  (void)report;
  started_ = true;
  if (there_ == There::kOld && files::Rename(path_ + kPartialSuffix, path_) != 0)
    status_ = ErrnoStatus(absl::StrCat("--live-csv ", path_), errno);
  Append(CsvTitles(kLiveColumns));
}

void LiveCsv::Write(const LiveSample& sample) {
  Append(LiveCsvRows(sample, WallClockIso8601()));
}

void LiveCsv::Append(const std::string& text) {
  const ShorterPatience shorter(kPatienceNs);
  if (status_.ok() && files::WriteAll(file_, text) != 0) {
    status_ = ErrnoStatus(absl::StrCat("--live-csv ", path_, " is incomplete"), errno);
  }
}

}  // namespace iobench
