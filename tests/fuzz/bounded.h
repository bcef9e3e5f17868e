// Limits on random messages in raw files: only the program itself could exceed them, as seals reveal any other change.
#ifndef TESTS_FUZZ_BOUNDED_H_
#define TESTS_FUZZ_BOUNDED_H_

#include <google/protobuf/message.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace iobench {

// Months in nanoseconds: clocks of one run are never farther apart.
inline constexpr int64_t kMaxBounded = int64_t{1} << 52;

// Limits integers to +-2^52 and doubles to numbers up to 10^18, and cuts repeated fields off after `most_repeated`.
inline void Bound(google::protobuf::Message& message, int most_repeated = 1000) {
  using google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const auto signed_bound = [](int64_t value) { return std::clamp(value, -kMaxBounded, kMaxBounded); };
  const auto unsigned_bound = [](uint64_t value) { return std::min<uint64_t>(value, kMaxBounded); };
  const auto real_bound = [](double value) {
    return std::isfinite(value) ? std::clamp(value, -1e18, 1e18) : 0;
  };
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    if (field->is_map()) continue;  // counters of calls by name
    if (field->is_repeated()) {
      while (reflection.FieldSize(message, field) > most_repeated) reflection.RemoveLast(&message, field);
    }
    const int size = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < size; ++i) {
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          Bound(field->is_repeated() ? *reflection.MutableRepeatedMessage(&message, field, i)
                                     : *reflection.MutableMessage(&message, field),
                most_repeated);
          break;
        case FieldDescriptor::CPPTYPE_INT64:
          field->is_repeated()
              ? reflection.SetRepeatedInt64(&message, field, i,
                                            signed_bound(reflection.GetRepeatedInt64(message, field, i)))
              : reflection.SetInt64(&message, field, signed_bound(reflection.GetInt64(message, field)));
          break;
        case FieldDescriptor::CPPTYPE_UINT64:
          field->is_repeated()
              ? reflection.SetRepeatedUInt64(&message, field, i,
                                             unsigned_bound(reflection.GetRepeatedUInt64(message, field, i)))
              : reflection.SetUInt64(&message, field, unsigned_bound(reflection.GetUInt64(message, field)));
          break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          field->is_repeated()
              ? reflection.SetRepeatedDouble(&message, field, i,
                                             real_bound(reflection.GetRepeatedDouble(message, field, i)))
              : reflection.SetDouble(&message, field, real_bound(reflection.GetDouble(message, field)));
          break;
        default:
          break;
      }
    }
  }
}

}  // namespace iobench

#endif  // TESTS_FUZZ_BOUNDED_H_
