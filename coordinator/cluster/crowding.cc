#include "coordinator/cluster/crowding.h"

#include <algorithm>
#include <bit>
#include <map>

namespace iobench {
namespace {

bool Overlap(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return true;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if ((static_cast<unsigned char>(a[i]) & static_cast<unsigned char>(b[i])) != 0) return true;
  }
  return false;
}

void Unite(std::string& all, const std::string& mask) {
  all.resize(std::max(all.size(), mask.size()), '\0');
  for (size_t i = 0; i < mask.size(); ++i) all[i] = static_cast<char>(all[i] | mask[i]);
}

uint64_t CountOf(const std::string& mask) {
  uint64_t count = 0;
  for (const char byte : mask)
    count += static_cast<uint64_t>(std::popcount(static_cast<unsigned char>(byte)));
  return count;
}

// The workers that use the same processors.
struct Crowd {
  std::string processor_mask;
  uint64_t processors = 0;
  uint64_t lanes = 0;
};

}  // namespace

std::vector<bool> CrowdedWorkers(std::span<const LanesOnProcessors> workers) {
  // Workers of one client usually have the same mask, and thousands of clients have one worker each.
  std::map<uint32_t, std::map<std::string, Crowd>> clients;
  for (const LanesOnProcessors& worker : workers) {
    if (worker.lanes == 0) continue;
    Crowd& crowd = clients[worker.client][worker.processor_mask];
    crowd.processor_mask = worker.processor_mask;
    crowd.processors = std::max<uint64_t>(crowd.processors, worker.processors);
    crowd.lanes += worker.lanes;
  }
  std::vector<bool> crowded;
  crowded.reserve(workers.size());
  for (const LanesOnProcessors& worker : workers) {
    Crowd all;
    for (const auto& [mask, crowd] : clients[worker.client]) {
      if (!Overlap(mask, worker.processor_mask)) continue;
      Unite(all.processor_mask, mask);
      all.processors = std::max(all.processors, crowd.processors);
      all.lanes += crowd.lanes;
    }
    crowded.push_back(all.lanes > std::max(all.processors, CountOf(all.processor_mask)));
  }
  return crowded;
}

}  // namespace iobench
