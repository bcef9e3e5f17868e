// How much memory a message takes once it is parsed, found out before it is.
#ifndef COMMON_TRANSPORT_GUARD_SWELLING_H_
#define COMMON_TRANSPORT_GUARD_SWELLING_H_

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <map>
#include <string_view>

namespace iobench {

// Two bytes of a message can be an empty message in it, which takes hundreds of bytes in memory: 8 MiB from a hostile
// peer become 2 GiB. What peers of this project send grows by less than kHonestSwelling, which is what numbers of one
// byte in a list take. Immutable, so any thread may use it.
class Swelling {
 public:
  static constexpr uint64_t kHonestSwelling = 8;

  // For messages of this type.
  explicit Swelling(const google::protobuf::Descriptor& type);

  // Returns about how much memory the message takes once it is parsed; a sum above `limit` if it is more than that. A
  // damaged one counts up to where it is damaged.
  uint64_t BytesParsed(std::string_view message, uint64_t limit) const;

 private:
  void Learn(const google::protobuf::Descriptor& type);
  uint64_t Sum(std::string_view message, const google::protobuf::Descriptor& type, uint64_t limit, int depth) const;

  const google::protobuf::Descriptor& type_;
  std::map<const google::protobuf::Descriptor*, uint64_t> empty_bytes_;  // of all types that it may contain
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GUARD_SWELLING_H_
