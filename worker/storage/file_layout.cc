#include "worker/storage/file_layout.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "worker/storage/lustre.h"

namespace iobench {
namespace {

constexpr size_t kMaxAttributeBytes = 64 << 10;
constexpr uint64_t kFuseMagic = 0x65735546;

// Lustre's attribute (lustre_user.h), little endian. A plain layout:
//   magic 4, pattern 4, object id 16, stripe size 4, stripe count 2, generation 2; V3: pool name 16;
//   for each stripe: object id 16, generation 4, OST index 4.
constexpr uint64_t kLovV1 = 0x0BD10BD0, kLovV3 = 0x0BD30BD0, kLovComposite = 0x0BD60BD0;
constexpr size_t kPatternAt = 4, kStripeBytesAt = 24, kStripeCountAt = 28, kV1Bytes = 32, kPoolBytes = 16;
constexpr size_t kStripeEntryBytes = 24, kOstIndexAt = 20;
constexpr uint64_t kPatternOnMdt = 0x100, kPatternReleased = 0x80000000;
// A composite one: magic 4, size 4, generation 4, flags 2, component count 2 …, 32 in all; for each component:
//   id 4, flags 4, begin 8, end 8, position of its plain layout 4, the size of that 4 …, 48 in all.
constexpr size_t kComponentCountAt = 14, kCompositeBytes = 32, kComponentBytes = 48;
constexpr size_t kFlagsAt = 4, kBeginAt = 8, kEndAt = 16, kLayoutAt = 24, kLayoutBytesAt = 28;
constexpr uint64_t kStale = 0x1, kInitialised = 0x10;

// BeeGFS's requests and their arguments (beegfs_ioctl.h).
constexpr uint64_t kBeegfsMagic = 0x19830326;
struct BeegfsStripes {
  uint32_t pattern = 0;
  uint32_t chunk_bytes = 0;
  uint16_t target_count = 0;
};
struct BeegfsTarget {
  uint32_t index = 0;              // asked for; the others are answers
  uint32_t target = 0;             // of a mirrored file: the group
  uint32_t primary = 0, secondary = 0;  // targets; 0 unless mirrored
  uint32_t primary_node = 0, secondary_node = 0;
  char primary_name[256] = {}, secondary_name[256] = {};  // of the nodes
};
constexpr unsigned long kBeegfsGetStripes = _IOR('f', 25, BeegfsStripes);
constexpr unsigned long kBeegfsGetTarget = _IOR('f', 26, BeegfsTarget);
constexpr uint32_t kBeegfsMaxTargets = 256;

// REQUIRES: the bytes are there.
template <size_t kBytes>
uint64_t NumberAt(std::string_view bytes, size_t at) {
  uint64_t number = 0;
  for (size_t i = kBytes; i > 0; --i) number = number << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  return number;
}

// Length of the plain layout without its stripes; 0: it is no plain layout.
size_t HeadBytes(std::string_view plain) {
  if (plain.size() < kV1Bytes) return 0;
  const uint64_t magic = NumberAt<4>(plain, 0);
  if (magic == kLovV1) return kV1Bytes;
  return magic == kLovV3 && plain.size() >= kV1Bytes + kPoolBytes ? kV1Bytes + kPoolBytes : 0;
}

void AddOnce(std::string name, std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
}

// False: the layout does not say where its data are.
bool AddPlain(std::string_view plain, std::vector<std::string>& targets) {
  const size_t head = HeadBytes(plain);
  if (head == 0) return false;
  const uint64_t pattern = NumberAt<4>(plain, kPatternAt);
  if ((pattern & kPatternReleased) != 0) return false;
  if ((pattern & kPatternOnMdt) != 0) {
    AddOnce("MDT", targets);
    return true;
  }
  const uint64_t count = NumberAt<2>(plain, kStripeCountAt);
  if (count == 0 || plain.size() < head + count * kStripeEntryBytes) return false;
  for (uint64_t i = 0; i < count; ++i) {
    // As Lustre's tools write it in the names of its targets: in hexadecimal.
    AddOnce(absl::StrFormat("OST%04x", NumberAt<4>(plain, head + i * kStripeEntryBytes + kOstIndexAt)), targets);
  }
  return true;
}

struct TellingFileSystem {
  uint64_t magic;
  std::vector<std::string> (*targets)(int fd, uint64_t begin, uint64_t end);
};

constexpr TellingFileSystem kTelling[] = {
    {kLustreMagic,
     [](int fd, uint64_t begin, uint64_t end) {
       return LustreTargets(AttributeOf(fd, "lustre.lov").value_or(""), begin, end);
     }},
    {kBeegfsMagic,
     [](int fd, uint64_t, uint64_t) {
       return BeegfsTargets([fd](unsigned long request, void* argument) { return ::ioctl(fd, request, argument); });
     }},
    {kFuseMagic,
     [](int fd, uint64_t, uint64_t) {
       // The kernel shows names in "trusted." to root only; GlusterFS also answers without it.
       std::optional<std::string> pathinfo = AttributeOf(fd, "trusted.glusterfs.pathinfo");
       if (!pathinfo) pathinfo = AttributeOf(fd, "glusterfs.pathinfo");
       return GlusterTargets(pathinfo.value_or(""));
     }},
};

// Null: the file system of this file does not tell.
const TellingFileSystem* Telling(int fd) {
  struct statfs facts {};
  if (::fstatfs(fd, &facts) != 0) return nullptr;
  const auto magic = static_cast<uint32_t>(facts.f_type);
  const auto* const found = std::find_if(std::begin(kTelling), std::end(kTelling),
                                         [magic](const TellingFileSystem& each) { return each.magic == magic; });
  return found == std::end(kTelling) ? nullptr : found;
}

}  // namespace

std::optional<std::string> AttributeOf(int fd, const char* name) {
  std::string value(kMaxAttributeBytes, '\0');
  ssize_t bytes = ::fgetxattr(fd, name, value.data(), value.size());
  if (bytes < 0 && errno == EBADF) {  // opened with O_PATH
    bytes = ::getxattr(absl::StrCat("/proc/thread-self/fd/", fd).c_str(), name, value.data(), value.size());
  }
  if (bytes <= 0) return std::nullopt;
  value.resize(static_cast<size_t>(bytes));
  return value;
}

bool MayTellStorageTargets(int fd) {
  return Telling(fd) != nullptr;
}

std::vector<std::string> StorageTargetsOf(int fd, uint64_t begin, uint64_t end) {
  const TellingFileSystem* const telling = Telling(fd);
  return telling == nullptr ? std::vector<std::string>() : telling->targets(fd, begin, end);
}

std::vector<std::string> LustreTargets(std::string_view lov, uint64_t begin, uint64_t end) {
  std::vector<std::string> targets;
  if (lov.size() < kCompositeBytes || NumberAt<4>(lov, 0) != kLovComposite) {
    return AddPlain(lov, targets) ? targets : std::vector<std::string>();
  }
  const uint64_t count = NumberAt<2>(lov, kComponentCountAt);
  if (lov.size() < kCompositeBytes + count * kComponentBytes) return {};
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view component = lov.substr(kCompositeBytes + i * kComponentBytes, kComponentBytes);
    const uint64_t flags = NumberAt<4>(component, kFlagsAt);
    const bool holds_some = NumberAt<8>(component, kBeginAt) < end && NumberAt<8>(component, kEndAt) > begin;
    if (!holds_some || (flags & kStale) != 0) continue;
    const uint64_t at = NumberAt<4>(component, kLayoutAt), bytes = NumberAt<4>(component, kLayoutBytesAt);
    if ((flags & kInitialised) == 0 || at > lov.size() || !AddPlain(lov.substr(at, bytes), targets)) return {};
  }
  return targets;
}

