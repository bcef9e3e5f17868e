#include "worker/client/server_route.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/mutex.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

struct Address {
  unsigned char family = AF_UNSPEC;
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  size_t size = 0;
};

std::optional<Address> ParseAddress(const std::string& text) {
  Address address;
  if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
    address.family = AF_INET;
    address.size = sizeof(in_addr);
    return address;
  }
  if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) {
    address.family = AF_INET6;
    address.size = sizeof(in6_addr);
    return address;
  }
  return std::nullopt;
}

struct RouteRequest {
  nlmsghdr header{};
  rtmsg route{};
  rtattr destination_header{};
  std::array<unsigned char, sizeof(in6_addr)> destination{};
};

// Returns the interface index in the kernel's answer to RTM_GETROUTE; 0: none.
uint32_t OutgoingInterfaceIn(const std::byte* answer, size_t bytes) {
  nlmsghdr header;
  if (bytes < NLMSG_LENGTH(sizeof(rtmsg))) return 0;
  std::memcpy(&header, answer, sizeof header);
  if (header.nlmsg_type != RTM_NEWROUTE || header.nlmsg_len > bytes) return 0;
  size_t at = NLMSG_LENGTH(sizeof(rtmsg));
  while (at + sizeof(rtattr) <= header.nlmsg_len) {
    rtattr attribute;
    std::memcpy(&attribute, answer + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute || at + attribute.rta_len > header.nlmsg_len) return 0;
    if (attribute.rta_type == RTA_OIF && attribute.rta_len >= RTA_LENGTH(sizeof(uint32_t))) {
      uint32_t index = 0;
      std::memcpy(&index, answer + at + RTA_LENGTH(0), sizeof index);
      return index;
    }
    at += RTA_ALIGN(attribute.rta_len);
  }
  return 0;
}

}  // namespace

std::string ServerAddressOf(const Mount& mount) {
  constexpr std::string_view kKey = "addr=";
  for (const absl::string_view option : absl::StrSplit(mount.options, ',')) {
    const std::string_view text(option.data(), option.size());
    if (text.starts_with(kKey)) return std::string(text.substr(kKey.size()));
  }
  const size_t colon = mount.source.rfind(':');
  if (!absl::EndsWith(mount.filesystem, "glusterfs") || colon == std::string::npos) return "";
  return AddressOf(mount.source.substr(0, std::min(colon, mount.source.find(','))));
}

std::optional<std::string> InterfaceTo(const std::string& address) {
  if (const size_t scope = address.find('%'); scope != std::string::npos) return address.substr(scope + 1);
  const std::optional<Address> to = ParseAddress(address);
  if (!to) return std::nullopt;
  const UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!fd.valid()) return std::nullopt;
  RouteRequest request;
  request.header.nlmsg_len = static_cast<uint32_t>(NLMSG_LENGTH(sizeof(rtmsg)) + RTA_LENGTH(to->size));
  request.header.nlmsg_type = RTM_GETROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.route.rtm_family = to->family;
  request.route.rtm_dst_len = static_cast<unsigned char>(8 * to->size);
  request.destination_header.rta_type = RTA_DST;
  request.destination_header.rta_len = static_cast<unsigned short>(RTA_LENGTH(to->size));
  request.destination = to->bytes;
  if (::send(fd.get(), &request, request.header.nlmsg_len, 0) < 0) return std::nullopt;
  std::array<std::byte, 4096> answer;
  const ssize_t bytes = ::recv(fd.get(), answer.data(), answer.size(), 0);
  const uint32_t index = bytes > 0 ? OutgoingInterfaceIn(answer.data(), static_cast<size_t>(bytes)) : 0;
  std::array<char, IF_NAMESIZE> name{};
  if (index == 0 || ::if_indextoname(index, name.data()) == nullptr) return std::nullopt;
  return std::string(name.data());
}

std::string AddressOf(const std::string& host) {
  const bool in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const std::string name = in_brackets ? host.substr(1, host.size() - 2) : host;
  if (ParseAddress(name)) return name;
  static Mutex mutex;
  // Never destroyed: a thread that hangs in a system call may outlive main().
  static auto& known = *new std::map<std::string, std::string>;
  const MutexLock lock(mutex);
  const auto [found, is_new] = known.try_emplace(name);
  if (!is_new) return found->second;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0 || list == nullptr) return "";
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> holder(list, ::freeaddrinfo);
  std::array<char, NI_MAXHOST> text{};
  const int named =
      ::getnameinfo(list->ai_addr, list->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  if (named == 0) found->second = text.data();
  return found->second;
}

std::set<std::string> WithThoseBelow(const std::string& interface) {
  constexpr std::string_view kLower = "lower_";
  std::set<std::string> all;
  std::vector<std::string> open = {interface};
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!all.insert(name).second) continue;
    const std::string directory = absl::StrCat("/sys/class/net/", name);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
    if (entries == nullptr) continue;
    while (const dirent* const entry = ::readdir(entries.get())) {
      const std::string_view entry_name(entry->d_name);
      if (entry_name.starts_with(kLower)) open.emplace_back(entry_name.substr(kLower.size()));
    }
  }
  return all;
}

}  // namespace iobench
