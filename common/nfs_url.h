// A target without a mount: nfs://HOST[:PORT]/PATH[?ARGUMENT=VALUE&…]
#ifndef COMMON_NFS_URL_H_
#define COMMON_NFS_URL_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// Whether it means to be one (NFS:// is the same scheme); ParseNfsUrl says whether it is.
bool IsNfsUrl(std::string_view path);

struct NfsUrl {
  std::string host;  // in lower case; an IPv6 address stands in brackets
  std::string path;  // absolute, of names only; without '/' at its end unless it is nothing else
  std::vector<std::pair<std::string, std::string>> arguments;  // a PORT of the user's is "nfsport"

  // "nfs://host/path": for messages, and to say which directory it is.
  std::string ForPeople() const;
  // With all arguments, as libnfs takes it.
  std::string ForLibnfs() const;
  // "host:/path", as mounts have it.
  std::string Source() const;
  // "host", with the port where it has one of its own: who answers.
  std::string Server() const;
  // A server that every host calls by this name is another one on each.
  bool IsOfThisHost() const;
  // Of a directory or file in it.
  NfsUrl Below(std::string_view name) const;
  NfsUrl Parent() const;  // of "/" itself
  // The parent, where its path ends with this name; itself where it does not.
  NfsUrl WithoutLast(std::string_view name) const;
};

// InvalidArgument says what is wrong and what it should be. Arguments are those that say where the server is, who asks,
// and how long it may be silent (nfsport, mountport, uid, gid, if, tcp-syncnt, timeo, version=3). Those that would keep
// data or names on this host, make another connection behind our back or speak another version are refused with the
// reason, and so are escapes (%20), which libnfs would take as they stand.
absl::StatusOr<NfsUrl> ParseNfsUrl(std::string_view url);

// "TARGET/NAME" of a target that is a directory or a URL, whose arguments are left out; for messages.
std::string PathBelow(const std::string& target, std::string_view name);

}  // namespace iobench

#endif  // COMMON_NFS_URL_H_
