// How long the token of a run is good for.
#ifndef COORDINATOR_STAGE_TOKEN_LIFE_H_
#define COORDINATOR_STAGE_TOKEN_LIFE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "common/process/secret.h"
#include "common/transport/grpc/secret_file.h"

namespace iobench {

// What ends a token. Workers that have joined are not concerned, nor is their coming back.
struct TokenLimits {
  double ttl_s = 0;             // after this time; 0: no limit
  uint32_t seats = 0;           // when so many workers have joined, with a token that was made for them; 0: no limit
  std::string file = {};        // when this file no longer has the token; empty: it is in no file, or in one that is no file
  SecretReaders readers = SecretReaders::kOwner;
  Secret token = {};
};

// Decides whether another worker may join. Start begins to count, and to look at the file every kLookNs on a thread of its
// own: a file system may hang, which then keeps nobody waiting, not even the destructor. Callable from any thread after Start.
class TokenLife {
 public:
  static constexpr int64_t kLookNs = 500'000'000;

  // `tell`: gets a line when the file has lost the token, or has it again.
  TokenLife(TokenLimits limits, std::function<void(const std::string& line)> tell);
  ~TokenLife();
  TokenLife(const TokenLife&) = delete;
  TokenLife& operator=(const TokenLife&) = delete;

  // REQUIRES: the file has the token. ResourceExhausted: the system refuses the thread.
  absl::Status Start();
  // Empty: another worker may join. Otherwise why not, for that worker.
  std::string WhyClosed(uint64_t joined_count) const;

 private:
  struct Watched;

  const TokenLimits limits_;
  const std::shared_ptr<Watched> watched_;  // shared with the thread, which may outlive this object
  int64_t ends_ns_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_STAGE_TOKEN_LIFE_H_
