// The text report of a capacity measurement.
#include <limits>
#include <sstream>
#include <string>

#include "catch2/catch.hpp"
#include "coordinator/report/capacity/capacity_formats.h"

namespace iobench {
namespace {

void Set(v1::UslFigure& figure, double value, double low, double high) {
  figure.set_value(value);
  figure.set_low(low);
  figure.set_high(high);
}

std::string TextOf(const v1::CapacityReport& report) {
  std::ostringstream out;
  REQUIRE(WriteCapacityText({&report, 1}, {}, out).ok());
  return out.str();
}

TEST_CASE("an interval of the law's peak is closed, or says that it is open above") {
  v1::CapacityReport report;
  v1::Scaling& scaling = *report.add_scalings();
  scaling.set_over("lanes");
  v1::UslReport& law = *scaling.mutable_usl();
  Set(*law.mutable_lambda(), 100, 98, 102);
  Set(*law.mutable_sigma(), 0.05, 0.04, 0.06);
  Set(*law.mutable_kappa(), 0.002, 0, 0.004);  // without crosstalk there is no peak
  Set(*law.mutable_n_star(), 21.8, 15.4, std::numeric_limits<double>::infinity());
  Set(*law.mutable_x_max(), 757.1, 700.25, 820.5);
  const std::string text = TextOf(report);
  CAPTURE(text);
  CHECK(text.find("peak at 21.8 (15.4 or more) lanes: 757.1 (700.3 to 820.5) ops/s") != std::string::npos);
  law.mutable_n_star()->set_high(40);
  CHECK(TextOf(report).find("peak at 21.8 (15.4 to 40) lanes") != std::string::npos);
}

TEST_CASE("headroom under an SLO is a factor, a load that is too high, or no load that is known to meet it") {
  v1::CapacityReport report;
  report.mutable_slo()->set_slo("mean<=1ms");
  v1::LoadAnswer& load = *report.mutable_load();
  load.set_ops_per_s(300);
  load.set_limit_is("the highest load that meets mean<=1ms");
  const auto says = [&report](const char* text) { return TextOf(report).find(text) != std::string::npos; };
  CHECK(says("none: no load is known to meet mean<=1ms"));
  load.set_limit_per_s(200);
  load.set_factor(200.0 / 300);
  CHECK(says("none: 300 ops/s is over the highest load that meets mean<=1ms"));
  load.set_limit_per_s(600);
  load.set_factor(2);
  CHECK(says("300 ops/s can grow by a factor of 2"));
}

}  // namespace
}  // namespace iobench
