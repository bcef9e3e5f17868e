#include "worker/storage/extents.h"

#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace iobench {
namespace {

// A network file system may need a request for each.
constexpr int kMaxSeeks = 20'000;
constexpr uint32_t kExtentsPerCall = 512;
constexpr int kMaxExtentCalls = 40;

// What was found in begin .. examined, for the whole range.
uint64_t ForWholeRange(uint64_t found, uint64_t begin, uint64_t examined, uint64_t end) {
  if (examined >= end || examined <= begin) return found;
  const double share = static_cast<double>(found) / static_cast<double>(examined - begin);
  return static_cast<uint64_t>(share * static_cast<double>(end - begin));
}

// Room for the answer to one FS_IOC_FIEMAP, suitably aligned.
class ExtentBuffer {
 public:
  ExtentBuffer() : words_((sizeof(fiemap) + kExtentsPerCall * sizeof(fiemap_extent)) / sizeof(uint64_t) + 1) {}
  fiemap& map() { return *reinterpret_cast<fiemap*>(words_.data()); }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace

uint64_t HoleBytes(int fd, uint64_t begin, uint64_t end) {
  uint64_t found = 0, at = begin;
  for (int i = 0; i < kMaxSeeks && at < end; ++i) {
    const off_t hole = ::lseek(fd, static_cast<off_t>(at), SEEK_HOLE);
    if (hole < 0 || static_cast<uint64_t>(hole) >= end) return found;
    const off_t data = ::lseek(fd, hole, SEEK_DATA);
    if (data < 0 && errno != ENXIO) return found;  // ENXIO: the hole reaches to the end of the file
    const uint64_t hole_end = data < 0 ? end : std::min(end, static_cast<uint64_t>(data));
    found += hole_end - static_cast<uint64_t>(hole);
    at = hole_end;
  }
  return ForWholeRange(found, begin, at, end);
}

uint64_t CompressedBytes(int fd, uint64_t begin, uint64_t end) {
  ExtentBuffer buffer;
  uint64_t found = 0, at = begin;
  for (int i = 0; i < kMaxExtentCalls && at < end; ++i) {
    fiemap& map = buffer.map();
    map = {};
    map.fm_start = at;
    map.fm_length = end - at;
    map.fm_extent_count = kExtentsPerCall;  // without FIEMAP_FLAG_SYNC, which would flush the file
    if (::ioctl(fd, FS_IOC_FIEMAP, &map) != 0 || map.fm_mapped_extents == 0) return found;
    bool last = false;
    for (uint32_t k = 0; k < std::min(map.fm_mapped_extents, kExtentsPerCall); ++k) {
      const fiemap_extent& extent = map.fm_extents[k];
      const uint64_t from = std::max<uint64_t>(extent.fe_logical, at);
      const uint64_t to = std::min<uint64_t>(extent.fe_logical + extent.fe_length, end);
      last |= (extent.fe_flags & FIEMAP_EXTENT_LAST) != 0;
      if (to <= from) continue;
      constexpr uint32_t kEncrypted = FIEMAP_EXTENT_DATA_ENCRYPTED;  // sets ENCODED too
      if ((extent.fe_flags & (FIEMAP_EXTENT_ENCODED | kEncrypted)) == FIEMAP_EXTENT_ENCODED) found += to - from;
      at = to;
    }
    if (last || map.fm_mapped_extents < kExtentsPerCall) return found;
  }
  return ForWholeRange(found, begin, at, end);
}

}  // namespace iobench
