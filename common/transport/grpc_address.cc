#include "common/transport/grpc_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "common/text/host_name.h"

namespace iobench {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

absl::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

absl::Status BadAddress(std::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("address '", View(text), "': ", why, " (unix:/path, host:port, [IPv6]:port or :port)"));
}

}  // namespace

bool GrpcAddress::reachable_from_elsewhere() const {
  // Not by its text alone: "127.example.com" is a name, of anything.
  in_addr ipv4{};
  const bool is_loopback4 = inet_pton(AF_INET, host.c_str(), &ipv4) == 1 && ntohl(ipv4.s_addr) >> 24 == IN_LOOPBACKNET;
  return !is_unix() && host != "localhost" && host != "::1" && !is_loopback4;
}

std::string GrpcAddress::ToText() const {
  if (is_unix()) return absl::StrCat("unix:", unix_path);
  const bool is_ipv6 = absl::StrContains(host, ":");
  return is_ipv6 ? absl::StrCat("[", host, "]:", port) : absl::StrCat(host, ":", port);
}

std::string GrpcAddress::ToListen() const {
  // gRPC opens [::] for both families, and falls back to 0.0.0.0 without IPv6.
  return !is_unix() && host.empty() ? absl::StrCat("[::]:", port) : ToText();
}

std::string GrpcAddress::HostToDial() const {
  return host.empty() ? "localhost" : host == "::" ? "::1" : host == "0.0.0.0" ? "127.0.0.1" : host;
}

std::string GrpcAddress::ToDial() const {
  if (is_unix()) return ToText();
  GrpcAddress dialled = *this;
  dialled.host = HostToDial();
  return dialled.ToText();
}

absl::StatusOr<GrpcAddress> ParseGrpcAddress(std::string_view text) {
  GrpcAddress address;
  if (text.substr(0, kUnixPrefix.size()) == kUnixPrefix) {
    address.unix_path = text.substr(kUnixPrefix.size());
    if (address.unix_path.empty()) return BadAddress(text, "no path");
    if (address.unix_path.size() >= sizeof(sockaddr_un::sun_path)) {
      return BadAddress(text, absl::StrCat("a Unix socket's path has at most ",
                                           sizeof(sockaddr_un::sun_path) - 1, " bytes"));
    }
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    const bool is_port = !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    return BadAddress(
        text, is_port ? absl::StrCat("a port follows a colon: :", View(text))
                      : absl::StrCat("it has no port: write the coordinator's, as in ", View(text), ":9400"));
  }
  std::string_view host = text.substr(0, colon);
  const bool is_bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (!is_bracketed && host.find(':') != std::string_view::npos) {
    return BadAddress(text, "an IPv6 address needs brackets");
  }
  if (host.find_first_of("/[] ") != std::string_view::npos) return BadAddress(text, "not a host");
  if (const absl::Status possible = host.empty() ? absl::OkStatus() : CheckHostName(host); !possible.ok()) {
    return BadAddress(text, absl::StrCat("the host's name ", possible.message()));
  }
  if (!absl::SimpleAtoi(View(text.substr(colon + 1)), &address.port) || address.port < 0 ||
      address.port > 65535) {
    return BadAddress(text, "the port must be a number up to 65535");
  }
  address.host = host;
  return address;
}

std::string UnixPeerText(uint64_t number) {
  return absl::StrCat(kUnixPeer, ":", number);
}

bool IsUnixPeer(std::string_view peer_text) {
  return absl::StartsWith(View(peer_text), kUnixPeer);
}

std::string PeerText(std::string_view peer) {
  absl::string_view rest = View(peer);
  if (absl::ConsumePrefix(&rest, "unix-abstract:")) rest.remove_prefix(rest.rfind('/') + 1);  // ConnectionRelay
  if (absl::ConsumePrefix(&rest, "unix:")) return rest.empty() ? kUnixPeer : std::string(rest);
  if (!absl::ConsumePrefix(&rest, "ipv4:")) absl::ConsumePrefix(&rest, "ipv6:");
  return absl::StrReplaceAll(rest, {{"%20", " "}, {"%5B", "["}, {"%5D", "]"}, {"%25", "%"}});
}

}  // namespace iobench
