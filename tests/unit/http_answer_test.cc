#include "coordinator/live/http_answer.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"

namespace iobench {
namespace {

std::string StatusOf(const std::string& head, const char* listens_at = "127.0.0.1") {
  const HttpAnswer answer = AnswerHttp(head, {.path = "/metrics",
                                              .content_type = "text/x",
                                              .bytes = 7,
                                              .listens_at = listens_at,
                                              .host_name = "node1"});
  REQUIRE(answer.head.starts_with("HTTP/1.1 "));
  REQUIRE(absl::StrContains(answer.head, "\r\nConnection: close\r\n"));
  CHECK((answer.has_text || answer.head.starts_with("HTTP/1.1 200") == head.starts_with("HEAD")));
  return answer.head.substr(9, 3);
}

std::string Get(const std::string& host) {
  return absl::StrCat("GET /metrics HTTP/1.1\r\nHost: ", host, "\r\n\r\n");
}

TEST_CASE("a request ends with its first empty line") {
  CHECK(HttpHeadBytes("") == 0);
  CHECK(HttpHeadBytes("GET / HTTP/1.1\r\n") == 0);
  CHECK(HttpHeadBytes("GET / HTTP/1.1\r\nHost: a\r\n") == 0);
  CHECK(HttpHeadBytes("GET / HTTP/1.1\r\n\r") == 0);
  CHECK(HttpHeadBytes("GET / HTTP/1.1\r\n\r\n") == 18);
  CHECK(HttpHeadBytes("GET / HTTP/1.1\n\nrest") == 16);
  CHECK(HttpHeadBytes("GET / HTTP/1.1\nHost: a\n\r\nrest") == 25);
}

TEST_CASE("metrics are read with GET and HEAD") {
  const HttpAnswer answer = AnswerHttp(Get("127.0.0.1:9464"), {.path = "/metrics",
                                                               .content_type = "text/x",
                                                               .bytes = 7,
                                                               .listens_at = "127.0.0.1",
                                                               .host_name = "node1"});
  CHECK(answer.head ==
        "HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 7\r\nConnection: close\r\n\r\n");
  CHECK(answer.has_text);
  CHECK(StatusOf("HEAD /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == "200");
  CHECK(StatusOf("GET /metrics?x=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == "200");
  CHECK(StatusOf("GET http://127.0.0.1:1/metrics HTTP/1.1\r\nHost: x\r\n\r\n") == "200");
  CHECK(StatusOf("GET /metrics HTTP/1.0\r\n\r\n") == "200");
  CHECK(StatusOf("GET /metrics HTTP/1.1\nhost: 127.0.0.1\n\n") == "200");
  CHECK(StatusOf("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n") == "200");
}

TEST_CASE("other requests are refused by their kind") {
  CHECK(StatusOf("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == "404");
  CHECK(StatusOf("GET /metricsx HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == "404");
  CHECK(StatusOf("POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == "405");
  CHECK(StatusOf("POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\n") == "413");
  CHECK(StatusOf("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n") == "413");
  CHECK(StatusOf("GET /metrics HTTP/1.1\r\n\r\n") == "400");
  CHECK(StatusOf("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n") == "400");
  CHECK(StatusOf("GET /metrics HTTP/1.1\r\nno colon\r\n\r\n") == "400");
  CHECK(StatusOf("GET /metrics\r\n\r\n") == "400");
  CHECK(StatusOf("PRI * HTTP/2.0\r\n\r\n") == "400");
  CHECK(StatusOf("\r\n\r\n") == "400");
  CHECK(StatusOf("\n\n") == "400");
  CHECK(AnswerTooLong().head.starts_with("HTTP/1.1 431 "));
}

TEST_CASE("who asks for a name that is not ours gets nothing") {
  for (const char* own : {"127.0.0.1", "10.0.0.7:9464", "[::1]", "[::1]:9464", "[fe80::1%eth0]:9464",
                          "localhost:9464", "LocalHost", "node1", "node1:9464"}) {
    INFO(own);
    CHECK(StatusOf(Get(own)) == "200");
  }
  for (const char* other :
       {"evil.example", "evil.example:9464", "node1.evil.example", "127.0.0.1.evil.example", "", ":80", "[]",
        "[evil.example]", "1", "localhost.evil.example"}) {
    INFO(other);
    CHECK(StatusOf(Get(other)) == "421");
  }
  CHECK(StatusOf(Get("metrics.example:9464"), "metrics.example") == "200");
  CHECK(StatusOf("GET http://evil.example/metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") == "421");
}

}  // namespace
}  // namespace iobench
