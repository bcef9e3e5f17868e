#include "common/transport/guard/swelling.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <optional>

namespace iobench {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr int kMaxDepth = 100;        // protobuf's own
constexpr uint64_t kElementBytes = 8;  // of a list: a number, or a pointer
constexpr uint64_t kAllocationBytes = 16;
constexpr uint64_t kTextBytes = 32;    // an empty std::string
constexpr uint64_t kUnknownBytes = 32;
constexpr uint64_t kMapEntryBytes = 64;
enum WireType : uint8_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

std::optional<uint64_t> TakeVarint(std::string_view& rest) {
  uint64_t value = 0;
  for (int shift = 0; shift < 70 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << std::min(shift, 63);
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Takes the content of a field off. Nullopt: it is damaged.
std::optional<std::string_view> TakeContent(std::string_view& rest, uint8_t wire_type) {
  size_t bytes = 0;
  if (wire_type == kVarint) {
    if (!TakeVarint(rest).has_value()) return std::nullopt;
  } else if (wire_type == kLength) {
    const std::optional<uint64_t> length = TakeVarint(rest);
    if (!length.has_value() || *length > rest.size()) return std::nullopt;
    bytes = *length;
  } else if (wire_type == kFixed64 || wire_type == kFixed32) {
    bytes = wire_type == kFixed64 ? 8 : 4;
    if (bytes > rest.size()) return std::nullopt;
  } else {
    return std::nullopt;  // a group, which none of our messages has
  }
  const std::string_view content = rest.substr(0, bytes);
  rest.remove_prefix(bytes);
  return content;
}

}  // namespace

Swelling::Swelling(const Descriptor& type) : type_(type) {
  Learn(type);
}

void Swelling::Learn(const Descriptor& type) {
  uint64_t bytes = kMapEntryBytes;  // protobuf cannot say it for the entries of a map
  if (!type.options().map_entry()) {
    bytes = google::protobuf::MessageFactory::generated_factory()->GetPrototype(&type)->SpaceUsedLong();
  }
  if (!empty_bytes_.emplace(&type, bytes).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    if (const Descriptor* const inner = type.field(i)->message_type(); inner != nullptr) Learn(*inner);
  }
}

uint64_t Swelling::BytesParsed(std::string_view message, uint64_t limit) const {
  return Sum(message, type_, limit, 0);
}

uint64_t Swelling::Sum(std::string_view message, const Descriptor& type, uint64_t limit, int depth) const {
  uint64_t sum = empty_bytes_.at(&type) + kAllocationBytes;
  while (!message.empty() && sum <= limit && depth < kMaxDepth) {
    const std::optional<uint64_t> tag = TakeVarint(message);
    if (!tag.has_value()) break;
    const auto wire_type = static_cast<uint8_t>(*tag & 7);
    const std::optional<std::string_view> content = TakeContent(message, wire_type);
    if (!content.has_value()) break;
    const FieldDescriptor* const field = type.FindFieldByNumber(static_cast<int>(*tag >> 3));
    if (field == nullptr) {
      sum += kUnknownBytes + content->size();
    } else if (wire_type != kLength) {
      sum += field->is_repeated() ? kElementBytes + kAllocationBytes : 0;
    } else if (field->message_type() != nullptr) {
      sum += kElementBytes + Sum(*content, *field->message_type(), limit - sum, depth + 1);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      sum += kElementBytes + kTextBytes + content->size();
    } else {
      sum += kElementBytes * content->size() + kAllocationBytes;  // packed: at least a byte for each
    }
  }
  return sum;
}

}  // namespace iobench
