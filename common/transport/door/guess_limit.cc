#include "common/transport/door/guess_limit.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

namespace iobench {
namespace {

constexpr char kAllOthers[] = "";
constexpr size_t kNetworkBytes = 8;  // of an IPv6 address: /64

// "10.0.0.7", "fe80::1".
std::string HostWithoutPort(std::string_view peer) {
  const size_t colon = peer.rfind(':');
  std::string_view host = peer.substr(0, colon);  // npos: a Unix socket
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return std::string(host.substr(0, host.find('%')));
}

}  // namespace

std::string GuessLimit::NameOf(std::string_view peer) const {
  std::string host = HostWithoutPort(peer);
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) == 1) {
    host.assign(reinterpret_cast<const char*>(address.s6_addr), kNetworkBytes);
  }
  return whole_at_ns_.contains(host) || whole_at_ns_.size() < kMaxHosts ? host : kAllOthers;
}

bool GuessLimit::Allows(std::string_view peer, int64_t now_ns) {
  const auto found = whole_at_ns_.find(NameOf(peer));
  return found == whole_at_ns_.end() || found->second - now_ns <= (kBurst - 1) * kNsPerGuess;
}

void GuessLimit::RecordWrong(std::string_view peer, int64_t now_ns) {
  if (whole_at_ns_.size() >= kMaxHosts) ForgetWhole(now_ns);
  int64_t& whole_at_ns = whole_at_ns_[NameOf(peer)];
  whole_at_ns = std::max(whole_at_ns, now_ns) + kNsPerGuess;
}

void GuessLimit::ForgetWhole(int64_t now_ns) {
  std::erase_if(whole_at_ns_, [now_ns](const Hosts::value_type& host) { return host.second <= now_ns; });
}

}  // namespace iobench
