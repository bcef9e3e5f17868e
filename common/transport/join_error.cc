#include "common/transport/join_error.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace iobench {
namespace {

// Parts of gRPC's messages, and what they mean for a connection that has worked. Of several, the first counts.
struct KnownError {
  const char* text;
  const char* meaning;
};
constexpr KnownError kKnownErrors[] = {
    {"larger than max", "it sent a message that is too large"},
    {"Connection refused", "nothing listens at its port any more: it has ended"},
    {"No route to host", "its host is down or cut off (no route to host)"},
    {"unreachable", "its host is cut off (the network is unreachable)"},
    {"DNS resolution failed", "its name is not known here any more"},
    {"eepalive", "it did not answer: its host or the network is down"},
    {"ping timeout", "it did not answer: its host or the network is down"},
    {"imed out", "it did not answer: its host or the network is down"},
    {"Deadline", "it did not answer in time"},
    {"GOAWAY", "it has closed the connection"},
    {"Connection reset", "the connection was reset: it was killed, or something in between cut it"},
    {"closed", "the connection was closed: it has ended, or something in between cut it"},
    {"Stream removed", "the connection was closed: it has ended, or something in between cut it"},
    {"RST_STREAM", "it has closed the connection"},
    {"Broken pipe", "the connection was closed: it has ended, or something in between cut it"},
    {"ancelled", "it has closed the connection"},
    {"CANCELLED", "it has closed the connection"},
};

std::string Quoted(const char* what, std::string_view error) {
  return absl::StrCat(what, " (gRPC: \"", std::string(error), "\")");
}

}  // namespace

std::string BrokenConnectionText(std::string_view error) {
  for (const KnownError& known : kKnownErrors) {
    if (absl::StrContains(absl::string_view(error.data(), error.size()), known.text)) return known.meaning;
  }
  return error.empty() ? "the connection broke" : Quoted("the connection broke", error);
}

std::string JoinErrorText(std::string_view error, bool speaks_grpc) {
  constexpr char kNotOurs[] = "what answers there is not a coordinator of cluster-iobench";
  if (speaks_grpc) return absl::StrCat(kNotOurs, ", but another gRPC server: is it the right port?");
  const absl::string_view text(error.data(), error.size());
  if (absl::StrContains(text, "DNS resolution failed")) {
    return "that host name is not known here: use an address, or a name that this host can resolve";
  }
  constexpr absl::string_view kRefused = "Failed to connect to remote host: ";
  if (const size_t at = text.rfind(kRefused); at != absl::string_view::npos) {
    const absl::string_view why = text.substr(at + kRefused.size());
    return why == "Connection refused" ? "connection refused: nothing listens on that port"
                                       : std::string(why);
  }
  // A web server, or a server that expects a TLS handshake and disconnects.
  for (const char* words : {"Failed parsing HTTP/2", "HTTP/1", "http1.x", "settings frame", "Socket closed",
                            "Connection reset", "Connection closed"}) {
    if (absl::StrContains(text, words)) {
      return absl::StrCat(kNotOurs, ", or only one of the two ends uses TLS: is it the right port?");
    }
  }
  return text.empty() ? "" : Quoted("it cannot be reached", error);
}

}  // namespace iobench
