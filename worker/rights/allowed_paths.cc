#include "worker/rights/allowed_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/net/nfs_url.h"
#include "common/status_util.h"
#include "worker/rights/open_beneath.h"

namespace iobench {
namespace {

// Where the links of the given path led was found out when the worker started.
UniqueFd OpenRoot(const std::string& resolved) {
  return UniqueFd(OpenDirectoryWithoutLinks(resolved.c_str()));
}

// Absolute, without "." and doubled slashes, without a slash at its end. ".." is removed too, so check for it first.
std::string Normalised(const std::string& path) {
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  while (normal.size() > 1 && normal.back() == '/') normal.pop_back();
  return normal;
}

bool HasParentStep(const std::string& path) {
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "..") return true;
  }
  return false;
}

std::string ArgumentOf(const NfsUrl& url, std::string_view name) {
  for (const auto& [own, value] : url.arguments) {
    if (own == name) return value;
  }
  return "";
}

// Returns the first argument that decides on whose behalf and at which server the URL's files are used, and that the two do
// not have in common; empty: none. Timeouts are the coordinator's choice.
std::string DifferentIdentity(const NfsUrl& a, const NfsUrl& b) {
  for (const char* const name : {"nfsport", "mountport", "uid", "gid", "if"}) {
    if (ArgumentOf(a, name) != ArgumentOf(b, name)) return name;
  }
  return "";
}

// A symbolic link that is the last part of the path may have been allowed by the flags, but not by us.
std::string WhyNot(int error) {
  if (error == ELOOP) {
    return "it leads through a symbolic link, which a worker with --root does not follow: give the worker the directory "
           "that the link leads to as --root";
  }
  return "it leads out of the worker's --root";
}

}  // namespace

