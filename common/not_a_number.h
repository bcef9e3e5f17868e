// NaN, the value of a figure that does not exist.
#ifndef COMMON_NOT_A_NUMBER_H_
#define COMMON_NOT_A_NUMBER_H_

#include <limits>

namespace iobench {

// Analysis returns it for figures that cannot be computed; result.json shows it as null and the console as "-".
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace iobench

#endif  // COMMON_NOT_A_NUMBER_H_