std::string LustreStriping(std::string_view lov) {
  if (lov.size() < kV1Bytes) return "";
  if (NumberAt<4>(lov, 0) == kLovComposite)
    return absl::StrCat("composite, ", NumberAt<2>(lov, kComponentCountAt), " components");
  const size_t head = HeadBytes(lov);
  if (head == 0) return "";
  const uint64_t count = NumberAt<2>(lov, kStripeCountAt);
  std::string text = count == 0xFFFF ? "all OSTs"
                     : count == 0    ? "default number of OSTs"
                                     : absl::StrCat(count, count == 1 ? " OST" : " OSTs");
  absl::StrAppend(&text, ", ", NumberAt<4>(lov, kStripeBytesAt), " bytes on each");
  if (head > kV1Bytes) {
    const std::string_view pool = lov.substr(kV1Bytes, kPoolBytes);
    const std::string name(pool.substr(0, pool.find('\0')));
    if (!name.empty()) absl::StrAppend(&text, ", pool ", name);
  }
  return text;
}

std::vector<std::string> BeegfsTargets(absl::FunctionRef<int(unsigned long, void*)> ask) {
  BeegfsStripes stripes;
  if (ask(kBeegfsGetStripes, &stripes) != 0 || stripes.target_count > kBeegfsMaxTargets) return {};
  std::vector<std::string> targets;
  const auto add = [&targets](uint32_t number, const char (&node)[256]) {
    AddOnce(absl::StrCat(number, " @ ", std::string(node, ::strnlen(node, sizeof node))), targets);
  };
  for (uint32_t i = 0; i < stripes.target_count; ++i) {
    BeegfsTarget target;
    target.index = i;
    if (ask(kBeegfsGetTarget, &target) != 0) return {};
    add(target.primary != 0 ? target.primary : target.target, target.primary_name);
    if (target.secondary != 0) add(target.secondary, target.secondary_name);
  }
  return targets;
}

// (<DISTRIBUTE:v-dht> (<REPLICATE:v-replicate-0> <POSIX(/bricks/b1):host1:/bricks/b1/dir/file> <POSIX(…):…>))
std::vector<std::string> GlusterTargets(std::string_view pathinfo) {
  constexpr std::string_view kBrick = "<POSIX(", kHost = "):";
  std::vector<std::string> targets;
  for (size_t at = pathinfo.find(kBrick); at != std::string_view::npos; at = pathinfo.find(kBrick, at + 1)) {
    const size_t brick = at + kBrick.size();
    const size_t brick_end = pathinfo.find(kHost, brick);
    if (brick_end == std::string_view::npos) break;
    const size_t host = brick_end + kHost.size();
    // What follows the host is the path on it, so that an IPv6 address needs no rule of its own.
    const size_t host_end = pathinfo.find(":/", host);
    if (host_end == std::string_view::npos) break;
    AddOnce(absl::StrCat(std::string(pathinfo.substr(host, host_end - host)), ":",
                         std::string(pathinfo.substr(brick, brick_end - brick))),
            targets);
  }
  return targets;
}

std::string GlusterBricks(std::string_view pathinfo) {
  const size_t count = GlusterTargets(pathinfo).size();
  return count > 0 ? absl::StrCat(count) : std::string();
}

}  // namespace iobench
