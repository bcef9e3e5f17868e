// The messages of one direction of a stream that can be resumed: each arrives exactly once, even if connections break.
#ifndef COMMON_TRANSPORT_GRPC_UNCONFIRMED_H_
#define COMMON_TRANSPORT_GRPC_UNCONFIRMED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace iobench {

// The sender's end. Messages are counted from the first one of the worker's first connection. Each is kept until the
// other end has confirmed that it arrived; on a new connection, the unconfirmed ones are sent again. Only messages
// under way take memory, since both ends confirm with every message that they send. Not thread-safe.
template <typename Message>
class Unconfirmed {
 public:
  void Push(Message message) { kept_.push_back(std::move(message)); }
  bool has_next() const { return next_ < kept_.size(); }
  // Returns the next message to write on this connection. REQUIRES: has_next().
  const Message& Take() { return kept_[next_++]; }

  // Notes that the other end has the first `count` messages. False: it cannot have them, since they were not written.
  bool Confirm(uint64_t count) {
    if (count > confirmed_ + next_) return false;
    if (count <= confirmed_) return true;
    const uint64_t arrived = count - confirmed_;
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(arrived));
    next_ -= arrived;
    confirmed_ = count;
    return true;
  }
  // Begins a new connection, on which the other end has the first `count` messages. False as above, or if it lacks some
  // that it had before.
  bool Restart(uint64_t count) {
    if (count < confirmed_ || !Confirm(count)) return false;
    next_ = 0;
    return true;
  }

 private:
  uint64_t confirmed_ = 0;
  std::vector<Message> kept_;  // messages after the confirmed ones; mostly none or one
  size_t next_ = 0;            // index in kept_ of the next message to write
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_GRPC_UNCONFIRMED_H_
