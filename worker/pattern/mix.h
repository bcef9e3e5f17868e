// A 64-bit hash in which every input bit affects every result bit. Orders, kinds and data are derived from it.
#ifndef WORKER_PATTERN_MIX_H_
#define WORKER_PATTERN_MIX_H_

#include <cstdint>

namespace iobench {

// 2^64 divided by the golden ratio, as in splitmix64. Multiples of it are far apart, so counters become good inputs of
// Mix.
inline constexpr uint64_t kGoldenRatio64 = 0x9E3779B97F4A7C15u;

// The finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). It is a
// bijection that maps 0 to 0. Data, orders and kept files depend on it, so it must never change.
inline constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Another such hash of a counter's multiples of kGoldenRatio64, in a third of the time: the two halves of a product of
// 128 bits, as in wyrand (Wang Yi, wyhash, 2019). It is no bijection.
inline constexpr uint64_t MixFast(uint64_t x) {
  const auto product = static_cast<unsigned __int128>(x) * (x ^ 0xE7037ED1A0B428DBu);
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

// Combines several identities into one key, which depends on their order.
inline constexpr uint64_t MixAll(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t key = Mix(a + kGoldenRatio64);
  key = Mix(key ^ (b + 2 * kGoldenRatio64));
  key = Mix(key ^ (c + 3 * kGoldenRatio64));
  return Mix(key ^ (d + 4 * kGoldenRatio64));
}

}  // namespace iobench

#endif  // WORKER_PATTERN_MIX_H_
