#include "worker/client/binding.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/proc_file.h"
#include "common/status_util.h"
#include "worker/storage/mounts.h"

namespace iobench {
namespace {

constexpr int kMaxProcessors = 8192;  // the max. that a kernel can be built for
constexpr char kNodes[] = "/sys/devices/system/node";
constexpr size_t kMaxNamed = 16;

struct SetDeleter {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using ProcessorSet = std::unique_ptr<cpu_set_t, SetDeleter>;

const size_t kSetBytes = CPU_ALLOC_SIZE(kMaxProcessors);

ProcessorSet EmptySet() {
  ProcessorSet set(CPU_ALLOC(kMaxProcessors));
  if (set != nullptr) CPU_ZERO_S(kSetBytes, set.get());
  return set;
}

absl::StatusOr<std::vector<uint32_t>> UsableProcessorList() {
  const ProcessorSet set = EmptySet();
  if (set == nullptr || ::sched_getaffinity(0, kSetBytes, set.get()) != 0) {
    return ErrnoStatus("which processors this process may use", errno);
  }
  std::vector<uint32_t> usable;
  for (int processor = 0; processor < kMaxProcessors; ++processor) {
    if (CPU_ISSET_S(static_cast<size_t>(processor), kSetBytes, set.get())) {
      usable.push_back(static_cast<uint32_t>(processor));
    }
  }
  return usable;
}

std::vector<NumaNode> NumaNodes() {
  std::vector<NumaNode> nodes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(kNodes, ignored)) {
    const std::string name = entry.path().filename().string();
    absl::string_view digits = name;
    NumaNode node;
    if (!absl::ConsumePrefix(&digits, "node") || !absl::SimpleAtoi(digits, &node.number)) continue;
    node.processors = ParseProcessorList(ReadWholeFile((entry.path() / "cpulist").string()).value_or(""));
    nodes.push_back(std::move(node));
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.number < b.number; });
  return nodes;
}

}  // namespace

std::vector<uint32_t> ParseProcessorList(const std::string& text) {
  std::vector<uint32_t> processors;
  for (const absl::string_view range :
       absl::StrSplit(absl::StripAsciiWhitespace(text), ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> ends =
        absl::StrSplit(range, absl::MaxSplits('-', 1));
    uint32_t first = 0, last = 0;
    if (!absl::SimpleAtoi(ends.first, &first)) continue;
    if (ends.second.empty()) {
      last = first;
    } else if (!absl::SimpleAtoi(ends.second, &last)) {
      continue;
    }
    for (uint32_t processor = first; processor <= last && last < kMaxProcessors; ++processor) {
      processors.push_back(processor);
    }
  }
  return processors;
}

std::string BindingSlots::ToText(std::span<const uint32_t> lanes) const {
  std::vector<std::string> names;
  for (const uint32_t lane : lanes) {
    const size_t place = lane % processors.size();
    names.push_back(absl::StrCat(nodes.empty() ? processors[place].front() : nodes[place]));
  }
  std::string more;
  if (names.size() > kMaxNamed) {
    more = absl::StrCat(" and ", names.size() - kMaxNamed, " more");
    names.resize(kMaxNamed);
  }
  return absl::StrCat(nodes.empty() ? "processors " : "NUMA nodes ", absl::StrJoin(names, ", "), more);
}

absl::StatusOr<BindingSlots> BindingSlotsFrom(const v1::Binding& binding, std::span<const uint32_t> usable,
                                              std::span<const NumaNode> nodes) {
  BindingSlots slots;
  if (binding.to() == v1::Binding::CORES) {
    if (binding.first() >= usable.size()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "-P ", binding.first(), " (--bind cores:", binding.first(), "): lanes may use ", usable.size(),
          usable.size() == 1 ? " processor here: the only one is 0"
                             : absl::StrCat(" processors here: give 0 to ", usable.size() - 1)));
    }
    for (size_t i = 0; i < usable.size(); ++i) {
      slots.processors.push_back({usable[(binding.first() + i) % usable.size()]});
    }
    return slots;
  }
  if (binding.to() != v1::Binding::NUMA_NODES) return slots;
  for (const NumaNode& node : nodes) {
    std::vector<uint32_t> ours;
    std::set_intersection(node.processors.begin(), node.processors.end(), usable.begin(), usable.end(),
                          std::back_inserter(ours));
    if (ours.empty()) continue;  // a node without processors, or without any that we may use
    slots.processors.push_back(std::move(ours));
    slots.nodes.push_back(node.number);
  }
  if (slots.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--bind numa: ", kNodes,
                     " shows no node with a processor this worker may use: use --bind cores instead"));
  }
  return slots;
}

size_t NumaNodeCount() {
  return std::max<size_t>(1, NumaNodes().size());
}

absl::StatusOr<BindingSlots> BindingSlotsFor(const v1::Binding& binding) {
  if (binding.to() == v1::Binding::NOTHING) return BindingSlots();
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<uint32_t> usable, UsableProcessorList());
  return BindingSlotsFrom(binding, usable, NumaNodes());
}

std::string UsableProcessorMask() {
  const absl::StatusOr<std::vector<uint32_t>> usable = UsableProcessorList();
  if (!usable.ok() || usable->empty()) return "";
  std::string mask(usable->back() / 8 + 1, '\0');
  for (const uint32_t processor : *usable) {
    mask[processor / 8] = static_cast<char>(mask[processor / 8] | 1 << processor % 8);
  }
  return mask;
}

absl::Status BindThisThread(std::span<const uint32_t> processors) {
  const ProcessorSet set = EmptySet();
  if (set == nullptr) return absl::ResourceExhaustedError("no memory for a set of processors");
  for (const uint32_t processor : processors) CPU_SET_S(processor, kSetBytes, set.get());
  if (::sched_setaffinity(0, kSetBytes, set.get()) == 0) return absl::OkStatus();
  return ErrnoStatus(absl::StrCat("bind a lane to processor ", absl::StrJoin(processors, ", ")), errno);
}

}  // namespace iobench
