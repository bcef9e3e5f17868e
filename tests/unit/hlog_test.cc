// latency.hlog: the encoding of HdrHistogram, byte by byte, and the lines around it. tests/cluster reads whole logs.
#include <zlib.h>

#include <sstream>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "common/histogram.h"
#include "coordinator/report/hlog/hlog_writer.h"

namespace iobench {
namespace {

using Catch::Contains;

// Returns the encoded histogram, and checks the lines around it.
std::string Unpacked(const std::string& text) {
  std::string bytes;
  REQUIRE(absl::Base64Unescape(text, &bytes));
  REQUIRE(bytes.size() > 8);
  CHECK(bytes.substr(0, 4) == "\x1c\x84\x93\x14");
  const auto byte = [&bytes](size_t at) {
    return static_cast<size_t>(static_cast<unsigned char>(bytes[at]));
  };
  CHECK((byte(4) << 24 | byte(5) << 16 | byte(6) << 8 | byte(7)) == bytes.size() - 8);
  std::string result(100000, '\0');
  uLongf length = result.size();
  REQUIRE(uncompress(reinterpret_cast<Bytef*>(result.data()), &length,
                     reinterpret_cast<const Bytef*>(bytes.data() + 8), bytes.size() - 8) == Z_OK);
  result.resize(length);
  return result;
}

std::string CountsOf(const v1::Histogram& message) {
  const auto text = HdrHistogramText(message);
  REQUIRE(text.ok());
  return Unpacked(*text).substr(40);
}

TEST_CASE("a histogram has HdrHistogram's header for two digits and values up to 2^42 - 1") {
  Histogram histogram;
  histogram.Add(0);
  const std::string bytes = Unpacked(*HdrHistogramText(histogram.ToProto()));
  const std::string expected(
      "\x1c\x84\x93\x13"              // cookie
      "\0\0\0\x01"                    // one byte of counts
      "\0\0\0\0"                      // no offset
      "\0\0\0\x02"                    // significant digits
      "\0\0\0\0\0\0\0\x01"            // lowest value
      "\0\0\x03\xff\xff\xff\xff\xff"  // highest value
      "\x3f\xf0\0\0\0\0\0\0"          // 1.0
      "\x02",                         // one op of 0 ns, zigzag
      41);
  CHECK(bytes == expected);
}

TEST_CASE("runs of empty buckets are negative numbers, and counts follow in LEB128") {
  Histogram histogram;
  histogram.Add(1);
  histogram.Add(300);  // bucket 128 + 300 / 2 = 278
  histogram.Add(301);  // the same
  // One empty bucket (-1: 1), 1 op (2), 276 empty buckets (-276: 551 = 0x227), 2 ops (4).
  CHECK(CountsOf(histogram.ToProto()) == std::string("\x01\x02\xa7\x04\x04", 5));
}

TEST_CASE("the largest count takes nine bytes, and nothing more") {
  v1::Histogram message;
  message.add_index_gaps(0);
  message.add_counts(INT64_MAX);
  message.set_count(INT64_MAX);
  // Zigzag: 2^64 - 2; eight bytes of seven bits, then the other eight bits.
  CHECK(CountsOf(message) == std::string("\xfe\xff\xff\xff\xff\xff\xff\xff\xff", 9));
}

TEST_CASE("ops above the range count in the last bucket") {
  Histogram histogram;
  histogram.Add(uint64_t{1} << 43);
  // 4607 empty buckets: 9213 = 0x23fd.
  CHECK(CountsOf(histogram.ToProto()) == std::string("\xfd\x47\x02", 3));
  histogram.Add((uint64_t{1} << 42) - 1);
  CHECK(CountsOf(histogram.ToProto()) == std::string("\xfd\x47\x04", 3));
}

TEST_CASE("a bucket beyond the layout is refused") {
  v1::Histogram message;
  message.add_index_gaps(Histogram::kBucketCount);
  message.add_counts(1);
  CHECK(absl::IsInvalidArgument(HdrHistogramText(message).status()));
  message.set_index_gaps(0, 5);
  message.add_index_gaps(0);
  message.add_counts(1);
  CHECK(absl::IsInvalidArgument(HdrHistogramText(message).status()));
}

TEST_CASE(
    "each phase with latencies is a line that begins when the phase did, with a tag without separators") {
  v1::RunReport report;
  report.mutable_run()->set_id("r1");
  report.mutable_run()->set_started_at("2026-03-01T10:15:00.250Z");
  report.mutable_run()->set_label("before\nafter");
  Histogram histogram;
  histogram.Add(1500000);
  for (const char* const name : {"write", "a, \"b\"", "idle"}) {
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_name(name);
    phase.set_started_at("2026-03-01T10:15:02Z");
    phase.set_duration_s(3.5);
    if (std::string(name) != "idle")
      *phase.mutable_charts()->mutable_latency_histogram() = histogram.ToProto();
  }
  std::ostringstream out;
  REQUIRE(WriteHlog(report, out).ok());
  CHECK_THAT(out.str(), Contains("\n#[label: before?after]\n#[Histogram log format version 1.3]\n"));
  CHECK_THAT(out.str(),
             Contains("\n#[StartTime: 1772360100.250 (seconds since epoch), 2026-03-01T10:15:00.250Z]\n"));
  CHECK_THAT(
      out.str(),
      Contains(
          "\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n"));
  CHECK_THAT(out.str(), Contains("\nTag=write,1.750,3.500,1.500000,HISTFAAA"));
  CHECK_THAT(out.str(), Contains("\nTag=a___b_,1.750,3.500,1.500000,HISTFAAA"));
  CHECK_THAT(out.str(), !Contains("idle"));
}

TEST_CASE("each kind of ops of a phase is a line of its own where there are several") {
  v1::RunReport report;
  v1::PhaseReport& phase = *report.add_phases();
  phase.set_name("random-mix");
  phase.set_duration_s(2);
  Histogram reads, writes;
  reads.Add(1000);
  writes.Add(2'000'000);
  for (const auto& [name, histogram] : {std::pair("read", &reads), std::pair("write", &writes)}) {
    v1::KindLatencies& of_kind = *phase.mutable_charts()->add_kinds();
    of_kind.set_name(name);
    *of_kind.mutable_histogram() = histogram->ToProto();
  }
  std::ostringstream out;
  REQUIRE(WriteHlog(report, out).ok());
  CHECK_THAT(out.str(), Contains(absl::StrCat("\nTag=random-mix:read,0.000,2.000,0.001000,", *HdrHistogramText(reads.ToProto()))));
  CHECK_THAT(out.str(), Contains(absl::StrCat("\nTag=random-mix:write,0.000,2.000,2.000000,", *HdrHistogramText(writes.ToProto()))));
}

TEST_CASE("with a warm-up, a line begins at its end and lasts to the end of the last lane") {
  v1::RunReport report;
  report.mutable_run()->set_started_at("2026-03-01T10:15:00Z");
  report.mutable_run()->mutable_plan()->add_phases()->mutable_stop()->set_warmup_s(2);
  Histogram histogram;
  histogram.Add(1000);
  v1::PhaseReport& phase = *report.add_phases();
  phase.set_name("write");
  phase.set_started_at("2026-03-01T10:15:01Z");
  phase.set_duration_s(10);
  phase.set_headline_s(5);  // ops after the stonewall are in the histogram too
  *phase.mutable_charts()->mutable_latency_histogram() = histogram.ToProto();
  v1::KindLatencies& fsync = *phase.mutable_charts()->add_calls();
  fsync.set_name("fsync");
  *fsync.mutable_histogram() = histogram.ToProto();
  std::ostringstream out;
  REQUIRE(WriteHlog(report, out).ok());
  CHECK_THAT(out.str(), Contains("\nTag=write,3.000,8.000,0.001000,"));
  CHECK_THAT(out.str(), Contains("\nTag=write:fsync,3.000,8.000,0.001000,"));
}

TEST_CASE("a colon in a phase's name is not taken for the one before a kind") {
  v1::RunReport report;
  Histogram histogram;
  histogram.Add(1000);
  for (const char* const name : {"log:fsync", "log"}) {
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_name(name);
    *phase.mutable_charts()->mutable_latency_histogram() = histogram.ToProto();
  }
  v1::KindLatencies& fsync = *report.mutable_phases(1)->mutable_charts()->add_calls();
  fsync.set_name("fsync");
  *fsync.mutable_histogram() = histogram.ToProto();
  std::ostringstream out;
  REQUIRE(WriteHlog(report, out).ok());
  const size_t first = out.str().find("Tag=log:fsync,");
  CHECK(first != std::string::npos);
  CHECK(first == out.str().rfind("Tag=log:fsync,"));
  CHECK_THAT(out.str(), Contains("\nTag=log_fsync,"));
}

TEST_CASE("each flush call of a phase is a line of its own, also where no op was measured") {
  v1::RunReport report;
  Histogram ops, calls;
  ops.Add(1);
  calls.Add(300);
  calls.Add(2'000'000);
  for (const bool has_ops : {true, false}) {
    v1::PhaseReport& phase = *report.add_phases();
    phase.set_name(has_ops ? "append-log, 4k" : "idle");
    phase.set_duration_s(3.5);
    if (has_ops) *phase.mutable_charts()->mutable_latency_histogram() = ops.ToProto();
    v1::KindLatencies& fdatasync = *phase.mutable_charts()->add_calls();
    fdatasync.set_name("fdatasync");
    *fdatasync.mutable_histogram() = calls.ToProto();
    phase.mutable_charts()->add_calls()->set_name("close");  // its histogram is damaged
  }
  std::ostringstream out;
  REQUIRE(WriteHlog(report, out).ok());
  const std::string line = absl::StrCat(":fdatasync,0.000,3.500,2.000000,", *HdrHistogramText(calls.ToProto()), "\n");
  CHECK_THAT(out.str(), Contains("\nTag=append-log__4k,0.000,3.500,0.000001,HISTFAAA"));
  CHECK_THAT(out.str(), Contains("\nTag=append-log__4k" + line + "Tag=idle" + line));
  CHECK_THAT(out.str(), !Contains("close"));
}

}  // namespace
}  // namespace iobench
