// How much memory the headers of a call may take once they are unpacked.
#ifndef COMMON_TRANSPORT_GUARD_HEADER_BOUND_H_
#define COMMON_TRANSPORT_GUARD_HEADER_BOUND_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace iobench {

// An upper bound for the headers of one connection, as HTTP/2 counts them: name, value and 32 bytes for each. HPACK lets
// one byte stand for an entry of up to 4 KiB that came earlier, so the length of a block says nothing. Each such byte
// counts as the largest entry so far; texts count as if every one of their characters had Huffman's shortest code.
class HeaderBound {
 public:
  // Returns the bound of the next block, or nullopt if the block is malformed. Blocks count in the order in which they
  // arrive.
  std::optional<uint64_t> Add(std::span<const unsigned char> block);

 private:
  uint64_t largest_entry_bytes_ = 0;  // in the dynamic table, where entries may already have been dropped
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GUARD_HEADER_BOUND_H_
