#include "worker/metadata/item_places.h"

#include <fcntl.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "worker/rights/open_beneath.h"

namespace iobench {
namespace {

std::string Before(ItemPlaces::Style style, int fd) {
  return style == ItemPlaces::Style::kByProc ? absl::StrCat("/proc/thread-self/fd/", fd, "/") : "";
}

}  // namespace

ItemPlaces::ItemPlaces(const LaneTree& tree, NameKind kind, int root_fd, bool confined, Style style)
    : tree_(tree),
      kind_(kind),
      root_fd_(root_fd),
      confined_(confined),
      style_(style),
      paths_(tree, kind, Before(style, root_fd)),
      fd_(root_fd) {}

int64_t ItemPlaces::Enter(uint32_t directory) {
  if (confined_) {
    directory_ = UINT32_MAX;  // until it is held, so that the next item tries again
    held_ = UniqueFd(OpenBeneath(root_fd_, tree_.PathOfDirectory(directory).c_str(), O_PATH | O_DIRECTORY));
    if (!held_.valid()) return -int64_t{errno};
    fd_ = held_.get();
    paths_ = PathWriter(tree_, kind_, Before(style_, fd_), PathWriter::Part::kName);
  }
  directory_ = directory;
  return 0;
}

}  // namespace iobench
