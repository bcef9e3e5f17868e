// Student's t and Fisher's F distributions, for intervals and tests with few values. Pure.
#ifndef COORDINATOR_ANALYSIS_STATISTICS_STUDENT_T_H_
#define COORDINATOR_ANALYSIS_STATISTICS_STUDENT_T_H_

namespace iobench {

// P(T > t) with `degrees` of freedom, which need not be whole, to a relative error below 1e-10. By symmetry, negative
// `t` gives more than 0.5. REQUIRES: degrees > 0; t may be infinite.
double StudentTail(double t, double degrees);

// The t with StudentTail(t, degrees) = tail. REQUIRES: 0 < tail <= 0.5, degrees > 0.
double StudentQuantile(double tail, double degrees);

// P(F > f) of Fisher's distribution: the ratio of two variances with these degrees of freedom. REQUIRES: f >= 0; both
// degrees > 0.
double FisherTail(double f, double numerator_degrees, double denominator_degrees);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_STATISTICS_STUDENT_T_H_
