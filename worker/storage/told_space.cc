#include "worker/storage/told_space.h"

#include <algorithm>

namespace iobench {
namespace {

// No file system is as large: what tells more means "without limit". Sums of a few such sizes still fit into 64 bits.
constexpr uint64_t kMost = uint64_t{1} << 60;

bool IsKnown(uint64_t total) {
  return total > 0 && total < kMost;
}

}  // namespace

v1::Space SpaceOf(const ToldSpace& told) {
  v1::Space space;
  const uint64_t unit_bytes = std::max<uint64_t>(1, told.unit_bytes);
  if (IsKnown(told.total) && told.total < kMost / unit_bytes) {
    space.set_total_bytes(told.total * unit_bytes);
    space.set_free_bytes(std::min(told.free, told.total) * unit_bytes);
    space.set_available_bytes(std::min(told.available, told.total) * unit_bytes);
  }
  if (IsKnown(told.total_items)) {
    space.set_total_items(told.total_items);
    space.set_available_items(std::min(told.available_items, told.total_items));
  }
  return space;
}

}  // namespace iobench
