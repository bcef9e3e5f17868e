#include "common/text/number_words.h"
#include "common/text/units.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace iobench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST_CASE("a size is a number and a power of 1024", "[units]") {
  CHECK(ParseBytes("512b", 1_KiB).value() == 512);
  CHECK(ParseBytes("64k", 1_KiB).value() == 65536);
  CHECK(ParseBytes("4M", 1_KiB).value() == 4194304);
  CHECK(ParseBytes("1g", 1_KiB).value() == 1073741824);
  CHECK(ParseBytes("2T", 1_KiB).value() == 2199023255552);
  CHECK(ParseBytes("3p", 1_KiB).value() == 3 * 1048576_GiB);
  CHECK(ParseBytes("1EiB", 1_KiB).value() == 1073741824_GiB);
  CHECK(ParseBytes("0", 1_KiB).value() == 0);
  CHECK(ParseBytes("1GiB", 1_KiB).value() == 1073741824);
  CHECK(ParseBytes("64kib", 1).value() == 65536);
  CHECK(ParseBytes("512B", 1_KiB).value() == 512);
}

TEST_CASE("a size that may be of powers of 1000 is answered with both that it could be", "[units]") {
  const auto size = ParseBytes("64MB", 1_KiB);
  REQUIRE(size.status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(
      size.status().message() ==
      "size \"64MB\" may mean powers of 1000 or of 1024: write 64m or 64MiB for powers of 1024, or 64000000b");
}

TEST_CASE("a time is a number and a unit", "[units]") {
  CHECK(ParseSeconds("5", 1).value() == 5);
  CHECK(ParseSeconds("2.5", 1e-3).value() == 2.5e-3);
  CHECK(ParseSeconds("5s", 1e-3).value() == 5);
  CHECK(ParseSeconds("500ms", 1).value() == 0.5);
  CHECK(ParseSeconds("20us", 1).value() == 20 * 1e-6);
  CHECK(ParseSeconds("2min", 1).value() == 120);
  CHECK(ParseSeconds("1e1m", 1).value() == 600);
  CHECK(ParseSeconds("1.5h", 1).value() == 5400);
  CHECK(ParseSeconds("7d", 1).value() == 604'800);
  for (const char* text : {"", "s", "5 s", "5x", "1e", "nan", "inf", "5ss", "1e999", "0x10"}) {
    INFO('"' << text << '"');
    const auto time = ParseSeconds(text, 1);
    REQUIRE(time.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(time.status().message()), Catch::Contains(std::string("\"") + text + "\""));
  }
}

TEST_CASE("a bare number is in the unit that the option has", "[units]") {
  CHECK(ParseBytes("64", 1_KiB).value() == 65536);
  CHECK(ParseBytes("64", 1).value() == 64);
}

TEST_CASE("the largest size is one byte under 2^63", "[units]") {
  CHECK(ParseBytes("9223372036854775807b", 1_KiB).value() == 9223372036854775807u);
  CHECK(ParseBytes("8388607t", 1_KiB).value() == 8388607 * 1024_GiB);
  for (const char* text :
       {"9223372036854775808b", "8388608t", "9007199254740992", "99999999999999999999999"}) {
    const auto size = ParseBytes(text, 1_KiB);
    REQUIRE(size.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(size.status().message()), Catch::Contains(std::string("\"") + text + "\""));
    CHECK_THAT(std::string(size.status().message()), Catch::Contains("too large"));
  }
}

TEST_CASE("anything else is refused with the text that was typed", "[units]") {
  for (const char* text :
       {"", "k", "64x", "64kb", "64mbit", "64xib", "-1k", "+1k", " 64k", "64k ", "1.5g", "0x10", "6 4"}) {
    INFO('"' << text << '"');
    const auto size = ParseBytes(text, 1_KiB);
    REQUIRE(size.status().code() == absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(size.status().message()), Catch::Contains(std::string("\"") + text + "\""));
  }
}

TEST_CASE("a time halfway between two figures is rounded up, whichever way it came to its unit", "[units]") {
  for (int ns = 1005; ns < 10000; ns += 10) {
    const double hundredths = (ns + 5) / 10;
    std::string expected = absl::StrFormat("%.2f", hundredths / 100);
    expected.erase(expected.find_last_not_of('0') + 1);
    if (expected.back() == '.') expected.pop_back();
    const std::string by_division = FormatSeconds(ns / 1e3 / 1e6),
                      by_product = FormatSeconds(ns * 1e-3 * 1e-6);
    INFO(ns);
    CHECK(by_division == absl::StrCat(expected, " us"));
    CHECK(by_product == by_division);
  }
  CHECK(FormatCount(2939.5) == "2,940");
  CHECK(FormatCount(2938.5) == "2,939");
}

TEST_CASE("bytes show three digits and no zeros that say nothing", "[units]") {
  CHECK(FormatBytes(0) == "0 B");
  CHECK(FormatBytes(512) == "512 B");
  CHECK(FormatBytes(4.0 * 1024 * 1024) == "4 MiB");
  CHECK(FormatBytes(1.5 * 1024 * 1024 * 1024) == "1.5 GiB");
  CHECK(FormatBytes(1234.0 * 1024) == "1.21 MiB");  // 1.2051 MiB
  CHECK(FormatBytes(12.34 * 1024) == "12.3 KiB");
  CHECK(FormatBytes(123.4 * 1024) == "123 KiB");
  CHECK(FormatBytes(1000.0 * 1024) == "1,000 KiB");
  CHECK(FormatBytes(-2048) == "-2 KiB");
  CHECK(FormatBytes(2e21) == "1,735 EiB");  // there is no larger unit
}

TEST_CASE("rounding up never shows 1024 of a unit", "[units]") {
  CHECK(FormatBytes(1023) == "1,023 B");
  CHECK(FormatBytes(1023.6 * 1024) == "1 MiB");
  CHECK(FormatBytes(9.996 * 1024) == "10 KiB");
  CHECK(FormatBytes(99.96 * 1024) == "100 KiB");
}

TEST_CASE("significant digits need no exponent, and have separators", "[units]") {
  CHECK(FormatSignificant(486'912.3, 4) == "486,912");
  CHECK(FormatSignificant(4.8712, 4) == "4.871");
  CHECK(FormatSignificant(12.5, 2) == "13");
  CHECK(FormatSignificant(1234.5678, 6) == "1,234.57");
  CHECK(FormatSignificant(0.000123456, 3) == "0.000123");
  CHECK(FormatSignificant(-0.5, 3) == "-0.5");
  CHECK(FormatSignificant(0, 3) == "0");
  CHECK(FormatSignificant(kNaN, 3) == "-");
}

TEST_CASE("a rate that is not a number is a dash", "[units]") {
  CHECK(FormatBytesPerSecond(1.23 * 1024 * 1024 * 1024) == "1.23 GiB/s");
  CHECK(FormatBytesPerSecond(kNaN) == "-");
  CHECK(FormatBytesPerSecond(kInfinity) == "-");
  CHECK(FormatBytes(kNaN) == "-");
  CHECK(FormatSeconds(kInfinity) == "-");
  CHECK(FormatCount(kNaN) == "-");
}

TEST_CASE("seconds are shown in the unit that fits them", "[units]") {
  CHECK(FormatSeconds(0) == "0 s");
  CHECK(FormatSeconds(80e-9) == "80 ns");
  CHECK(FormatSeconds(25e-6) == "25 us");
  CHECK(FormatSeconds(0.34) == "340 ms");
  CHECK(FormatSeconds(1.2) == "1.2 s");
  CHECK(FormatSeconds(-1.2) == "-1.2 s");
  CHECK(FormatSeconds(185) == "3 min 05 s");
  CHECK(FormatSeconds(3600) == "1 h 00 min");
  CHECK(FormatSeconds(2 * 3600 + 3 * 60 + 10) == "2 h 03 min");
}

TEST_CASE("seconds that round up to the next unit are shown in it", "[units]") {
  CHECK(FormatSeconds(999.6e-9) == "1 us");
  CHECK(FormatSeconds(999.6e-6) == "1 ms");
  CHECK(FormatSeconds(999.6e-3) == "1 s");
  CHECK(FormatSeconds(59.96) == "1 min 00 s");
  CHECK(FormatSeconds(119.7) == "2 min 00 s");
  CHECK(FormatSeconds(3599.7) == "1 h 00 min");
}

TEST_CASE("counts are grouped by thousands, small ones keep their fraction", "[units]") {
  CHECK(FormatCount(0) == "0");
  CHECK(FormatCount(0.5) == "0.5");
  CHECK(FormatCount(12.34) == "12.3");
  CHECK(FormatCount(999) == "999");
  CHECK(FormatCount(1000) == "1,000");
  CHECK(FormatCount(1234567) == "1,234,567");
  CHECK(FormatCount(123456.7) == "123,457");
  CHECK(FormatCount(-1234567) == "-1,234,567");
  CHECK(FormatCount(-123) == "-123");
}

}  // namespace
}  // namespace iobench
