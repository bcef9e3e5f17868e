#include "worker/metadata/lane_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/model/phase_check.h"

namespace iobench {
namespace {

constexpr size_t kDigitCount = 8;

std::string_view WordOf(NameKind kind) {
  switch (kind) {
    case NameKind::kItem:
      return "item-";
    case NameKind::kMoved:
      return "moved-";
    case NameKind::kLink:
      return "link-";
    case NameKind::kSymlink:
      return "symlink-";
    case NameKind::kLeaf:
      return "dir-";
    case NameKind::kLock:
      return "lock-";
  }
  return "";
}

// Returns the number of lowest-level directories; those that stay empty are never created.
uint64_t PlacesOf(const v1::Tree& tree) {
  uint64_t places = 1;
  for (uint32_t level = 0; level < tree.depth() && places <= kMaxItemsPerLane; ++level) {
    places *= std::max(1u, tree.branching());
  }
  return places;
}

bool ParseDigits(std::string_view& text, size_t at_least, size_t at_most) {
  size_t count = 0;
  while (count < text.size() && std::isdigit(static_cast<unsigned char>(text[count])) != 0) ++count;
  text.remove_prefix(count);
  return count >= at_least && count <= at_most;
}

bool Take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// "00" … "99"
constexpr std::array<char, 200> DigitPairs() {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}
constexpr std::array<char, 200> kDigitPairs = DigitPairs();

}  // namespace

LaneTree::LaneTree(const v1::Tree& tree, uint32_t number, uint32_t lane)
    : lane_(lane),
      number_(number),
      shared_(tree.shared_directory()),
      depth_(tree.depth()),
      branching_(std::max(1u, tree.branching())),
      item_count_(std::max<uint64_t>(1, tree.items_per_lane())),
      items_per_directory_((item_count_ - 1) / PlacesOf(tree) + 1),
      directory_count_((item_count_ - 1) / items_per_directory_ + 1),
      by_directory_(items_per_directory_) {}

std::string LaneTree::root_name() const {
  return shared_ ? absl::StrCat("tree-shared.", number_) : absl::StrFormat("tree-%06u.%u", lane_, number_);
}

uint64_t LaneTree::ItemsIn(uint32_t directory, uint64_t item_count) const {
  const uint64_t begin = directory * items_per_directory_;
  return begin >= item_count ? 0 : std::min(items_per_directory_, item_count - begin);
}

std::string LaneTree::PathOfDirectory(uint32_t directory) const {
  if (depth_ == 0) return ".";
  std::vector<std::string> levels(depth_);
  uint64_t rest = directory;
  for (size_t level = depth_; level-- > 0; rest /= branching_) {
    levels[level] = absl::StrCat("d", rest % branching_);
  }
  std::string path;
  for (const std::string& level : levels) absl::StrAppend(&path, path.empty() ? "" : "/", level);
  return path;
}

uint32_t LaneTree::LevelsEndingAt(uint32_t directory) const {
  if (directory + 1 >= directory_count_) return depth_;
  uint32_t levels = 0;
  for (uint64_t next = uint64_t{directory} + 1; levels < depth_; next /= branching_) {
    ++levels;
    if (next % branching_ != 0) break;
  }
  return levels;
}

std::string LaneTree::LockName(uint32_t phase) const {
  return absl::StrCat(PrefixOf(NameKind::kLock), absl::Dec(phase, absl::kZeroPad8));
}

std::string LaneTree::PrefixOf(NameKind kind) const {
  const std::string word(WordOf(kind));
  return shared_ ? absl::StrFormat("%s%06u-", word, lane_) : word;
}

std::string LaneTree::PathOf(NameKind kind, uint64_t item) const {
  return PathWriter(*this, kind).Of(DirectoryOf(item), item);
}

PathWriter::PathWriter(const LaneTree& tree, NameKind kind, std::string_view before, Part part)
    : tree_(tree), part_(part), before_(before), prefix_(tree.PrefixOf(kind)) {
  SetDirectory(0);
}

void PathWriter::SetDirectory(uint32_t directory) {
  directory_ = directory;
  path_ = before_;
  if (part_ == Part::kPath && tree_.depth() > 0) absl::StrAppend(&path_, tree_.PathOfDirectory(directory), "/");
  absl::StrAppend(&path_, prefix_, "00000000");
  digits_at_ = path_.size() - kDigitCount;
}

void PathWriter::WriteDigits(uint64_t number, char* at) {
  const auto high = static_cast<uint32_t>(number / 10'000);
  const auto low = static_cast<uint32_t>(number % 10'000);
  std::memcpy(at, &kDigitPairs[size_t{high / 100} * 2], 2);
  std::memcpy(at + 2, &kDigitPairs[size_t{high % 100} * 2], 2);
  std::memcpy(at + 4, &kDigitPairs[size_t{low / 100} * 2], 2);
  std::memcpy(at + 6, &kDigitPairs[size_t{low % 100} * 2], 2);
}

bool IsTreeName(std::string_view name) {
  return Take(name, "tree-") && (Take(name, "shared") || ParseDigits(name, 6, 10)) && Take(name, ".") &&
         ParseDigits(name, 1, 10) && name.empty();
}

bool IsTreeDirectoryName(std::string_view name) {
  return Take(name, "d") && ParseDigits(name, 1, 10) && name.empty();
}

bool IsItemName(NameKind kind, std::string_view name) {
  if (!Take(name, WordOf(kind))) return false;
  std::string_view with_lane = name;
  if (ParseDigits(with_lane, 6, 10) && Take(with_lane, "-")) name = with_lane;
  return ParseDigits(name, kDigitCount, kDigitCount) && name.empty();
}

}  // namespace iobench
