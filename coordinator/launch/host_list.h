// The hosts of --hosts: "c[01-32]", "user@node7:2222*4, [::1]", or @FILE with the same text.
#ifndef COORDINATOR_LAUNCH_HOST_LIST_H_
#define COORDINATOR_LAUNCH_HOST_LIST_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace iobench {

// A host on which workers are started.
struct HostEntry {
  std::string host;    // name or address for the remote shell; an IPv6 address has no brackets
  std::string user;    // empty: the remote shell's own default
  uint32_t port = 0;   // of the remote shell's server; 0: its default
  uint32_t slots = 1;  // number of workers
  // A server: a sampler is started there in place of workers; with --server-path, slots counts it and its workers.
  bool sampler = false;

  // "user@node7:2222", "[::1]:22": without the slots.
  std::string ToText() const;
  bool operator==(const HostEntry& other) const = default;
};

// The largest number of workers that a list may ask for.
inline constexpr uint32_t kMaxListedWorkers = 100000;

// Entries are separated by commas, blanks and line breaks. An entry is [USER@]HOST[:PORT][*SLOTS]; HOST is a name with
// any number of ranges ("rack[1-2]n[01-16,20]", where a leading zero fixes the number of digits and the last range
// varies fastest), an address, or an IPv6 address in brackets. `name`: the list's name in messages. `is_file`: lines
// are numbered, # begins a comment that reaches to the end of its line, and files of Open MPI and of batch systems work:
// "slots=4" after a host is its *4 ("max_slots=8" is ignored), and a host on a line of its own for each of its workers has
// as many. InvalidArgument: the message has one line
// for each fault of the list, with its place and what to do.
absl::StatusOr<std::vector<HostEntry>> ParseHostList(const std::string& text, const std::string& name,
                                                     bool is_file);

// Parses the argument of --hosts: a list, or @FILE. Also fails if the file cannot be read or is larger than 16 MiB.
absl::StatusOr<std::vector<HostEntry>> HostsOf(const std::string& argument);

// Without the byte order mark with which some editors begin a file.
inline std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

// Returns the sum of their slots.
uint32_t WorkersOn(std::span<const HostEntry> hosts);

}  // namespace iobench

#endif  // COORDINATOR_LAUNCH_HOST_LIST_H_
