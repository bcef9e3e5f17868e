#include "coordinator/command_line/most_used.h"

#include <algorithm>
#include <iterator>

#include "coordinator/options/option_spec.h"

namespace iobench {
namespace {

constexpr std::string_view kMostUsed[] = {
    "op",   "record", "size",   "lanes", "path",   "engine", "suite",   "mix",     "require", "dry-run",
    "auto", "close-in-timing",  "fsync-in-timing", "direct", "time",    "repeat",  "soak",    "depth",
    "rate", "verify", "items",  "cold",  "keep",   "spawn",  "hosts",   "live",    "out",     "resume",
    "format", "verbose"};

// Those of `run`.
constexpr OptionGroup kShortened[] = {OptionGroup::kWhat, OptionGroup::kAuto,     OptionGroup::kTimed,  OptionGroup::kEngine,
                                      OptionGroup::kBetween, OptionGroup::kData,  OptionGroup::kMetadata,
                                      OptionGroup::kCaches,  OptionGroup::kWhere, OptionGroup::kIozone};

}  // namespace

std::span<const std::string_view> MostUsedOptions() {
  return kMostUsed;
}

bool IsShortened(std::string_view section) {
  return std::any_of(std::begin(kShortened), std::end(kShortened),
                     [section](OptionGroup group) { return TitleOf(group) == section; });
}

}  // namespace iobench
