// Histograms, latencies over time and live latencies, as they come from files and workers: refused, or merged without
// losing an op. The input is a sequence of histograms; each is also read as the other two, which have the same shape.
#include "common/histogram.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "common/latency_slices.h"
#include "common/live/latency_bins.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messages.h"

using namespace iobench;

namespace {

constexpr uint64_t kManyOps = uint64_t{1} << 56;  // with more, the sum over an input may wrap

void CheckHistograms(const std::vector<v1::Histogram>& messages) {
  Histogram all;
  uint64_t count = 0;
  for (const v1::Histogram& message : messages) {
    Histogram one;
    if (!one.AddProto(message).ok()) {
      Require(one.count() == 0, "a refused histogram changes nothing");
      continue;
    }
    if (one.count() > kManyOps) continue;
    count += one.count();
    const uint64_t before = all.count();
    if (count % 2 == 0) {
      all.Merge(one);
    } else {
      Require(all.AddProto(message).ok(), "what was accepted once is accepted again");
    }
    Require(all.count() == before + one.count() && all.count() == count, "no op is lost");
  }
  if (count == 0) return;
  Require(all.min_ns() <= all.max_ns(), "min and max are in order");
  double previous = 0;
  for (const double p : {0.001, 0.5, 0.99, 0.999999, 1.0}) {
    const double ns = all.PercentileNs(p);
    Require(std::isfinite(ns) && ns >= previous && ns <= static_cast<double>(all.max_ns()),
            "percentiles ascend to max");
    previous = ns;
  }
  Require(std::isfinite(all.mean_ns()) && std::isfinite(all.stddev_ns()), "mean and deviation are numbers");
  Histogram again;
  const v1::Histogram saved = all.ToProto();
  const absl::Status read = again.AddProto(saved);
  Require(read.ok(), "what is written can be read: " + read.ToString() + "\n" + saved.ShortDebugString());
  Require(again.ToProto().SerializeAsString() == saved.SerializeAsString(), "and is the same");
}

void CheckSlices(const v1::LatencySlices& message) {
  const absl::StatusOr<std::vector<LatencyCell>> cells = CellsOf(message);
  if (!cells.ok()) return;
  Require(cells->size() <= LatencySlices::kSliceCount * LatencySlices::kBinCount, "a map is bounded");
  for (const LatencyCell& cell : *cells) {
    Require(cell.slice < LatencySlices::kSliceCount && cell.bin < LatencySlices::kBinCount,
            "cells lie in it");
  }
}

void CheckBins(const v1::LatencyBins& message) {
  LatencyBins bins;
  if (!bins.AddProto(message).ok()) {
    Require(bins.count() == 0, "refused bins change nothing");
    return;
  }
  LatencyBins twice = bins;
  twice.Merge(bins);
  Require(twice.count() == 2 * bins.count() && twice.Since(bins).count() == bins.count(),
          "no live op is lost");
  if (bins.count() > 0) Require(bins.PercentileNs(0.5) <= bins.PercentileNs(1), "percentiles ascend");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::string> parts = PartsOf(data, size, 8);
  CheckHistograms(MessagesOf<v1::Histogram>(parts));
  for (const v1::LatencySlices& slices : MessagesOf<v1::LatencySlices>(parts)) CheckSlices(slices);
  for (const v1::LatencyBins& bins : MessagesOf<v1::LatencyBins>(parts)) CheckBins(bins);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  return MutateParts(data, size, max_size, seed, [](size_t) { return std::make_unique<v1::Histogram>(); });
}
