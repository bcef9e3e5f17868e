// Inputs that are sequences of messages, each preceded by its length as a varint, and random changes to them.
#ifndef TESTS_FUZZ_MESSAGES_H_
#define TESTS_FUZZ_MESSAGES_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz_target.h"
#include "tests/support/damage.h"

namespace iobench {

// Splits an input at its lengths; the last part may be shorter than its length says. Ends after `most` parts.
inline std::vector<std::string> PartsOf(const uint8_t* data, size_t size, size_t most) {
  google::protobuf::io::CodedInputStream in(data, static_cast<int>(size));
  std::vector<std::string> parts;
  uint32_t bytes = 0;
  while (parts.size() < most && in.ReadVarint32(&bytes)) {
    const auto left = static_cast<uint32_t>(static_cast<int>(size) - in.CurrentPosition());
    std::string& part = parts.emplace_back();
    if (!in.ReadString(&part, static_cast<int>(std::min(bytes, left)))) break;
  }
  return parts;
}

inline std::string Joined(const std::vector<std::string>& parts) {
  std::string joined;
  google::protobuf::io::StringOutputStream stream(&joined);
  google::protobuf::io::CodedOutputStream out(&stream);
  for (const std::string& part : parts) {
    out.WriteVarint32(static_cast<uint32_t>(part.size()));
    out.WriteString(part);
  }
  out.Trim();
  return joined;
}

// Returns only the messages that can be parsed, as a transport does.
template <typename Message>
std::vector<Message> MessagesOf(const std::vector<std::string>& parts) {
  google::protobuf::SetLogHandler(nullptr);  // which would print each name that is not UTF-8
  std::vector<Message> messages;
  for (const std::string& part : parts) {
    if (!messages.emplace_back().ParseFromString(part)) messages.pop_back();
  }
  return messages;
}

// Replaces data[0, size) with `text` if that fits. Returns the new size; 0: it does not fit.
inline size_t Replace(const std::string& text, uint8_t* data, size_t max_size) {
  if (text.empty() || text.size() > max_size) return 0;
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

// A mutator: changes fields of messages or parts three times out of four, else bytes. `message_of` returns an empty
// message of the type of the part with this index.
template <typename MessageOf>
size_t MutateParts(uint8_t* data, size_t size, size_t max_size, unsigned int seed,
                   const MessageOf& message_of) {
  Damage damage(seed);
  std::vector<std::string> parts = PartsOf(data, size, 64);
  const uint64_t what = damage.Below(16);
  if (parts.empty() || what < 4) return LLVMFuzzerMutate(data, size, max_size);
  const size_t index = damage.Below(parts.size());
  if (what == 4) {
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(index));
  } else if (what == 5) {
    parts.push_back(parts[index]);
  } else if (what == 6) {
    std::swap(parts[index], parts.back());
  } else {
    auto message = message_of(index);
    if (!message->ParsePartialFromString(parts[index])) return LLVMFuzzerMutate(data, size, max_size);
    for (uint64_t i = damage.Below(3) + 1; i > 0; --i) damage.One(*message);
    parts[index] = message->SerializePartialAsString();
  }
  const size_t replaced = Replace(Joined(parts), data, max_size);
  return replaced > 0 ? replaced : LLVMFuzzerMutate(data, size, max_size);
}

}  // namespace iobench

#endif  // TESTS_FUZZ_MESSAGES_H_
