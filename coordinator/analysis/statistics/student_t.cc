#include "coordinator/analysis/statistics/student_t.h"

#include <cmath>

namespace iobench {
namespace {

// The continued fraction of the incomplete beta function, evaluated by Lentz's method as modified by Thompson and
// Barnett (Numerical Recipes, 3rd ed., section 6.4). It converges fast for x < (a + 1) / (a + b + 2).
double BetaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kPrecision = 1e-15;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int i = 1; i <= 10'000; ++i) {
    const double m = i;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < kPrecision) break;
  }
  return result;
}

// The regularised incomplete beta function I_x(a, b); `y` is 1 - x, given separately to keep its digits.
double IncompleteBeta(double a, double b, double x, double y) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(y));
  if (x < (a + 1) / (a + b + 2)) return front * BetaFraction(a, b, x) / a;
  return 1 - front * BetaFraction(b, a, y) / b;
}

}  // namespace

double StudentTail(double t, double degrees) {
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const double square = t * t;
  const double beyond =
      IncompleteBeta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square)) / 2;
  return t >= 0 ? beyond : 1 - beyond;
}

double StudentQuantile(double tail, double degrees) {
  double low = 0, high = 1;
  while (StudentTail(high, degrees) > tail && high < 1e150) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2;
    (StudentTail(middle, degrees) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

double FisherTail(double f, double numerator_degrees, double denominator_degrees) {
  if (std::isinf(f)) return 0;
  const double sum = numerator_degrees * f + denominator_degrees;
  return IncompleteBeta(denominator_degrees / 2, numerator_degrees / 2, denominator_degrees / sum,
                        numerator_degrees * f / sum);
}

}  // namespace iobench
