// Columns of numbers for the page, packed into bytes that its program reads as typed arrays (web/src/data.js).
#ifndef COORDINATOR_REPORT_PAGE_PACKED_COLUMNS_H_
#define COORDINATOR_REPORT_PAGE_PACKED_COLUMNS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace iobench {

// How exactly a column is kept. A value that is not finite stays unknown in all of them.
enum class Precision {
  kExact,   // double
  kSingle,  // float: 7 digits
  kThree,   // 16 bits on a logarithmic scale: within 0.05 % over 14 decades; negative values become 0
  kShade,   // 8 bits between 0 and the column's max: for colours
};

// Collects columns. A value type; not thread-safe.
class PackedColumns {
 public:
  // Appends a column and returns its description: {"at": first byte, "count": …, "type": …} and, where it is needed to
  // read the values, "low", "high" (kThree: limits of the scale) or "max" (kShade).
  nlohmann::json Add(std::span<const double> values, Precision precision);
  nlohmann::json AddCounts(std::span<const uint32_t> values);

  // Columns begin at multiples of 8 bytes; numbers are little-endian.
  const std::string& bytes() const { return bytes_; }

 private:
  template <typename Number>
  nlohmann::json Append(const std::vector<Number>& values, const char* type);

  std::string bytes_;
};

}  // namespace iobench

#endif  // COORDINATOR_REPORT_PAGE_PACKED_COLUMNS_H_
