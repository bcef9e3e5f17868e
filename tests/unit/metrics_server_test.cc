#include "coordinator/live/metrics_server.h"

#include "absl/strings/match.h"
#include "catch2/catch.hpp"
#include "httplib.h"
#include "tests/unit/live_progress.h"

namespace iobench {
namespace {

// "http://127.0.0.1:9464/metrics" -> "http://127.0.0.1:9464"
std::string BaseOf(const std::string& url) {
  return url.substr(0, url.rfind('/'));
}

TEST_CASE("the newest figures are served, with the type that Prometheus asks for") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  httplib::Client client(BaseOf((*server)->url()));
  const auto before = client.Get("/metrics");
  REQUIRE(before);
  CHECK(before->status == 200);
  CHECK(before->get_header_value("Content-Type") ==
        "application/openmetrics-text; version=1.0.0; charset=utf-8");
  CHECK_FALSE(absl::StrContains(before->body, "{phase="));

  (*server)->RunStarts(LiveReport({"a"}));
  LivePhase phase({"a"});
  (*server)->PhasePrepares(phase.At(0));
  phase.Answer(0, 1, 512, 8);
  (*server)->PhaseMoves(phase.At(1));
  const auto after = client.Get("/metrics");
  REQUIRE(after);
  CHECK(absl::StrContains(
      after->body, "iobench_client_bytes_total{phase_index=\"0\",phase=\"write\",client=\"a\"} 512\n"));
  CHECK(client.Get("/other")->status == 404);
}

TEST_CASE("the service ends with its object") {
  auto server = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(server.ok());
  httplib::Client client(BaseOf((*server)->url()));
  CHECK(client.Get("/metrics"));
  server->reset();
  CHECK_FALSE(client.Get("/metrics"));
}

TEST_CASE("a port without a host is this host's alone") {
  auto server = MetricsServer::Open(":0");
  REQUIRE(server.ok());
  CHECK(absl::StartsWith((*server)->url(), "http://127.0.0.1:"));
}

TEST_CASE("two runs cannot share a port") {
  auto first = MetricsServer::Open("127.0.0.1:0");
  REQUIRE(first.ok());
  const std::string base = BaseOf((*first)->url());
  const absl::Status second = MetricsServer::Open(base.substr(base.find("//") + 2)).status();
  CHECK(absl::IsUnavailable(second));
  CHECK(absl::StrContains(std::string(second.message()), "is the port in use"));
}

TEST_CASE("what is no address is refused, with what one looks like") {
  for (const char* text :
       {"", "9464", "host", "host:", "host:port", "host:70000", "host:-1", "::1:9464", "[]:1"}) {
    INFO(text);
    const absl::Status status = MetricsServer::Open(text).status();
    CHECK((absl::IsInvalidArgument(status) || absl::IsUnavailable(status)));
    if (absl::IsInvalidArgument(status)) {
      CHECK(absl::StrContains(std::string(status.message()), "use host:port, [::1]:port, or :port"));
    }
  }
  CHECK(absl::IsUnavailable(MetricsServer::Open("192.0.2.1:9464").status()));  // nobody's address
}

}  // namespace
}  // namespace iobench
