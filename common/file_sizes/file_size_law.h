// How large the files of a tree are: a distribution as users write it (--file-sizes), and sizes drawn from it.
#ifndef COMMON_FILE_SIZES_FILE_SIZE_LAW_H_
#define COMMON_FILE_SIZES_FILE_SIZE_LAW_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace iobench {

// A bar of a histogram: the number of files up to a size, and above that of the bar before it.
struct SizeBar {
  double up_to_bytes;
  double files;
};

// A histogram, within whose bars the logarithms of the sizes are evenly distributed. Or the body of the sizes is a lognormal
// distribution, their tail a Pareto distribution; one of the two may have no share. Sizes are rounded up to whole bytes, so
// the share of files of up to n bytes is the distribution's value at n, for every whole n. Sizes above a largest one become
// that one. docs/definitions.md has the formulas. A plain value.
class FileSizeLaw {
 public:
  // REQUIRES: the numbers are above 0.
  static FileSizeLaw Lognormal(double median_bytes, double sigma) { return {.median = median_bytes, .sigma = sigma, .body = 1}; }
  static FileSizeLaw Pareto(double min_bytes, double shape) { return {.min = min_bytes, .shape = shape}; }

  // The size that belongs to three evenly distributed numbers, which decide the part and the place in it. REQUIRES:
  // largest_bytes > 0.
  uint64_t SizeAt(uint64_t of_part, uint64_t first, uint64_t second, uint64_t largest_bytes) const;
  // The mean and the standard deviation of the sizes, before they are rounded.
  double MeanBytes(uint64_t largest_bytes) const { return MeanOfPower(1, largest_bytes); }
  double DeviationBytes(uint64_t largest_bytes) const;

  double median = 1, sigma = 1;  // of the body, in bytes and of the sizes' natural logarithm
  double min = 1, shape = 1;     // of the tail
  double body = 0;               // the share of files whose size is from the body
  std::span<const SizeBar> bars = {};  // of a histogram, which outlives it; the first bar begins at 1 byte

 private:
  double MeanOfPower(double power, uint64_t largest_bytes) const;
};

// A distribution that has been published.
struct PublishedSizes {
  std::string_view name;
  FileSizeLaw law;
  std::string_view source;  // authors, title, venue, table
};
std::span<const PublishedSizes> AllPublishedSizes();

// Reads lognormal:MEDIAN/SIGMA, pareto:MIN/SHAPE or the name of a published distribution; MEDIAN and MIN are sizes, a bare
// number is bytes. InvalidArgument: it is none of them; the message shows the syntax.
absl::StatusOr<FileSizeLaw> ParseFileSizes(const std::string& text);

}  // namespace iobench

#endif  // COMMON_FILE_SIZES_FILE_SIZE_LAW_H_
