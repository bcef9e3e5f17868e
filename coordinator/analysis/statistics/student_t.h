// Student's t distribution, for intervals and tests with few values. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_STUDENT_T_H_
#define COORDINATOR_ANALYSIS_STATISTICS_STUDENT_T_H_

namespace iobench {

// P(T > t) with `degrees` of freedom, which need not be whole, to a relative error below 1e-10. By symmetry, negative
// `t` gives more than 0.5. REQUIRES: degrees > 0; t may be infinite.
double StudentTail(double t, double degrees);

// The t with StudentTail(t, degrees) = tail. REQUIRES: 0 < tail <= 0.5, degrees > 0.
double StudentQuantile(double tail, double degrees);

// P(Z > z) of the standard normal distribution.
double NormalTail(double z);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_STUDENT_T_H_
