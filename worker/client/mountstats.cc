#include "worker/client/mountstats.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

using Words = std::vector<absl::string_view>;

// Returns the leading numbers of `words`, starting at `begin`.
std::vector<uint64_t> NumbersFrom(const Words& words, size_t begin) {
  std::vector<uint64_t> numbers;
  for (size_t i = begin; i < words.size(); ++i) {
    uint64_t number = 0;
    if (!absl::SimpleAtoi(words[i], &number)) break;
    numbers.push_back(number);
  }
  return numbers;
}

// device server:/export mounted on /mnt with fstype nfs4 statvers=1.1
std::optional<NfsMountCounters> MountFrom(const Words& words) {
  if (words.size() < 8 || words[0] != "device" || words[2] != "mounted" || words[5] != "with")
    return std::nullopt;
  NfsMountCounters mount;
  mount.source = UnescapeMountField(std::string(words[1]));
  mount.mount_point = UnescapeMountField(std::string(words[4]));
  mount.filesystem = std::string(words[7]);
  return mount;
}

// normalRead normalWrite directRead directWrite serverRead serverWrite readPages writePages
void ReadBytesLine(const std::vector<uint64_t>& bytes, NfsMountCounters& mount) {
  if (bytes.size() < 6) return;
  mount.app_read_bytes = bytes[0] + bytes[2];
  mount.app_write_bytes = bytes[1] + bytes[3];
  mount.server_read_bytes = bytes[4];
  mount.server_write_bytes = bytes[5];
}

// ops transmissions timeouts bytes-sent bytes-received queue rtt execute [errors]
void ReadOpLine(std::string_view name, const std::vector<uint64_t>& numbers, NfsMountCounters& mount) {
  if (numbers.size() < 8) return;
  NfsOpCounters& op = mount.ops[std::string(name)];
  op.ops = numbers[0];
  op.transmissions = numbers[1];
  op.major_timeouts = numbers[2];
  op.sent_bytes = numbers[3];
  op.received_bytes = numbers[4];
  op.queue_ms = numbers[5];
  op.rtt_ms = numbers[6];
  op.execute_ms = numbers[7];
  if (numbers.size() > 8) op.errors = numbers[8];
}

// The columns of an xprt line after the protocol (net/sunrpc/xprtsock.c, xprtrdma/transport.c).
struct XprtColumns {
  std::string_view protocol;
  int connects;  // -1: not in this line
  size_t sends, receives, bad_xids, in_flight, backlog;
  size_t max_slots;  // added by statvers 1.1; SIZE_MAX: never in this line
};
constexpr XprtColumns kXprtColumns[] = {
    // srcport bind_count connect_count connect_time idle_time sends recvs bad_xids req_u bklog_u max_slots …
    {"tcp", 2, 5, 6, 7, 8, 9, 10},
    // srcport bind_count sends recvs bad_xids req_u bklog_u max_slots …
    {"udp", -1, 2, 3, 4, 5, 6, 7},
    // The first ten of tcp, then counters of its own.
    {"rdma", 2, 5, 6, 7, 8, 9, SIZE_MAX},
};

void ReadXprtLine(const Words& words, NfsMountCounters& mount) {
  if (words.size() < 2) return;
  const std::string_view protocol(words[1].data(), words[1].size());
  const auto* const columns =
      std::find_if(std::begin(kXprtColumns), std::end(kXprtColumns),
                   [protocol](const XprtColumns& known) { return known.protocol == protocol; });
  const std::vector<uint64_t> numbers = NumbersFrom(words, 2);
  if (columns == std::end(kXprtColumns) || numbers.size() <= columns->backlog) return;
  NfsConnectionCounters& connection = mount.connections.emplace_back();
  connection.protocol = std::string(protocol);
  connection.source_port = numbers[0];
  if (columns->connects >= 0) connection.connects = numbers[static_cast<size_t>(columns->connects)];
  connection.sends = numbers[columns->sends];
  connection.receives = numbers[columns->receives];
  connection.bad_xids = numbers[columns->bad_xids];
  connection.in_flight_sum = numbers[columns->in_flight];
  connection.backlog_sum = numbers[columns->backlog];
  if (columns->max_slots < numbers.size()) connection.max_slots = numbers[columns->max_slots];
}

