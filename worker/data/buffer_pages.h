// Which pages hold large buffers, as the kernel says.
#ifndef WORKER_DATA_BUFFER_PAGES_H_
#define WORKER_DATA_BUFFER_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace iobench {

// The huge pages of x86-64, and of arm64 with pages of 4 KiB.
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

struct LargeBuffer {
  std::span<const std::byte> memory;
  uint32_t node = 0;  // NUMA node on which the thread that touched its pages ran
};

// The large buffers of this process, of all its lanes, sorted by address. AlignedBuffer adds each on the thread that has
// just touched its pages, and removes it. Callable from any thread.
void AddLargeBuffer(std::span<const std::byte> memory);
void RemoveLargeBuffer(std::span<const std::byte> memory);
std::vector<LargeBuffer> LargeBuffers();

// Returns how many bytes of `buffers` are in huge pages at present; nullopt: the kernel does not say. Asks for the
// pages of each buffer where the kernel can (Linux 6.7), which takes microseconds, otherwise reads /proc/self/smaps,
// which takes a millisecond in a process with 16 lanes. REQUIRES: the buffers are mapped, sorted by address, and do not
// overlap.
std::optional<uint64_t> HugePageBytesIn(std::span<const LargeBuffer> buffers);

// The two ways, for tests. nullopt: this kernel does not have it.
std::optional<uint64_t> HugePageBytesByScan(std::span<const LargeBuffer> buffers);
// `smaps`: the text of /proc/self/smaps. It has sums over mappings, and the kernel joins those that touch, so a mapping
// that is partly in huge pages counts in proportion.
std::optional<uint64_t> HugePageBytesBySmaps(std::string_view smaps, std::span<const LargeBuffer> buffers);

// Returns how many bytes of `buffers` are on their nodes, by samples of at most 2,048 pages, since large buffers can have a
// million of them. nullopt: the kernel does not say. REQUIRES: as above.
std::optional<uint64_t> LocalBytesIn(std::span<const LargeBuffer> buffers);

}  // namespace iobench

#endif  // WORKER_DATA_BUFFER_PAGES_H_
