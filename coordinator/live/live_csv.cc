#include "coordinator/live/live_csv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "common/clock.h"
#include "common/status_util.h"
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
  absl::StatusOr<OwnFile> place = OwnFile::At(path);
  if (!place.ok()) return Annotate(place.status(), "--live-csv");
  const auto made = [&](absl::StatusOr<UniqueFd> fd, There there) -> absl::StatusOr<std::unique_ptr<LiveCsv>> {
    if (!fd.ok()) return Annotate(fd.status(), "--live-csv");
    return std::unique_ptr<LiveCsv>(new LiveCsv(path, *std::move(place), *std::move(fd), there));
  };
  absl::StatusOr<UniqueFd> fresh = place->CreateNew(kResultMode, O_APPEND);
  if (!absl::IsAlreadyExists(fresh.status())) return made(std::move(fresh), There::kThis);
  if (!replace) {
    return absl::AlreadyExistsError(absl::StrCat(name, " exists: use another name, or --force to replace it"));
  }
  struct stat facts {};
  if (fstatat(place->directory().fd(), place->name().c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return ErrnoStatus(name, errno);
  if (S_ISREG(facts.st_mode)) return made(place->CreatePartial(kResultMode, O_APPEND), There::kOld);
  const auto is_stream = [&facts] { return S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode); };
  const absl::Status neither =
      absl::InvalidArgumentError(absl::StrCat(name, " is neither a file nor a pipe: use another name"));
  // /dev/stdout is a link of root. In a directory that is checked, nobody else can exchange such a link before it is opened.
  const bool is_link = S_ISLNK(facts.st_mode) && BelongsToUs(facts);
  if (!is_link && !is_stream()) return neither;
  IOBENCH_RETURN_IF_ERROR(place->directory().Check());
  UniqueFd stream(openat(place->directory().fd(), place->name().c_str(),
                         O_WRONLY | O_APPEND | O_CLOEXEC | (is_link ? 0 : O_NOFOLLOW)));
  if (!stream.valid() || fstat(stream.get(), &facts) != 0) return ErrnoStatus(name, errno);
  if (!is_stream()) return neither;
  return made(std::move(stream), There::kStream);
}

LiveCsv::~LiveCsv() {
  if (started_) return;
  if (there_ == There::kThis) place_.Remove().IgnoreError();
  if (there_ == There::kOld) place_.RemovePartial();
}

void LiveCsv::RunStarts(const v1::RunReport& report) {
  (void)report;
  started_ = true;
  if (there_ == There::kOld) status_ = Annotate(place_.Publish(), "--live-csv");
  Append(CsvTitles(kLiveColumns));
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
