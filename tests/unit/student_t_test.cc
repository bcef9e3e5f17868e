// Reference values are those of SciPy 1.10 (scipy.stats) and of printed tables.
#include "coordinator/analysis/statistics/student_t.h"

#include <cmath>

#include "catch2/catch.hpp"

namespace iobench {
namespace {

TEST_CASE("tails of Student's t are those of scipy.stats.t.sf") {
  CHECK(StudentTail(0.5, 1) == Approx(0.3524163823495668).epsilon(1e-12));
  CHECK(StudentTail(2, 2.5) == Approx(0.078695747878983).epsilon(1e-12));
  CHECK(StudentTail(3, 4) == Approx(0.019970984035859413).epsilon(1e-12));
  CHECK(StudentTail(10, 7) == Approx(1.069710144538641e-05).epsilon(1e-10));
  CHECK(StudentTail(-1, 3) == Approx(0.8044988905221148).epsilon(1e-12));
  CHECK(StudentTail(1.96, 1000) == Approx(0.025136592477874354).epsilon(1e-10));
  CHECK(StudentTail(50, 3) == Approx(8.808576020635976e-06).epsilon(1e-10));
  CHECK(StudentTail(0, 5) == Approx(0.5));
  CHECK(StudentTail(INFINITY, 5) == 0);
  CHECK(StudentTail(-INFINITY, 5) == 1);
}

TEST_CASE("quantiles of Student's t are those of scipy.stats.t.isf") {
  CHECK(StudentQuantile(0.025, 2) == Approx(4.3026527299112765).epsilon(1e-10));
  CHECK(StudentQuantile(0.005, 7.5) == Approx(3.4214226881240473).epsilon(1e-10));
  CHECK(StudentQuantile(0.025, 1) == Approx(12.706204736432102).epsilon(1e-10));
  // SciPy's own is off by 3e-9 here: its sf(3.39049132, 100) is 0.00049999999.
  CHECK(StudentQuantile(0.0005, 100) == Approx(3.3904913194103012).epsilon(1e-8));
  CHECK(StudentTail(StudentQuantile(0.0005, 100), 100) == Approx(0.0005).epsilon(1e-11));
  CHECK(StudentQuantile(0.5, 3) == Approx(0).margin(1e-9));
}

TEST_CASE("quantiles of Student's t are those of printed tables") {
  // 95 % two-sided (NIST/SEMATECH e-Handbook of Statistical Methods, table 1.3.6.7.2).
  const double printed[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  for (int degrees = 1; degrees <= 10; ++degrees)
    CHECK(StudentQuantile(0.025, degrees) == Approx(printed[degrees - 1]).margin(0.0005));
  CHECK(StudentQuantile(0.025, 30) == Approx(2.042).margin(0.0005));
}

TEST_CASE("tails of Fisher's F are those of printed tables") {
  // The same handbook, tables 1.3.6.7.3, at 5 % and at 1 %.
  CHECK(FisherTail(161.448, 1, 1) == Approx(0.05).epsilon(1e-4));
  CHECK(FisherTail(4.757, 3, 6) == Approx(0.05).epsilon(1e-3));
  CHECK(FisherTail(3.326, 5, 10) == Approx(0.05).epsilon(1e-3));
  CHECK(FisherTail(5.636, 5, 10) == Approx(0.01).epsilon(1e-3));
  CHECK(FisherTail(2.774, 8, 20) == Approx(0.03).epsilon(0.06));
  CHECK(FisherTail(0, 3, 6) == 1);
  CHECK(FisherTail(INFINITY, 3, 6) == 0);
  // With one degree in the numerator, it is the square of Student's t.
  CHECK(FisherTail(2.5 * 2.5, 1, 7) == Approx(2 * StudentTail(2.5, 7)).epsilon(1e-12));
}

}  // namespace
}  // namespace iobench
