#include "coordinator/report/hlog/hlog_writer.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/histogram.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/across/measured_window.h"
#include "coordinator/report/flush_report.h"
#include "coordinator/report/text/console_words.h"
#include "coordinator/report/text/wall_time.h"

namespace iobench {
namespace {

// HdrHistogram's encoding, as in org.HdrHistogram.AbstractHistogram.encodeIntoByteBuffer: a header in big-endian order,
// then the counts from value 0 on.
constexpr uint32_t kCookie = 0x1c849303 | 0x10;            // V2, counts as LEB128
constexpr uint32_t kCompressedCookie = 0x1c849304 | 0x10;  // the same inside zlib
constexpr uint32_t kSignificantDigits =
    2;  // 2^8 >= 2 x 10^2 sub-buckets, of which each octave has the upper half
static_assert(Histogram::kSubBucketBits == 7, "two significant digits mean 128 sub-buckets per octave");

template <typename Unsigned>
void AppendBigEndian(Unsigned value, std::string& out) {
  for (int shift = 8 * (static_cast<int>(sizeof(value)) - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift & 0xff);
}

// ZigZag, then LEB128 with at most nine bytes: the ninth has eight bits. Negative: a run of empty buckets.
void AppendCount(int64_t count, std::string& out) {
  uint64_t rest = static_cast<uint64_t>(count) << 1 ^ static_cast<uint64_t>(count >> 63);
  for (int byte = 0; byte < 8 && rest > 0x7f; ++byte, rest >>= 7) out += static_cast<char>(rest | 0x80);
  out += static_cast<char>(rest);
}

absl::StatusOr<std::string> EncodedCounts(const v1::Histogram& histogram) {
  std::string counts;
  uint64_t next = 0, index = 0;  // the first bucket that is not written yet
  const auto append = [&](uint64_t bucket, uint64_t count) {
    if (bucket > next) AppendCount(-static_cast<int64_t>(bucket - next), counts);
    AppendCount(static_cast<int64_t>(std::min<uint64_t>(count, INT64_MAX)), counts);
    next = bucket + 1;
  };
  uint64_t above = histogram.overflow_count();
  const int buckets = std::min(histogram.index_gaps_size(), histogram.counts_size());
  for (int i = 0; i < buckets; ++i) {
    index += histogram.index_gaps(i);
    if (index >= Histogram::kBucketCount || index < next)
      return absl::InvalidArgumentError(absl::StrCat("histogram: bucket ", index, " is out of place"));
    const bool last = index == Histogram::kBucketCount - 1;
    append(index, histogram.counts(i) + (last ? above : 0));
    if (last) above = 0;
  }
  if (above > 0) append(Histogram::kBucketCount - 1, above);
  return counts;
}

absl::StatusOr<std::string> Compressed(const std::string& bytes) {
  uLongf length = compressBound(bytes.size());
  std::string result(length, '\0');
  const int problem =
      compress(reinterpret_cast<Bytef*>(result.data()), &length, reinterpret_cast<const Bytef*>(bytes.data()),
               static_cast<uLong>(bytes.size()));
  if (problem != Z_OK) return absl::InternalError(absl::StrCat("zlib: error ", problem));
  result.resize(length);
  return result;
}

// A tag ends at the first comma, and readers split lines at white space. A colon separates the kind of op.
std::string TagOf(const std::string& phase, const std::string& kind = "") {
  std::string tag = Printable(phase);
  std::replace_if(
      tag.begin(), tag.end(),
      [](unsigned char c) { return c == ',' || c == '"' || c == ':' || std::isspace(c) != 0; }, '_');
  return kind.empty() ? tag : absl::StrCat(tag, ":", kind);
}

// Writes the line of what was measured from `begin_s` after the run's begin on. By the format's convention, its max is in
// ms.
absl::Status WriteInterval(const std::string& tag, double begin_s, double seconds, const v1::Histogram& latencies,
                           std::ostream& out) {
  if (latencies.count() == 0) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const std::string text, HdrHistogramText(latencies));
  out << absl::StreamFormat("Tag=%s,%.3f,%.3f,%.6f,%s\n", tag, begin_s, seconds,
                            static_cast<double>(latencies.max_ns()) / 1e6, text);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> HdrHistogramText(const v1::Histogram& histogram) {
  IOBENCH_ASSIGN_OR_RETURN(const std::string counts, EncodedCounts(histogram));
  std::string encoded;
  AppendBigEndian(kCookie, encoded);
  AppendBigEndian(static_cast<uint32_t>(counts.size()), encoded);
  AppendBigEndian(uint32_t{0}, encoded);  // normalizing index offset
  AppendBigEndian(kSignificantDigits, encoded);
  AppendBigEndian(uint64_t{1}, encoded);                               // lowest discernible value
  AppendBigEndian((uint64_t{1} << Histogram::kMaxBits) - 1, encoded);  // highest trackable value
  AppendBigEndian(std::bit_cast<uint64_t>(1.0), encoded);              // integer to double ratio
  IOBENCH_ASSIGN_OR_RETURN(const std::string compressed, Compressed(encoded + counts));
  std::string whole;
  AppendBigEndian(kCompressedCookie, whole);
  AppendBigEndian(static_cast<uint32_t>(compressed.size()), whole);
  return absl::Base64Escape(whole + compressed);
}

absl::Status WriteHlog(const v1::RunReport& report, std::ostream& out) {
  const int64_t start_ms = EpochMsOf(report.run().started_at());
  out << "#[cluster-iobench " << Printable(report.run().program_version()) << ", run "
      << Printable(report.run().id()) << ", latencies in ns; of phases with a rate, response times; PHASE:KIND: of one of several kinds of ops, or of a flush call]\n";
  if (!report.run().label().empty()) out << "#[label: " << Printable(report.run().label()) << "]\n";
  for (const v1::MissingPhase& missing : report.run().missing_phases())
    out << "#[not in this log: " << MissingPhaseText(report, missing) << "]\n";
  out << "#[Histogram log format version 1.3]\n";
  out << absl::StreamFormat("#[StartTime: %d.%03d (seconds since epoch), %s]\n", start_ms / 1000,
                            start_ms % 1000, Printable(report.run().started_at()));
  out << "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n";
  for (const v1::PhaseReport& phase : report.phases()) {
    const double started_s =
        static_cast<double>(std::max<int64_t>(0, EpochMsOf(phase.started_at()) - start_ms)) / 1e3;
    const MeasuredTime time = TimeOfLatencies(report.run().plan(), phase);
    const auto write = [&](const std::string& tag, const v1::Histogram& latencies) {
      return WriteInterval(tag, started_s + time.begin_s, time.seconds, latencies, out);
    };
    IOBENCH_RETURN_IF_ERROR(write(TagOf(phase.name()), phase.charts().latency_histogram()));
    for (const auto* const parts : {&phase.charts().kinds(), &phase.charts().calls()}) {
      for (const v1::KindLatencies& of_kind : *parts)
        IOBENCH_RETURN_IF_ERROR(write(TagOf(phase.name(), of_kind.name()), of_kind.histogram()));
    }
  }
  return Flush(out, "HdrHistogram");
}

}  // namespace iobench
