// Selects one unit for all cells of a table column; the column's title names it.
#ifndef COORDINATOR_REPORT_TEXT_COLUMN_UNIT_H_
#define COORDINATOR_REPORT_TEXT_COLUMN_UNIT_H_

#include <span>
#include <string>
#include <string_view>

namespace iobench {

// The largest unit in which the smallest figure is at least 1, or a larger one if the largest figure would otherwise
// have six digits before the decimal point. Zeros and non-finite values are ignored.
class ColumnUnit {
 public:
  // B/s to TiB/s by powers of 1024, and ns to s. Without any value to go by, the smallest unit.
  static ColumnUnit OfBytesPerSecond(std::span<const double> rates);
  static ColumnUnit OfSeconds(std::span<const double> seconds);

  std::string_view name() const { return name_; }  // "MiB/s", "us"
  std::string Text(double value) const;            // "1,341", "0.66", without the unit; "-" when not finite

 private:
  ColumnUnit(std::string_view name, double size) : name_(name), size_(size) {}
  struct Unit {
    std::string_view name;
    double size;
  };
  static ColumnUnit Of(std::span<const double> values, std::span<const Unit> units);

  std::string_view name_;
  double size_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_TEXT_COLUMN_UNIT_H_
