// Changes messages at random, to test code that receives them from files or the network: fields are removed,
// duplicated, or set to unlikely values. The same seed gives the same changes.
#ifndef TESTS_SUPPORT_DAMAGE_H_
#define TESTS_SUPPORT_DAMAGE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace iobench {

class Damage {
 public:
  // `largest`: max. absolute value of integers; if it is below the max. of int64_t, doubles are limited to some days in
  // seconds.
  explicit Damage(uint64_t seed, uint64_t largest = std::numeric_limits<uint64_t>::max())
      : random_(seed), largest_(largest) {}

  // Changes one field somewhere in the message.
  void One(google::protobuf::Message& message) {
    using google::protobuf::FieldDescriptor;
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const google::protobuf::Descriptor& type = *message.GetDescriptor();
    if (type.field_count() == 0) return;
    // Usually selects a field that is set, because the rest of a message is rarely read.
    std::vector<const FieldDescriptor*> set;
    reflection.ListFields(message, &set);
    const FieldDescriptor& field = set.empty() || Below(4) == 0
                                       ? *type.field(static_cast<int>(Below(Unsigned(type.field_count()))))
                                       : *set[Below(set.size())];
    const bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (field.is_repeated()) {
      const int size = reflection.FieldSize(message, &field);
      const uint64_t what = Below(6);
      if (what == 0) return reflection.ClearField(&message, &field);
      if (size > 0 && what == 1) return reflection.RemoveLast(&message, &field);
      if (size > 1 && what == 2) return reflection.SwapElements(&message, &field, 0, size - 1);
      if (!is_message) return what == 3 ? AddScalar(message, field) : SetOneOf(message, field, size);
      if (field.is_map()) return;
      if (size > 0 && what == 3) {
        reflection.AddMessage(&message, &field)->CopyFrom(reflection.GetRepeatedMessage(message, &field, 0));
        return;
      }
      if (size > 0) {
        return One(
            *reflection.MutableRepeatedMessage(&message, &field, static_cast<int>(Below(Unsigned(size)))));
      }
      return One(*reflection.AddMessage(&message, &field));
    }
    if (is_message) {
      if (Below(8) == 0) return reflection.ClearField(&message, &field);
      return One(*reflection.MutableMessage(&message, &field));
    }
    if (Below(4) == 0) return reflection.ClearField(&message, &field);
    SetScalar(message, field);
  }

  uint64_t Below(uint64_t limit) { return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random_); }

 private:
  using Field = google::protobuf::FieldDescriptor;

  static uint64_t Unsigned(int count) { return static_cast<uint64_t>(count); }

  template <typename T>
  T Any(const std::vector<T>& values) {
    return values[Below(values.size())];
  }
  template <typename Int>
  Int AnyInt() {
    using Limits = std::numeric_limits<Int>;
    const bool is_limited = largest_ < static_cast<uint64_t>(Limits::max());
    const Int most = is_limited ? static_cast<Int>(largest_) : Limits::max();
    const Int least = !is_limited ? Limits::min() : Limits::min() == 0 ? 0 : static_cast<Int>(-most);
    return Any<Int>({0, 1, 2, 3, 7, 100, 4096, most, least, static_cast<Int>(most / 2)});
  }
  double AnyDouble() {
    using Limits = std::numeric_limits<double>;
    if (largest_ < std::numeric_limits<int64_t>::max())
      return Any<double>({0, -1, 0.001, 1, 1e6, -1e6, Limits::denorm_min()});
    return Any<double>({0, -1, 0.001, 1, 1e6, 1e300, -1e300, Limits::infinity(), -Limits::infinity(),
                        Limits::quiet_NaN(), Limits::denorm_min()});
  }
  std::string AnyText() { return Any<std::string>({"", "x", "read", "a\nb\x1b[0m", std::string(300, 'y')}); }
  int AnyEnum(const Field& field) {
    const int count = field.enum_type()->value_count();
    return field.enum_type()->value(static_cast<int>(Below(Unsigned(count))))->number();
  }

  void SetScalar(google::protobuf::Message& message, const Field& field) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return reflection.SetInt32(&message, &field, AnyInt<int32_t>());
      case Field::CPPTYPE_INT64:
        return reflection.SetInt64(&message, &field, AnyInt<int64_t>());
      case Field::CPPTYPE_UINT32:
        return reflection.SetUInt32(&message, &field, AnyInt<uint32_t>());
      case Field::CPPTYPE_UINT64:
        return reflection.SetUInt64(&message, &field, AnyInt<uint64_t>());
      case Field::CPPTYPE_DOUBLE:
        return reflection.SetDouble(&message, &field, AnyDouble());
      case Field::CPPTYPE_BOOL:
        return reflection.SetBool(&message, &field, Below(2) == 1);
      case Field::CPPTYPE_ENUM:
        return reflection.SetEnumValue(&message, &field, AnyEnum(field));
      case Field::CPPTYPE_STRING:
        return reflection.SetString(&message, &field, AnyText());
      default:
        return;
    }
  }
  void AddScalar(google::protobuf::Message& message, const Field& field) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT64:
        return reflection.AddInt64(&message, &field, AnyInt<int64_t>());
      case Field::CPPTYPE_UINT32:
        return reflection.AddUInt32(&message, &field, AnyInt<uint32_t>());
      case Field::CPPTYPE_UINT64:
        return reflection.AddUInt64(&message, &field, AnyInt<uint64_t>());
      case Field::CPPTYPE_STRING:
        return reflection.AddString(&message, &field, AnyText());
      default:
        return;
    }
  }
  void SetOneOf(google::protobuf::Message& message, const Field& field, int size) {
    if (size == 0) return AddScalar(message, field);
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const int index = static_cast<int>(Below(Unsigned(size)));
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT64:
        return reflection.SetRepeatedInt64(&message, &field, index, AnyInt<int64_t>());
      case Field::CPPTYPE_UINT32:
        return reflection.SetRepeatedUInt32(&message, &field, index, AnyInt<uint32_t>());
      case Field::CPPTYPE_UINT64:
        return reflection.SetRepeatedUInt64(&message, &field, index, AnyInt<uint64_t>());
      case Field::CPPTYPE_STRING:
        return reflection.SetRepeatedString(&message, &field, index, AnyText());
      default:
        return;
    }
  }

  std::mt19937_64 random_;
  uint64_t largest_;
};

}  // namespace iobench

#endif  // TESTS_SUPPORT_DAMAGE_H_
