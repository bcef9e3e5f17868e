#include "worker/data_directory/data_names.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/host_identity.h"
#include "worker/metadata/lane_tree.h"

namespace iobench {
namespace {

constexpr char kTemporaryPrefix[] = "manifest.json.tmp-";

// Removes "-123" from the end.
bool ParseLastNumber(std::string_view& name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == name.size()) return false;
  const std::string_view digits = name.substr(dash + 1);
  if (!std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit)) return false;
  name = name.substr(0, dash);
  return true;
}

// Takes the numbers from a name such as "lane-LLLLLL.F". False: the name is not exactly what `name_of` makes of them.
bool ParseNumbers(std::string_view name, const char* format, std::string (*name_of)(uint32_t, uint32_t),
                 uint32_t& lane, uint32_t& file) {
  const std::string text(name);
  return std::sscanf(text.c_str(), format, &lane, &file) == 2 && text == name_of(lane, file);
}

uint64_t LanesOf(const v1::Manifest& manifest) {
  return manifest.has_names() ? manifest.names().lanes()
                              : uint64_t{manifest.workers()} * manifest.lanes_per_worker();
}

}  // namespace

std::string LaneFileName(uint32_t lane, uint32_t file_index) {
  return absl::StrFormat("lane-%06u.%u", lane, file_index);
}

std::string FillFileName(uint32_t lane, uint32_t file_index) {
  return absl::StrFormat("fill-%06u.%u", lane, file_index);
}

bool IsFillFile(std::string_view name) {
  uint32_t lane = 0, file = 0;
  return ParseNumbers(name, "fill-%u.%u", FillFileName, lane, file);
}

std::string NewTemporaryName() {
  static std::atomic<uint32_t> counter{0};
  return absl::StrCat(kTemporaryPrefix, HostName(), "-", ::getpid(), "-",
                      counter.fetch_add(1, std::memory_order_relaxed));
}

bool IsTemporaryName(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return false;
  name.remove_prefix(sizeof(kTemporaryPrefix) - 1);
  return ParseLastNumber(name) && ParseLastNumber(name);
}

std::string LeftMarkName(uint32_t lane) {
  return absl::StrFormat("left-%06u", lane);
}

bool IsLeftMark(std::string_view name) {
  unsigned lane = 0;
  const std::string text(name);
  return std::sscanf(text.c_str(), "left-%u", &lane) == 1 && text == LeftMarkName(lane);
}

bool IsSillyName(std::string_view name) {
  return name.starts_with(".nfs");
}

bool HasDataFile(const v1::Manifest& manifest, std::string_view name) {
  const bool says = manifest.has_names();
  if (name == kSharedFileName) return !says || manifest.names().shared_file();
  unsigned lane = 0, file = 0;
  const std::string text(name);
  if (IsLeftMark(name)) return std::sscanf(text.c_str(), "left-%u", &lane) == 1 && lane < LanesOf(manifest);
  if (ParseNumbers(name, "fill-%u.%u", FillFileName, lane, file)) return lane < manifest.names().fill_lanes();
  if (!ParseNumbers(name, "lane-%u.%u", LaneFileName, lane, file)) return false;
  return lane < LanesOf(manifest) && (!says || file < manifest.names().files_per_lane());
}

bool HasTree(const v1::Manifest& manifest, std::string_view name) {
  if (!IsTreeName(name)) return false;
  const std::string text(name);
  unsigned lane = 0, tree = 0;
  const bool shared = std::sscanf(text.c_str(), "tree-shared.%u", &tree) == 1;
  if (!shared && std::sscanf(text.c_str(), "tree-%u.%u", &lane, &tree) != 2) return false;
  if (text != (shared ? absl::StrCat("tree-shared.", tree) : absl::StrFormat("tree-%06u.%u", lane, tree))) {
    return false;
  }
  return (shared || lane < LanesOf(manifest)) && (!manifest.has_names() || tree < manifest.names().trees());
}

}  // namespace iobench
