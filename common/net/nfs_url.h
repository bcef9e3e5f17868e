// URLs of NFS targets that need no mount: nfs://HOST[:PORT]/PATH[?ARGUMENT=VALUE&…]
#ifndef COMMON_NET_NFS_URL_H_
#define COMMON_NET_NFS_URL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// True if `path` starts with the nfs:// scheme, in either case. It may still be invalid; ParseNfsUrl checks that.
bool IsNfsUrl(std::string_view path);

struct NfsUrl {
  std::string host;  // in lower case; an IPv6 address keeps its brackets
  std::string path;  // absolute and normalised; ends with '/' only if it is the root
  std::vector<std::pair<std::string, std::string>> arguments;  // a PORT in the URL becomes "nfsport"

  // Returns "nfs://host/path", without arguments: for messages and to identify a directory.
  std::string ToText() const;
  // Returns the URL with all arguments, in the form that libnfs parses.
  std::string ForLibnfs() const;
  // Returns "host:/path", the form used in mount tables.
  std::string Source() const;
  // Returns the server: "host", with the port if the URL gives one.
  std::string Server() const;
  // True if the host name is local to each client (such as localhost), so that it means a different server on each.
  bool IsOfThisHost() const;
  // Returns the URL of an entry of this directory.
  NfsUrl Below(std::string_view name) const;
  NfsUrl Parent() const;  // the parent of "/" is "/"
  // Returns the parent if the path ends with `name`, otherwise this URL.
  NfsUrl WithoutLast(std::string_view name) const;
};

// Parses and checks a URL. InvalidArgument: the message says what is wrong and what is expected.
//
// Allowed arguments select the server, the user or the timeouts: nfsport, mountport, uid, gid, if, tcp-syncnt, timeo,
// version=3. Arguments that would cache data or names on this host, open additional connections or select another
// protocol version are refused with the reason. Percent escapes (%20) are refused because libnfs takes them literally.
absl::StatusOr<NfsUrl> ParseNfsUrl(std::string_view url);

// Returns "TARGET/NAME" for messages. `target` is a directory or a URL; a URL's arguments are omitted.
std::string PathBelow(const std::string& target, std::string_view name);

}  // namespace iobench

#endif  // COMMON_NET_NFS_URL_H_
