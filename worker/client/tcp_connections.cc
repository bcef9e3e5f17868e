#include "worker/client/tcp_connections.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

constexpr uint32_t kEstablished = 1;  // TCP_ESTABLISHED, which only the kernel's own headers define

struct DumpRequest {
  nlmsghdr header{};
  inet_diag_req_v2 wanted{};
};

// Adds the connection of one message of the dump, if its peer is one of the servers.
void AddConnection(const std::byte* message, size_t bytes, const std::set<std::string>& servers,
                   TcpConnections& connections) {
  inet_diag_msg about;
  if (bytes < sizeof about) return;
  std::memcpy(&about, message, sizeof about);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(about.idiag_family, about.id.idiag_dst, text.data(), text.size()) == nullptr) return;
  if (!servers.contains(text.data())) return;
  for (size_t at = NLMSG_ALIGN(sizeof about); at + sizeof(nlattr) <= bytes;) {
    nlattr attribute;
    std::memcpy(&attribute, message + at, sizeof attribute);
    if (attribute.nla_len < sizeof attribute || at + attribute.nla_len > bytes) return;
    if (attribute.nla_type == INET_DIAG_INFO) {
      tcp_info info{};  // an older kernel fills less of it
      std::memcpy(&info, message + at + NLA_HDRLEN,
                  std::min<size_t>(sizeof info, attribute.nla_len - size_t{NLA_HDRLEN}));
      const std::string name = absl::StrCat("tcp ", text.data(), " ", ntohs(about.id.idiag_sport));
      connections[name] = {
          .sent_segments = info.tcpi_data_segs_out,
          .retransmitted_segments = info.tcpi_total_retrans,
          .received_segments = info.tcpi_data_segs_in,
          .out_of_order_segments = info.tcpi_rcv_ooopack,
          .round_trip_ms = info.tcpi_rtt / 1e3,
          // The kernel's word for "none yet" is the largest number.
          .smallest_round_trip_ms = info.tcpi_min_rtt == UINT32_MAX ? 0 : info.tcpi_min_rtt / 1e3,
          .path_mtu = info.tcpi_pmtu};
      return;
    }
    at += NLA_ALIGN(attribute.nla_len);
  }
}

// Adds what one datagram of the dump lists. False: it was the last one, or an error.
bool AddAllIn(const std::byte* answer, size_t bytes, const std::set<std::string>& servers,
              TcpConnections& connections) {
  for (size_t at = 0; at + sizeof(nlmsghdr) <= bytes;) {
    nlmsghdr header;
    std::memcpy(&header, answer + at, sizeof header);
    if (header.nlmsg_len < NLMSG_HDRLEN || header.nlmsg_len > bytes - at) return false;
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;  // NLMSG_DONE, NLMSG_ERROR
    AddConnection(answer + at + NLMSG_HDRLEN, header.nlmsg_len - size_t{NLMSG_HDRLEN}, servers, connections);
    at += NLMSG_ALIGN(header.nlmsg_len);
  }
  return true;
}

void AddFamily(unsigned char family, const std::set<std::string>& servers, TcpConnections& connections) {
  const UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!fd.valid()) return;
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  DumpRequest request;
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.wanted.sdiag_family = family;
  request.wanted.sdiag_protocol = IPPROTO_TCP;
  request.wanted.idiag_ext = 1U << (INET_DIAG_INFO - 1);
  request.wanted.idiag_states = 1U << kEstablished;
  if (::send(fd.get(), &request, sizeof request, 0) < 0) return;
  std::vector<std::byte> answer(size_t{64} << 10);
  while (true) {
    const ssize_t bytes = ::recv(fd.get(), answer.data(), answer.size(), 0);
    if (bytes <= 0 || !AddAllIn(answer.data(), static_cast<size_t>(bytes), servers, connections)) return;
  }
}

}  // namespace

TcpConnections ReadTcpConnections(const std::set<std::string>& servers) {
  const auto is_ipv6 = [](const std::string& address) { return address.find(':') != std::string::npos; };
  TcpConnections connections;
  // The kernel walks all of the host's connections of a family, so only those that can occur.
  if (!std::all_of(servers.begin(), servers.end(), is_ipv6)) AddFamily(AF_INET, servers, connections);
  if (std::any_of(servers.begin(), servers.end(), is_ipv6)) AddFamily(AF_INET6, servers, connections);
  return connections;
}

std::optional<TcpSegments> ParseTcpSegments(std::string_view proc_net_snmp) {
  std::vector<absl::string_view> names, values;
  for (const absl::string_view line :
       absl::StrSplit(absl::string_view(proc_net_snmp.data(), proc_net_snmp.size()), '\n')) {
    std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty() || words[0] != "Tcp:") continue;
    (names.empty() ? names : values) = std::move(words);
  }
  const auto named = [&](absl::string_view name) -> std::optional<uint64_t> {
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<size_t>(found - names.begin());
    uint64_t number = 0;
    if (index >= values.size() || !absl::SimpleAtoi(values[index], &number)) return std::nullopt;
    return number;
  };
  const auto sent = named("OutSegs"), retransmitted = named("RetransSegs");
  if (!sent || !retransmitted) return std::nullopt;
  return TcpSegments{.sent = *sent, .retransmitted = *retransmitted};
}

}  // namespace iobench
