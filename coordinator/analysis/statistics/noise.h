// Seeded noise whose successive values depend on each other: what a series looks like when nothing has changed. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_NOISE_H_
#define COORDINATOR_ANALYSIS_STATISTICS_NOISE_H_

#include <cstdint>
#include <random>
#include <span>

namespace iobench {

// Standard normal values, the same with every standard library. Not thread-safe.
class Noise {
 public:
  explicit Noise(uint64_t seed) : random_(seed) {}

  double Normal();
  // A stationary series of first order: each value is `correlation` times the one before plus fresh noise, so that all
  // have the variance 1. REQUIRES: 0 <= correlation < 1.
  void Fill(double correlation, std::span<double> values);

 private:
  double Uniform();  // above 0, below 1

  std::mt19937_64 random_;
  bool has_spare_ = false;
  double spare_ = 0;
};

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_NOISE_H_
