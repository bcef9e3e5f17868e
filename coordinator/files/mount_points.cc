#include "coordinator/files/mount_points.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace iobench {
namespace {

bool IsOctal(char c) {
  return c >= '0' && c <= '7';
}

// The kernel writes a space as \040.
std::string WithoutEscapes(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) && IsOctal(text[i + 2]) && IsOctal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 | (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::vector<std::string> MountPointsIn(std::string_view mountinfo) {
  constexpr size_t kMountPoint = 4;
  std::vector<std::string> points;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(mountinfo.data(), mountinfo.size()), '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ' ');
    if (fields.size() > kMountPoint)
      points.push_back(WithoutEscapes({fields[kMountPoint].data(), fields[kMountPoint].size()}));
  }
  return points;
}

std::string MountPointOf(const std::vector<std::string>& mount_points, const std::string& path) {
  std::string name = std::filesystem::path(path).lexically_normal().string();
  std::string longest = "/";
  for (const std::string& point : mount_points) {
    const bool above = name == point || absl::StartsWith(name, absl::StrCat(point, "/"));
    if (above && point.size() > longest.size()) longest = point;
  }
  return longest;
}

}  // namespace iobench
