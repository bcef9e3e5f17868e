// Series of measurements for tests of statistics, with a known truth. They share no code with what is tested.
#ifndef TESTS_UNIT_DEPENDENT_SERIES_H_
#define TESTS_UNIT_DEPENDENT_SERIES_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace iobench {

// Draws that are the same with every standard library: the sum of twelve uniform values is nearly normal.
class SeriesSource {
 public:
  explicit SeriesSource(uint64_t seed) : random_(seed) {}

  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double Normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += Uniform();
    return sum;
  }
  // Of first order: `correlation` between successive values. The values before the first are run through as well.
  std::vector<double> Series(size_t n, double mean, double deviation, double correlation = 0) {
    std::vector<double> values;
    double state = 0;
    const double fresh = std::sqrt(1 - correlation * correlation);
    for (int i = 0; i < (correlation > 0 ? 60 : 1); ++i) state = correlation * state + fresh * Normal();
    for (size_t i = 0; i < n; ++i) {
      values.push_back(mean + deviation * state);
      state = correlation * state + fresh * Normal();
    }
    return values;
  }
  // Such a series on a slow wave, `length` times as long as the series, of which it sees any part.
  std::vector<double> OnWave(size_t n, double mean, double deviation, double correlation, double height, double length) {
    std::vector<double> values = Series(n, mean, deviation, correlation);
    const double begin = Uniform();
    for (size_t i = 0; i < n; ++i) {
      const double turns = static_cast<double>(i) / static_cast<double>(n) / length + begin;
      values[i] += height * std::sin(2 * 3.14159265358979 * turns);
    }
    return values;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace iobench

#endif  // TESTS_UNIT_DEPENDENT_SERIES_H_
