// Slows down hosts that send wrong tokens.
#ifndef COMMON_TRANSPORT_DOOR_GUESS_LIMIT_H_
#define COMMON_TRANSPORT_DOOR_GUESS_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace iobench {

// Each host may send kBurst wrong tokens at once, and then one every kNsPerGuess; until then, its tokens are not looked at,
// right or wrong. Only wrong ones count, so that honest workers behind the address of a guesser need only try again: within
// seconds, and at once when it has ended. An IPv6 host has as many addresses as it likes, so its /64 counts as one. At most
// kMaxHosts are kept, however many there are: beyond that, all new ones share one allowance. Not thread-safe.
class GuessLimit {
 public:
  static constexpr int kBurst = 32;  // a host with outdated credentials may start as many workers
  static constexpr int64_t kNsPerGuess = 100'000'000;
  static constexpr size_t kMaxHosts = 1024;

  // `peer`: "10.0.0.7:4242", "[fe80::1%3]:4242", "unix socket".
  bool Allows(std::string_view peer, int64_t now_ns);
  // The token of a peer whose call was allowed is wrong.
  void RecordWrong(std::string_view peer, int64_t now_ns);

 private:
  // When its allowance is whole again; times before now mean that it is.
  using Hosts = std::map<std::string, int64_t, std::less<>>;

  std::string NameOf(std::string_view peer) const;
  void ForgetWhole(int64_t now_ns);

  Hosts whole_at_ns_;
};

}  // namespace iobench

#endif  // COMMON_TRANSPORT_DOOR_GUESS_LIMIT_H_
