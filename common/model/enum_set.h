// A set of enumerators, stored as a bit mask in one 64-bit word.
#ifndef COMMON_MODEL_ENUM_SET_H_
#define COMMON_MODEL_ENUM_SET_H_

#include <cstdint>
#include <initializer_list>

namespace iobench {

// A value type that is cheap to copy. Everything is constexpr, because the tables of operations and engines are
// constants that contain such sets. REQUIRES: the values of the enumerators are 0 to 63. Any other value, which a
// message of another version may have, is in no set.
template <typename Enum>
class EnumSet {
 public:
  constexpr EnumSet() = default;
  // Implicit, so that a table row can name a single enumerator where a set is expected.
  constexpr EnumSet(Enum one) : bits_(Bit(one)) {}  // NOLINT(google-explicit-constructor): a set of one
  constexpr EnumSet(std::initializer_list<Enum> all) {
    for (const Enum one : all) bits_ |= Bit(one);
  }
  constexpr bool Has(Enum one) const { return (bits_ & Bit(one)) != 0; }
  constexpr bool HasAny(EnumSet some) const { return (bits_ & some.bits_) != 0; }
  constexpr bool IsWithin(EnumSet all) const { return (bits_ & ~all.bits_) == 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr bool operator==(const EnumSet&) const = default;
  constexpr EnumSet operator|(EnumSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr uint64_t Bit(Enum one) {
    const auto value = static_cast<uint32_t>(one);
    return value < 64 ? uint64_t{1} << value : 0;
  }
  uint64_t bits_ = 0;
};

}  // namespace iobench

#endif  // COMMON_MODEL_ENUM_SET_H_