// … sillyRename shortRead shortWrite delay [pnfsRead pnfsWrite]
void ReadEventsLine(const std::vector<uint64_t>& events, NfsMountCounters& mount) {
  constexpr size_t kShortRead = 22, kShortWrite = 23, kDelay = 24, kPnfsRead = 25, kPnfsWrite = 26;
  if (events.size() <= kDelay) return;
  mount.events.emplace();
  mount.events->short_reads = events[kShortRead];
  mount.events->short_writes = events[kShortWrite];
  mount.events->delays = events[kDelay];
  if (events.size() <= kPnfsWrite) return;
  mount.events->pnfs_reads = events[kPnfsRead];
  mount.events->pnfs_writes = events[kPnfsWrite];
}

// nfsv4: bm0=0xfdffbfff,…,acl=0x3,sessions,pnfs=not configured[,lease_time=90,lease_expired=0]
void ReadNfs4Line(absl::string_view line, NfsMountCounters& mount) {
  for (const absl::string_view part : absl::StrSplit(line, ',')) {
    constexpr absl::string_view kLayout = "pnfs=", kLease = "lease_time=";
    uint64_t lease_s = 0;
    if (absl::StartsWith(part, kLayout)) {
      mount.pnfs = std::string(absl::StripAsciiWhitespace(part.substr(kLayout.size())));
    } else if (absl::StartsWith(part, kLease) && absl::SimpleAtoi(part.substr(kLease.size()), &lease_s)) {
      mount.lease_s = lease_s;
    }
  }
}

bool Shrank(const std::optional<uint64_t>& before, const std::optional<uint64_t>& after) {
  return before && after && *after < *before;
}

bool Shrank(const NfsOpCounters& before, const NfsOpCounters& after) {
  return after.ops < before.ops || after.transmissions < before.transmissions ||
         after.major_timeouts < before.major_timeouts || after.queue_ms < before.queue_ms ||
         after.rtt_ms < before.rtt_ms || after.execute_ms < before.execute_ms ||
         Shrank(before.errors, after.errors);
}

bool Shrank(const NfsConnectionCounters& before, const NfsConnectionCounters& after) {
  return before.protocol != after.protocol || after.sends < before.sends ||
         after.receives < before.receives || after.bad_xids < before.bad_xids ||
         after.in_flight_sum < before.in_flight_sum || after.backlog_sum < before.backlog_sum ||
         Shrank(before.connects, after.connects);
}

// The connections have no names, so they are matched by order. If one was replaced, none is reported.
void AddConnections(const NfsMountCounters& before, const NfsMountCounters& after, v1::NfsDelta& delta) {
  const size_t count = after.connections.size();
  if (before.connections.size() != count) return;
  for (size_t i = 0; i < count; ++i) {
    if (Shrank(before.connections[i], after.connections[i])) return;
  }
  for (size_t i = 0; i < count; ++i) {
    const NfsConnectionCounters& was = before.connections[i];
    const NfsConnectionCounters& is = after.connections[i];
    v1::NfsConnectionDelta& connection = *delta.add_connections();
    connection.set_sends(is.sends - was.sends);
    connection.set_receives(is.receives - was.receives);
    connection.set_bad_xids(is.bad_xids - was.bad_xids);
    if (was.connects && is.connects) connection.set_reconnects(*is.connects - *was.connects);
    connection.set_in_flight_sum(is.in_flight_sum - was.in_flight_sum);
    connection.set_backlog_sum(is.backlog_sum - was.backlog_sum);
    if (is.max_slots) connection.set_max_slots(*is.max_slots);
  }
}

void AddEvents(const NfsEventCounters& was, const NfsEventCounters& is, v1::NfsDelta& delta) {
  if (is.short_reads < was.short_reads || is.short_writes < was.short_writes || is.delays < was.delays)
    return;
  delta.set_short_reads(is.short_reads - was.short_reads);
  delta.set_short_writes(is.short_writes - was.short_writes);
  delta.set_delays(is.delays - was.delays);
  if (was.pnfs_reads && is.pnfs_reads && *is.pnfs_reads >= *was.pnfs_reads) {
    delta.set_pnfs_reads(*is.pnfs_reads - *was.pnfs_reads);
  }
  if (was.pnfs_writes && is.pnfs_writes && *is.pnfs_writes >= *was.pnfs_writes) {
    delta.set_pnfs_writes(*is.pnfs_writes - *was.pnfs_writes);
  }
}

}  // namespace

