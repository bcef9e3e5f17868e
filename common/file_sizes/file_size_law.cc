#include "common/file_sizes/file_size_law.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/text/units.h"

namespace iobench {
namespace {

constexpr double kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

// 116,411,394 files. The 745,331 of 1 GiB and above are in one bar, since files of trees are not larger.
constexpr SizeBar kAtlas[] = {
    {4 * kKiB, 19'888'046},  {8 * kKiB, 5'708'765},    {16 * kKiB, 4'376'361}, {32 * kKiB, 5'366'888},
    {64 * kKiB, 7'061'464},  {256 * kKiB, 13'388'304}, {512 * kKiB, 8'406'809}, {1 * kMiB, 3'652'496},
    {4 * kMiB, 13'817'394},  {16 * kMiB, 13'088'330},  {512 * kMiB, 18'992'735}, {1 * kGiB, 1'918'471},
    {100 * kGiB, 745'331},
};

constexpr PublishedSizes kPublished[] = {
    // The parameters are also the defaults of the authors' program: FilesizeDistr 99994 29 0.91 (in 100,000; 2^29 bytes),
    // FilecountDistr 9.48 2.4566. The median is e^9.48 bytes.
    {"desktop", {.median = 13095.17, .sigma = 2.46, .min = 536870912, .shape = 0.91, .body = 0.99994},
     "N. Agrawal, A. Arpaci-Dusseau, R. Arpaci-Dusseau: Generating Realistic Impressions for File-System Benchmarking, "
     "FAST '09, table 2, \"file size by count\", fitted to the Windows desktops of Agrawal et al., FAST '07"},
    {"atlas", {.bars = kAtlas},
     "F. Wang, C. Harr: fprof(8), manual of pcircle (github.com/fwang2/pcircle), \"Fileset histograms\" of Atlas, a Lustre file "
     "system of Oak Ridge National Laboratory"},
};

// From 0 (excluded) to 1.
double UnitOf(uint64_t random) {
  return static_cast<double>((random >> 11) + 1) * 0x1p-53;
}

// The distribution function of the normal distribution.
double Phi(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

// The mean of min(X, most)^power.
double LognormalMean(double median, double sigma, double power, double most) {
  const double z = std::log(most / median) / sigma, steps = power * sigma;
  return std::pow(median, power) * std::exp(steps * steps / 2) * Phi(z - steps) + std::pow(most, power) * Phi(-z);
}

double ParetoMean(double min, double shape, double power, double most) {
  if (most <= min) return std::pow(most, power);
  const double least = std::pow(min, power), rest = power - shape;
  if (std::abs(rest) < 1e-9) return least * (1 + power * std::log(most / min));
  return least * (1 + power / rest * (std::pow(most / min, rest) - 1));
}

double FilesOf(std::span<const SizeBar> bars) {
  double files = 0;
  for (const SizeBar& bar : bars) files += bar.files;
  return files;
}

double SizeInBars(std::span<const SizeBar> bars, double share, double within) {
  double files = share * FilesOf(bars), begin = 1;
  for (const SizeBar& bar : bars) {
    if (files <= bar.files || &bar == &bars.back()) return begin * std::pow(bar.up_to_bytes / begin, within);
    files -= bar.files;
    begin = bar.up_to_bytes;
  }
  return begin;
}

double MeanOfBars(std::span<const SizeBar> bars, double power, double most) {
  double sum = 0, begin = 1;
  for (const SizeBar& bar : bars) {
    const double from = std::min(begin, most), to = std::min(bar.up_to_bytes, most);
    const double in_bar = (std::pow(to, power) - std::pow(from, power)) / power;
    const double above = std::pow(most, power) * std::log(bar.up_to_bytes / std::max(begin, to));
    sum += bar.files * (in_bar + above) / std::log(bar.up_to_bytes / begin);
    begin = bar.up_to_bytes;
  }
  return sum / FilesOf(bars);
}

absl::Status BadSizes(const std::string& text, const std::string& why) {
  std::string names;
  for (const PublishedSizes& published : kPublished) absl::StrAppend(&names, " or ", std::string(published.name));
  return absl::InvalidArgumentError(
      absl::StrCat("file sizes \"", text, "\" (--file-sizes): ", why,
                   "; write lognormal:MEDIAN/SIGMA (such as lognormal:13k/2.5), pareto:MIN/SHAPE (pareto:4k/1.1)", names));
}

}  // namespace

uint64_t FileSizeLaw::SizeAt(uint64_t of_part, uint64_t first, uint64_t second, uint64_t largest_bytes) const {
  const auto largest = static_cast<double>(largest_bytes);
  double bytes = 0;
  if (!bars.empty()) {
    bytes = SizeInBars(bars, UnitOf(of_part), UnitOf(first));
  } else if (UnitOf(of_part) <= body) {
    // G. Box, M. Muller 1958: a normally distributed number from two evenly distributed ones.
    const double z = std::sqrt(-2 * std::log(UnitOf(first))) * std::cos(2 * std::numbers::pi * UnitOf(second));
    bytes = median * std::exp(sigma * z);
  } else {
    bytes = min * std::pow(UnitOf(first), -1 / shape);
  }
  return static_cast<uint64_t>(std::ceil(std::clamp(bytes, 1.0, largest)));
}

double FileSizeLaw::MeanOfPower(double power, uint64_t largest_bytes) const {
  const auto largest = static_cast<double>(largest_bytes);
  if (!bars.empty()) return MeanOfBars(bars, power, largest);
  double mean = 0;
  if (body > 0) mean += body * LognormalMean(median, sigma, power, largest);
  if (body < 1) mean += (1 - body) * ParetoMean(min, shape, power, largest);
  return mean;
}

double FileSizeLaw::DeviationBytes(uint64_t largest_bytes) const {
  const double mean = MeanBytes(largest_bytes);
  return std::sqrt(std::max(0.0, MeanOfPower(2, largest_bytes) - mean * mean));
}

std::span<const PublishedSizes> AllPublishedSizes() {
  return kPublished;
}

absl::StatusOr<FileSizeLaw> ParseFileSizes(const std::string& text) {
  constexpr double kMostSigma = 10, kMostShape = 100;
  for (const PublishedSizes& published : kPublished) {
    if (published.name == text) return published.law;
  }
  const std::pair<std::string, std::string> sides = absl::StrSplit(text, absl::MaxSplits(':', 1));
  const bool lognormal = sides.first == "lognormal";
  if (!lognormal && sides.first != "pareto") return BadSizes(text, "there is no such distribution");
  const std::pair<std::string, std::string> numbers = absl::StrSplit(sides.second, absl::MaxSplits('/', 1));
  const absl::StatusOr<uint64_t> bytes = ParseBytes(numbers.first, 1);
  double number = 0;
  if (!bytes.ok() || *bytes == 0)
    return BadSizes(text, absl::StrCat(lognormal ? "MEDIAN" : "MIN", " is a size of 1 byte or more"));
  if (!absl::SimpleAtod(numbers.second, &number) || !(number > 0 && number <= (lognormal ? kMostSigma : kMostShape))) {
    return BadSizes(text, lognormal ? absl::StrCat("SIGMA is a number above 0, up to ", kMostSigma)
                                    : absl::StrCat("SHAPE is a number above 0, up to ", kMostShape));
  }
  const auto size = static_cast<double>(*bytes);
  return lognormal ? FileSizeLaw::Lognormal(size, number) : FileSizeLaw::Pareto(size, number);
}

}  // namespace iobench
