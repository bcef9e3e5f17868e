#include "common/transport/guard/header_bound.h"

#include <algorithm>

namespace iobench {
namespace {

constexpr uint64_t kEntryBytes = 32;         // what RFC 7541 adds to name and value
constexpr uint64_t kStaticEntryBytes = 64;   // the largest in the static table: "accept-encoding: gzip, deflate"
constexpr uint64_t kStaticCount = 61;
constexpr uint64_t kMaxTableBytes = 4096;    // HTTP/2's default, which gRPC keeps
// No number in a worker's headers comes near it, and gRPC reads longer ones for as long as their zeros last.
constexpr int kMaxNumberBytes = 4;

// Reads a block from its front. Each function returns nullopt at its end, or where it is malformed.
class BlockReader {
 public:
  explicit BlockReader(std::span<const unsigned char> block) : rest_(block) {}

  bool at_end() const { return rest_.empty(); }
  unsigned char front() const { return rest_.front(); }

  std::optional<uint64_t> Number(int prefix_bits) {
    if (rest_.empty()) return std::nullopt;
    const uint64_t limit = (1u << prefix_bits) - 1;
    uint64_t value = rest_.front() & limit;
    rest_ = rest_.subspan(1);
    if (value < limit) return value;
    for (int i = 0; i < kMaxNumberBytes && !rest_.empty(); ++i) {
      const unsigned char next = rest_.front();
      rest_ = rest_.subspan(1);
      value += uint64_t{next & 0x7fu} << (7 * i);
      if ((next & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  // Returns how many bytes the text has at most.
  std::optional<uint64_t> Text() {
    if (rest_.empty()) return std::nullopt;
    const bool is_huffman = (rest_.front() & 0x80) != 0;
    const std::optional<uint64_t> bytes = Number(7);
    if (!bytes.has_value() || *bytes > rest_.size()) return std::nullopt;
    rest_ = rest_.subspan(*bytes);
    return is_huffman ? *bytes * 8 / 5 : *bytes;
  }

 private:
  std::span<const unsigned char> rest_;
};

}  // namespace

std::optional<uint64_t> HeaderBound::Add(std::span<const unsigned char> block) {
  BlockReader reader(block);
  uint64_t total = 0;
  const auto entry = [this](uint64_t index) {
    return index <= kStaticCount ? kStaticEntryBytes : largest_entry_bytes_;
  };
  while (!reader.at_end()) {
    const unsigned char first = reader.front();
    if ((first & 0x80) != 0) {
      const std::optional<uint64_t> index = reader.Number(7);
      if (!index.has_value() || *index == 0) return std::nullopt;
      total += entry(*index);
      continue;
    }
    if ((first & 0xe0) == 0x20) {
      const std::optional<uint64_t> table_bytes = reader.Number(5);
      if (!table_bytes.has_value() || *table_bytes > kMaxTableBytes) return std::nullopt;
      continue;
    }
    const bool is_kept = (first & 0x40) != 0;
    const std::optional<uint64_t> index = reader.Number(is_kept ? 6 : 4);
    if (!index.has_value()) return std::nullopt;
    std::optional<uint64_t> name = *index == 0 ? reader.Text() : entry(*index);
    const std::optional<uint64_t> value = reader.Text();
    if (!name.has_value() || !value.has_value()) return std::nullopt;
    const uint64_t bytes = *name + *value + kEntryBytes;
    if (is_kept) largest_entry_bytes_ = std::max(largest_entry_bytes_, bytes);
    total += bytes;
  }
  return total;
}

}  // namespace iobench
