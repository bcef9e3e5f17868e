#include "worker/data/buffer_pages.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "common/mutex.h"
#include "common/proc_file.h"
#include "common/unique_fd.h"

namespace iobench {
namespace {

// ioctl PAGEMAP_SCAN, which linux/fs.h has since Linux 6.7.
struct PageRegion {
  uint64_t start, end, categories;
};
struct PageScan {
  uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages, inverted, all_of, any_of, returned;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, PageScan);
constexpr uint64_t kPageIsHuge = 1 << 6;

// MPOL_F_NODE | MPOL_F_ADDR of linux/mempolicy.h: get_mempolicy(2) returns the node that has the page.
constexpr unsigned long kNodeOfAddress = 1 << 0 | 1 << 1;

class Registry {
 public:
  void Add(const LargeBuffer& buffer) {
    MutexLock lock(mutex_);
    buffers_[buffer.memory.data()] = buffer;
  }
  void Remove(std::span<const std::byte> memory) {
    MutexLock lock(mutex_);
    buffers_.erase(memory.data());
  }
  std::vector<LargeBuffer> All() {
    MutexLock lock(mutex_);
    std::vector<LargeBuffer> all;
    for (const auto& [data, buffer] : buffers_) all.push_back(buffer);
    return all;
  }

 private:
  Mutex mutex_;
  std::map<const std::byte*, LargeBuffer> buffers_ ABSL_GUARDED_BY(mutex_);
};

// Never destroyed: threads of lanes that hang outlive main().
Registry& TheRegistry() {
  static Registry& registry = *new Registry;
  return registry;
}

uint64_t AddressOf(const std::byte* at) {
  return reinterpret_cast<uintptr_t>(at);
}

uint64_t EndOf(const LargeBuffer& buffer) {
  return AddressOf(buffer.memory.data()) + buffer.memory.size();
}

uint64_t Overlap(uint64_t start, uint64_t end, const LargeBuffer& buffer) {
  const uint64_t from = std::max(start, AddressOf(buffer.memory.data()));
  const uint64_t to = std::min(end, EndOf(buffer));
  return to > from ? to - from : 0;
}

// A line "7f0000000000-7f0000200000 rw-p …" begins a mapping.
struct Mapping {
  uint64_t start = 0, end = 0;
  uint64_t resident_kib = 0, huge_kib = 0;