std::vector<NfsMountCounters> ParseMountstats(std::string_view text) {
  std::vector<NfsMountCounters> mounts;
  bool in_mount = false, in_ops = false;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const Words words = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    if (words[0] == "device") {
      std::optional<NfsMountCounters> mount = MountFrom(words);
      in_mount = mount && IsNfs(mount->filesystem);
      in_ops = false;
      if (in_mount) mounts.push_back(*std::move(mount));
    } else if (!in_mount) {
      continue;
    } else if (words[0] == "per-op") {
      in_ops = true;
    } else if (words[0] == "age:") {
      const std::vector<uint64_t> age = NumbersFrom(words, 1);
      if (!age.empty()) mounts.back().age_s = age[0];
    } else if (words[0] == "bytes:") {
      ReadBytesLine(NumbersFrom(words, 1), mounts.back());
    } else if (words[0] == "events:") {
      ReadEventsLine(NumbersFrom(words, 1), mounts.back());
    } else if (words[0] == "xprt:") {
      ReadXprtLine(words, mounts.back());
    } else if (words[0] == "nfsv4:") {
      ReadNfs4Line(line, mounts.back());
    } else if (in_ops && absl::EndsWith(words[0], ":")) {
      ReadOpLine(std::string(absl::StripSuffix(words[0], ":")), NumbersFrom(words, 1), mounts.back());
    }
  }
  return mounts;
}

const NfsMountCounters* FindNfsMount(const std::vector<NfsMountCounters>& mounts,
                                     std::string_view mount_point) {
  const NfsMountCounters* found = nullptr;
  for (const NfsMountCounters& mount : mounts) {
    if (mount.mount_point == mount_point) found = &mount;
  }
  return found;
}

std::vector<std::string> ConnectionNames(const NfsMountCounters& mount, std::string_view mount_options) {
  std::string address;
  for (const absl::string_view option :
       absl::StrSplit(absl::string_view(mount_options.data(), mount_options.size()), ',')) {
    constexpr absl::string_view kAddress = "addr=";
    if (absl::StartsWith(option, kAddress)) address = std::string(option.substr(kAddress.size()));
  }
  std::vector<std::string> names;
  if (address.empty()) return names;
  for (const NfsConnectionCounters& connection : mount.connections) {
    if (connection.source_port > 0)
      names.push_back(absl::StrCat(connection.protocol, " ", address, " ", connection.source_port));
  }
  return names;
}

std::optional<v1::NfsDelta> NfsDeltaBetween(const NfsMountCounters& before, const NfsMountCounters& after) {
  if (before.source != after.source || Shrank(before.age_s, after.age_s) ||
      Shrank(before.app_read_bytes, after.app_read_bytes) ||
      Shrank(before.app_write_bytes, after.app_write_bytes) ||
      Shrank(before.server_read_bytes, after.server_read_bytes) ||
      Shrank(before.server_write_bytes, after.server_write_bytes)) {
    return std::nullopt;
  }
  v1::NfsDelta delta;
  if (before.app_read_bytes && after.app_read_bytes) {
    delta.set_app_read_bytes(*after.app_read_bytes - *before.app_read_bytes);
  }
  if (before.app_write_bytes && after.app_write_bytes) {
    delta.set_app_write_bytes(*after.app_write_bytes - *before.app_write_bytes);
  }
  if (before.server_read_bytes && after.server_read_bytes) {
    delta.set_server_read_bytes(*after.server_read_bytes - *before.server_read_bytes);
  }
  if (before.server_write_bytes && after.server_write_bytes) {
    delta.set_server_write_bytes(*after.server_write_bytes - *before.server_write_bytes);
  }
  for (const auto& [name, is] : after.ops) {
    const auto found = before.ops.find(name);
    if (found == before.ops.end()) continue;
    const NfsOpCounters& was = found->second;
    if (Shrank(was, is)) return std::nullopt;
    if (is.ops == was.ops && is.transmissions == was.transmissions) continue;
    v1::NfsOpDelta& op = (*delta.mutable_ops())[name];
    op.set_ops(is.ops - was.ops);
    op.set_transmissions(is.transmissions - was.transmissions);
    op.set_major_timeouts(is.major_timeouts - was.major_timeouts);
    op.set_sent_bytes(is.sent_bytes - std::min(was.sent_bytes, is.sent_bytes));
    op.set_received_bytes(is.received_bytes - std::min(was.received_bytes, is.received_bytes));
    op.set_queue_ms(is.queue_ms - was.queue_ms);
    op.set_rtt_ms(is.rtt_ms - was.rtt_ms);
    op.set_execute_ms(is.execute_ms - was.execute_ms);
    if (was.errors && is.errors) op.set_errors(*is.errors - *was.errors);
  }
  AddConnections(before, after, delta);
  if (before.events && after.events) AddEvents(*before.events, *after.events, delta);
  return delta;
}

}  // namespace iobench
