// Numbers for people with a given number of significant digits.
#ifndef COMMON_TEXT_NUMBER_WORDS_H_
#define COMMON_TEXT_NUMBER_WORDS_H_

#include <string>

namespace iobench {

// Like FormatCount (units.h) with so many significant digits, as far as they are behind the point, and without an exponent:
// "0.000123", "4.871", "487,123". "-": not finite.
std::string FormatSignificant(double value, int digits);

// Rounds to so many decimals, with separators and without zeros at the end: "1,234.5".
std::string Grouped(double value, int decimals);

}  // namespace iobench

#endif  // COMMON_TEXT_NUMBER_WORDS_H_