  bool ReadRange(std::string_view line) {
    const char* const last = line.data() + line.size();
    const auto from = std::from_chars(line.data(), last, start, 16);
    if (from.ec != std::errc() || from.ptr == last || *from.ptr != '-') return false;
    const auto to = std::from_chars(from.ptr + 1, last, end, 16);
    return to.ec == std::errc() && to.ptr != last && *to.ptr == ' ';
  }
};

// "Rss:                2048 kB"
bool ReadKib(std::string_view line, std::string_view name, uint64_t& kib) {
  if (!line.starts_with(name)) return false;
  const size_t digits = line.find_first_not_of(' ', name.size());
  return digits != line.npos &&
         std::from_chars(line.data() + digits, line.data() + line.size(), kib).ec == std::errc();
}

}  // namespace

void AddLargeBuffer(std::span<const std::byte> memory) {
  unsigned node = 0;
  ::getcpu(nullptr, &node);
  TheRegistry().Add({memory, node});
}
void RemoveLargeBuffer(std::span<const std::byte> memory) {
  TheRegistry().Remove(memory);
}
std::vector<LargeBuffer> LargeBuffers() {
  return TheRegistry().All();
}

std::optional<uint64_t> HugePageBytesByScan(std::span<const LargeBuffer> buffers) {
  const UniqueFd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  if (!pagemap.valid()) return std::nullopt;
  uint64_t huge_bytes = 0;
  for (const LargeBuffer& buffer : buffers) {
    const uint64_t first = AddressOf(buffer.memory.data()) / 4096 * 4096;
    const uint64_t end = (EndOf(buffer) + 4095) / 4096 * 4096;
    std::array<PageRegion, 64> regions;
    for (uint64_t at = first; at < end;) {
      PageScan scan = {.size = sizeof(PageScan),
                       .flags = 0,
                       .start = at,
                       .end = end,
                       .walk_end = 0,
                       .regions = reinterpret_cast<uintptr_t>(regions.data()),
                       .region_count = regions.size(),
                       .max_pages = 0,
                       .inverted = 0,
                       .all_of = kPageIsHuge,
                       .any_of = 0,
                       .returned = kPageIsHuge};
      const int found = ::ioctl(pagemap.get(), kPagemapScan, &scan);
      if (found < 0 || scan.walk_end <= at) return std::nullopt;
      for (int i = 0; i < found; ++i) huge_bytes += Overlap(regions[i].start, regions[i].end, buffer);
      at = scan.walk_end;
    }
  }
  return huge_bytes;
}

std::optional<uint64_t> HugePageBytesBySmaps(std::string_view smaps, std::span<const LargeBuffer> buffers) {
  double huge_bytes = 0;
  bool knows = false;
  Mapping mapping;
  const auto add = [&] {
    if (mapping.resident_kib == 0) return;
    // The first buffer that ends in the mapping or after it.
    auto buffer = std::partition_point(buffers.begin(), buffers.end(),
                                       [&](const LargeBuffer& each) { return EndOf(each) <= mapping.start; });
    uint64_t bytes = 0;
    for (; buffer != buffers.end() && AddressOf(buffer->memory.data()) < mapping.end; ++buffer) {
      bytes += Overlap(mapping.start, mapping.end, *buffer);
    }
    huge_bytes += static_cast<double>(bytes) * static_cast<double>(mapping.huge_kib) /
                  static_cast<double>(mapping.resident_kib);
  };
  while (!smaps.empty()) {
    const std::string_view line = smaps.substr(0, smaps.find('\n'));
    smaps.remove_prefix(std::min(smaps.size(), line.size() + 1));
    Mapping next;
    if (next.ReadRange(line)) {
      add();
      mapping = next;
    } else if (ReadKib(line, "AnonHugePages:", mapping.huge_kib)) {
      knows = true;
    } else {
      ReadKib(line, "Rss:", mapping.resident_kib);
    }
  }
  add();
  if (!knows) return std::nullopt;
  return static_cast<uint64_t>(huge_bytes + 0.5);
}

std::optional<uint64_t> HugePageBytesIn(std::span<const LargeBuffer> buffers) {
  if (const std::optional<uint64_t> bytes = HugePageBytesByScan(buffers)) return bytes;
  const std::optional<std::string> smaps = ReadWholeFile("/proc/self/smaps");
  return smaps ? HugePageBytesBySmaps(*smaps, buffers) : std::nullopt;
}

std::optional<uint64_t> LocalBytesIn(std::span<const LargeBuffer> buffers) {
  constexpr uint64_t kMaxSamples = 2048;
  uint64_t bytes = 0;
  for (const LargeBuffer& buffer : buffers) bytes += buffer.memory.size();
  // No more than a sample for every 64 KiB, and one at the start of each buffer.
  const uint64_t step = std::max<uint64_t>(64 << 10, bytes / kMaxSamples);
  uint64_t local_bytes = 0;
  for (const LargeBuffer& buffer : buffers) {
    uint64_t samples = 0, local = 0;
    for (uint64_t at = 0; at < buffer.memory.size(); at += step, ++samples) {
      int node = -1;
      const void* const page = buffer.memory.data() + at;
      if (::syscall(SYS_get_mempolicy, &node, nullptr, 0, page, kNodeOfAddress) != 0) return std::nullopt;
      local += node == static_cast<int>(buffer.node) ? 1 : 0;
    }
    local_bytes += buffer.memory.size() * local / std::max<uint64_t>(1, samples);
  }
  return local_bytes;
}

}  // namespace iobench
