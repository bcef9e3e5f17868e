#include "coordinator/live/http_answer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace iobench {
namespace {

HttpAnswer Refusal(absl::string_view status, absl::string_view what_to_do, absl::string_view header = "") {
  return {.head = absl::StrCat("HTTP/1.1 ", status, "\r\n", header,
                               "Content-Type: text/plain; charset=utf-8\r\nContent-Length: ",
                               what_to_do.size() + 1, "\r\nConnection: close\r\n\r\n", what_to_do, "\n"),
          .has_text = false};
}

bool IsAddress(const std::string& host) {
  in6_addr address{};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    return ::inet_pton(AF_INET6, host.substr(1, host.find_first_of("]%") - 1).c_str(), &address) == 1;
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

// An address cannot be rebound: a browser that was sent to it by a name says the name.
bool IsOurs(absl::string_view host_and_port, const HttpText& text) {
  std::string host(host_and_port);
  const size_t colon = host.rfind(':');
  if (colon != std::string::npos && host.find(']', colon) == std::string::npos) host.resize(colon);
  if (IsAddress(host)) return true;
  const absl::string_view first_label = text.host_name.substr(0, text.host_name.find('.'));
  for (const absl::string_view own :
       {absl::string_view("localhost"), text.listens_at, text.host_name, first_label}) {
    if (!own.empty() && absl::EqualsIgnoreCase(host, own)) return true;
  }
  return false;
}

}  // namespace

size_t HttpHeadBytes(absl::string_view received) {
  for (size_t end = received.find('\n'); end != absl::string_view::npos; end = received.find('\n', end + 1)) {
    const absl::string_view rest = received.substr(end + 1);
    if (absl::StartsWith(rest, "\n")) return end + 2;
    if (absl::StartsWith(rest, "\r\n")) return end + 3;
  }
  return 0;
}

HttpAnswer AnswerHttp(absl::string_view head, const HttpText& text) {
  std::vector<absl::string_view> lines = absl::StrSplit(head, '\n');
  for (absl::string_view& line : lines) line = absl::StripSuffix(line, "\r");
  const std::vector<absl::string_view> words = absl::StrSplit(lines.front(), ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1."))
    return Refusal("400 Bad Request", "this is no HTTP/1.1 request");
  std::optional<absl::string_view> host;
  bool has_body = false;
  for (size_t i = 1; i < lines.size() && !lines[i].empty(); ++i) {
    const size_t colon = lines[i].find(':');
    if (colon == absl::string_view::npos) return Refusal("400 Bad Request", "a header has no colon");
    const absl::string_view name = lines[i].substr(0, colon);
    const absl::string_view value = absl::StripAsciiWhitespace(lines[i].substr(colon + 1));
    if (absl::EqualsIgnoreCase(name, "host")) {
      if (host.has_value()) return Refusal("400 Bad Request", "the request has two Host headers");
      host = value;
    }
    has_body = has_body || absl::EqualsIgnoreCase(name, "transfer-encoding") ||
               (absl::EqualsIgnoreCase(name, "content-length") && value != "0");
  }
  absl::string_view target = words[1];
  if (absl::ConsumePrefix(&target, "http://")) {  // the form for proxies
    const size_t slash = target.find('/');
    host = target.substr(0, slash);
    target = slash == absl::string_view::npos ? absl::string_view("/") : target.substr(slash);
  }
  if (!host.has_value() && words[2] != "HTTP/1.0")
    return Refusal("400 Bad Request", "the request has no Host header");
  if (host.has_value() && !IsOurs(*host, text))
    return Refusal("421 Misdirected Request",
                   "ask for an address of this host, or for the name that --live-metrics was given");
  if (has_body) return Refusal("413 Content Too Large", "a request for metrics has no body");
  if (target.substr(0, target.find('?')) != text.path)
    return Refusal("404 Not Found", absl::StrCat("the metrics are at ", text.path));
  if (words[0] != "GET" && words[0] != "HEAD")
    return Refusal("405 Method Not Allowed", "the metrics can only be read", "Allow: GET, HEAD\r\n");
  return {.head = absl::StrCat("HTTP/1.1 200 OK\r\nContent-Type: ", text.content_type,
                               "\r\nContent-Length: ", text.bytes, "\r\nConnection: close\r\n\r\n"),
          .has_text = words[0] == "GET"};
}

HttpAnswer AnswerTooLong() {
  return Refusal("431 Request Header Fields Too Large",
                 absl::StrCat("a request has at most ", kMaxHttpHeadBytes, " bytes"));
}

}  // namespace iobench
