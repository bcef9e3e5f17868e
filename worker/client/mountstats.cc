#include "worker/client/mountstats.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
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
  op.queue_ms = numbers[5];
  op.rtt_ms = numbers[6];
  op.execute_ms = numbers[7];
  if (numbers.size() > 8) op.errors = numbers[8];
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
    op.set_queue_ms(is.queue_ms - was.queue_ms);
    op.set_rtt_ms(is.rtt_ms - was.rtt_ms);
    op.set_execute_ms(is.execute_ms - was.execute_ms);
    if (was.errors && is.errors) op.set_errors(*is.errors - *was.errors);
  }
  return delta;
}

}  // namespace iobench