bool IsAtOrBelowRoot(const std::string& path, const std::string& root) {
  if (root == "/") return path.starts_with('/');
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

absl::StatusOr<AllowedPaths> AllowedPaths::Below(const std::vector<std::string>& roots) {
  AllowedPaths allowed;
  allowed.all_ = false;
  for (const std::string& root : roots) {
    if (IsNfsUrl(root)) {
      const absl::StatusOr<NfsUrl> url = ParseNfsUrl(root);
      if (!url.ok()) return Annotate(url.status(), "--root");
      allowed.urls_.push_back(*url);
      continue;
    }
    std::error_code error;
    const std::filesystem::path absolute = std::filesystem::absolute(root, error);
    if (error) return ErrnoStatus(absl::StrCat("--root ", root), error.value());
    const std::filesystem::path resolved = std::filesystem::weakly_canonical(absolute, error);
    if (error) return ErrnoStatus(absl::StrCat("--root ", root), error.value());
    // With ".." after a symbolic link, the text alone would name another directory.
    const std::string given =
        HasParentStep(absolute.string()) ? resolved.string() : Normalised(absolute.string());
    allowed.roots_.push_back({given, Normalised(resolved.string()), std::make_shared<RootIdentity>()});
  }
  for (const Root& root : allowed.roots_) {
    if (const UniqueFd fd = OpenRoot(root.resolved); fd.valid()) root.identity->IsSame(fd.get());
  }
  return allowed;
}

absl::Status AllowedPaths::CheckRootsExist() const {
  for (const Root& root : roots_) {
    struct stat facts {};
    if (::stat(root.resolved.c_str(), &facts) != 0)
      return ErrnoStatus(absl::StrCat("--root ", root.given), errno);
    if (!S_ISDIR(facts.st_mode)) {
      return absl::InvalidArgumentError(absl::StrCat("--root ", root.given, " is not a directory"));
    }
  }
  return absl::OkStatus();
}

std::string AllowedPaths::ToText() const {
  std::vector<std::string> names;
  for (const NfsUrl& url : urls_) names.push_back(url.ForLibnfs());
  for (const Root& root : roots_) names.push_back(root.given);
  return names.empty() ? "none" : absl::StrJoin(names, ", ");
}

absl::Status AllowedPaths::Refusal(const std::string& what, const std::string& path,
                                   const std::string& why) const {
  return absl::PermissionDeniedError(
      absl::StrCat(what, ": this worker does not open ", path, ": ", why, " (its --root: ", ToText(), ")"));
}

const AllowedPaths::Root* AllowedPaths::RootOf(const std::string& path, std::string& below) const {
  for (const Root& root : roots_) {
    for (const std::string* const name : {&root.given, &root.resolved}) {
      if (!IsAtOrBelowRoot(path, *name)) continue;
      below = path.substr(*name == "/" ? 1 : std::min(path.size(), name->size() + 1));
      return &root;
    }
  }
  return nullptr;
}

absl::StatusOr<UniqueFd> AllowedPaths::Open(const std::string& what, const std::string& path, int flags,
                                            mode_t mode) const {
  if (all_) {
    UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (fd.valid()) return fd;
    return ErrnoStatus(what, errno);
  }
  if (!path.starts_with('/')) return Refusal(what, path, "it is not an absolute path");
  if (path.find('\0') != std::string::npos) return Refusal(what, path, "it contains a zero byte");
  if (HasParentStep(path)) return Refusal(what, path, "it contains \"..\"");
  std::string below;
  const Root* const root = RootOf(Normalised(path), below);
  if (root == nullptr) return Refusal(what, path, "it lies below no root of the worker");
  const UniqueFd root_fd = OpenRoot(root->resolved);
  if (!root_fd.valid() && errno != ELOOP) return ErrnoStatus(absl::StrCat(what, ": --root ", root->given), errno);
  if (!root_fd.valid() || !root->identity->IsSame(root_fd.get())) {
    return Refusal(what, path, absl::StrCat("its root ", root->given,
                                            " is another directory than when the worker started: start the worker again "
                                            "if you have replaced it"));
  }
  UniqueFd fd(OpenBeneath(root_fd.get(), below.empty() ? "." : below.c_str(), flags, mode));
  if (fd.valid()) return fd;
  const int error = errno;
  if (error == ELOOP || error == EXDEV) return Refusal(what, path, WhyNot(error));
  return ErrnoStatus(what, error);
}

absl::StatusOr<UniqueFd> AllowedPaths::OpenParent(const std::string& what, const std::string& path,
                                                  std::string& name) const {
  const size_t slash = path.rfind('/');
  name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return absl::InvalidArgumentError(absl::StrCat(what, ": ", path, " does not end in the name of a file"));
  }
  const std::string directory = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  return Open(absl::StrCat(what, ": directory ", directory), directory, O_PATH | O_DIRECTORY);
}

absl::Status AllowedPaths::CheckUrl(const std::string& url) const {
  if (all_) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const NfsUrl parsed, ParseNfsUrl(url));
  const std::string wanted = parsed.ToText();
  if (HasParentStep(wanted)) return Refusal("target", wanted, "it contains \"..\"");
  absl::Status refusal = Refusal("target", wanted, "it lies below no root of the worker");
  for (const NfsUrl& root : urls_) {
    const std::string text = root.ToText(),
                      bare = text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
    if (!IsAtOrBelowRoot(wanted, bare)) continue;
    const std::string other = DifferentIdentity(parsed, root);
    if (other.empty()) return absl::OkStatus();
    refusal = Refusal("target", parsed.ForLibnfs(),
                      absl::StrCat("its ", other, " is not that of the root: give both the same"));
  }
  return refusal;
}

absl::Status AllowedPaths::CheckMountPoint(const std::string& mount_point) const {
  if (all_) return absl::OkStatus();
  if (!mount_point.starts_with('/') || HasParentStep(mount_point)) {
    return Refusal("remount", mount_point, "it is not an absolute path without \"..\"");
  }
  const std::string wanted = Normalised(mount_point);
  for (const Root& root : roots_) {
    if (IsAtOrBelowRoot(wanted, root.resolved) || IsAtOrBelowRoot(root.resolved, wanted)) {
      return absl::OkStatus();
    }
  }
  return Refusal("remount", mount_point, "it holds no root of the worker");
}

}  // namespace iobench
