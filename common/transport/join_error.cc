#include "common/transport/join_error.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace iobench {

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
  return std::string(error);
}

}  // namespace iobench
