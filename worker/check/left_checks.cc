#include "worker/check/left_checks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/host_identity.h"
#include "common/status_util.h"
#include "common/text/shell_word.h"
#include "common/text/utf8.h"
#include "worker/check/check_files.h"
#include "worker/check/check_tree.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

constexpr size_t kMaxForeign = 10;
constexpr size_t kMaxOwnerBytes = 4096;
constexpr std::string_view kOwnerBegins = "cluster-iobench check file of run ";
constexpr std::string_view kProcessBegins = "process ";
constexpr size_t kRunDigits = 16;

bool DropPrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes digits from the front. False: there are none, or too many.
bool ParseNumber(std::string_view& text, uint32_t& number) {
  const auto end = std::find_if_not(text.begin(), text.end(), absl::ascii_isdigit);
  const auto count = static_cast<size_t>(end - text.begin());
  const bool taken = absl::SimpleAtoi(absl::string_view(text.data(), count), &number);
  text.remove_prefix(count);
  return taken;
}

// "00000000000000ff", as names have it.
bool ReadRunOptions(std::string_view& text, uint64_t& run_id) {
  const std::string digits(text.substr(0, kRunDigits));
  if (digits.size() != kRunDigits || !absl::SimpleHexAtoi(digits, &run_id)) return false;
  text.remove_prefix(kRunDigits);
  return true;
}

std::optional<uint64_t> RunOfCheckFile(std::string_view name) {
  const std::string_view whole = name;
  uint64_t run_id = 0;
  uint32_t file = 0;
  const bool fits = DropPrefix(name, "cluster-iobench.check-") && ReadRunOptions(name, run_id) &&
                    DropPrefix(name, ".") && ParseNumber(name, file) && name.empty();
  return fits && CheckFileName(run_id, file) == whole ? std::optional(run_id) : std::nullopt;
}

std::optional<uint64_t> RunOfTree(std::string_view name) {
  const std::string_view whole = name;
  uint64_t run_id = 0;
  const bool fits =
      DropPrefix(name, "cluster-iobench.validate-") && ReadRunOptions(name, run_id) && name.empty();
  return fits && CheckTreeName(run_id) == whole ? std::optional(run_id) : std::nullopt;
}

bool IsDirectoryOfTree(std::string_view name) {
  const std::string_view whole = name;
  uint32_t number = 0;
  return DropPrefix(name, "d") && ParseNumber(name, number) && whole == absl::StrCat("d", number);
}

bool IsFileOfTree(std::string_view name) {
  using Style = v1::FileAction;
  std::string_view rest = name;
  uint32_t number = 0;
  if (!DropPrefix(rest, "f") || !ParseNumber(rest, number)) return false;
  for (const auto style : {Style::PLAIN, Style::LONGEST, Style::TOO_LONG, Style::UTF8}) {
    if (name == TreeFileName(number, style)) return true;
  }
  return false;
}

// "f12.sticky" (worker/check/trial/trial.h). What such a directory holds is the trial's too.
bool IsOfTrial(std::string_view name) {
  uint32_t number = 0;
  return DropPrefix(name, "f") && ParseNumber(name, number) && DropPrefix(name, ".") && !name.empty();
}

// Disappears on its own.
bool IsOfNfsClient(std::string_view name) {
  return name.starts_with(".nfs");
}

enum class Ownership { kFree, kRefused, kNotOurs };

class Cleaner {
 public:
  Cleaner(std::string path, const Directory& target, bool out_of_sight_too, LeftChecks& left)
      : path_(std::move(path)), target_(target), out_of_sight_too_(out_of_sight_too), left_(left) {}

  absl::Status CleanFile(const std::string& name, uint64_t run_id) {
    const auto text = ReadSmallFile(target_, name, kMaxOwnerBytes);
    if (absl::IsNotFound(text.status())) return absl::OkStatus();
    if (absl::IsFailedPrecondition(text.status())) return AddForeign(target_, name);  // a link, or no file
    if (!text.ok()) return text.status();
    switch (OwnershipOf(*text, target_.PathOf(name), run_id)) {
      case Ownership::kNotOurs:
        return AddForeign(target_, name);
      case Ownership::kRefused:
        return absl::OkStatus();
      case Ownership::kFree:
        break;
    }
    return Removed(target_.Remove(name), left_.removed_files);
  }

  absl::Status CleanTree(const std::string& name, uint64_t run_id) {
    const auto tree = target_.OpenDirectory(name);
    if (absl::IsNotFound(tree.status())) return absl::OkStatus();
    if (absl::IsFailedPrecondition(tree.status())) return AddForeign(target_, name);
    if (!tree.ok()) return tree.status();
    auto text = ReadSmallFile(**tree, kTreeOwnerName, kMaxOwnerBytes);
    if (absl::IsNotFound(text.status())) {  // the worker was killed right after it had made the directory
      const absl::Status removed = target_.RemoveDirectory(name);
      if (absl::IsFailedPrecondition(removed)) return AddForeign(target_, name);
      return Removed(removed, left_.removed_directories);
    }
    if (absl::IsFailedPrecondition(text.status())) return AddForeign(target_, name);
    if (!text.ok()) return text.status();
    switch (OwnershipOf(*text, target_.PathOf(name), run_id)) {
      case Ownership::kNotOurs:
        return AddForeign(target_, name);
      case Ownership::kRefused:
        return absl::OkStatus();
      case Ownership::kFree:
        break;
    }
    return RemoveTree(**tree, name);
  }

 private:
  absl::Status AddForeign(const Directory& directory, const std::string& name) {
    if (left_.foreign.size() < kMaxForeign) left_.foreign.push_back(directory.PathOf(AsUtf8(name)));
    return absl::OkStatus();
  }

  // Another process may have removed it first.
  static absl::Status Removed(absl::Status status, uint64_t& count) {
    if (status.ok()) ++count;
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }

  // Decides by the text that names the owner. The owner is out of sight if the text was cut short or comes from a
  // version that did not name the owner.
  Ownership OwnershipOf(std::string_view text, const std::string& what, uint64_t run_id) {
    if (!text.empty()) {
      uint64_t run_in_text = 0;
      if (!DropPrefix(text, kOwnerBegins)) return Ownership::kNotOurs;
      if (ReadRunOptions(text, run_in_text) && run_in_text != run_id) return Ownership::kNotOurs;
    }
    ProcessState state = ProcessState::kOutOfSight;
    for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
      std::string_view rest(line.data(), line.size());
      if (!DropPrefix(rest, kProcessBegins)) continue;
      if (const std::optional<ProcessIdentity> owner = ProcessFromLine(rest); owner.has_value())
        state = StateOf(*owner);
    }
    if (state == ProcessState::kGone) return Ownership::kFree;
    if (state == ProcessState::kAlive) {
      left_.refused.push_back(
          absl::StrCat(what, " is in use: its run is alive on this host: wait until it ends"));
      return Ownership::kRefused;
    }
    if (out_of_sight_too_) return Ownership::kFree;
    left_.refused.push_back(absl::StrCat(
        what,
        " belongs to a run of another host; whether it is still alive cannot be seen from here: check there, and "
        "if it crashed, `cluster-iobench clean --force ",
        ShellWord(path_), "` removes it"));
    return Ownership::kRefused;
  }

  absl::Status RemoveTree(const Directory& tree, const std::string& name) {
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, tree.Names());
    bool whole = true;
    for (const std::string& each : names) {
      if (each == kTreeOwnerName || IsOfNfsClient(each)) continue;
      bool gone = false;
      if (IsDirectoryOfTree(each)) {
        IOBENCH_ASSIGN_OR_RETURN(gone, RemoveDirectoryOf(tree, each));
      } else {
        IOBENCH_RETURN_IF_ERROR(AddForeign(tree, each));
      }
      whole &= gone;
    }
    if (!whole) return absl::OkStatus();
    uint64_t owners = 0;
    IOBENCH_RETURN_IF_ERROR(Removed(tree.Remove(kTreeOwnerName), owners));
    return Removed(target_.RemoveDirectory(name), left_.removed_directories);
  }

  // False: something in it is not ours.
  absl::StatusOr<bool> RemoveDirectoryOf(const Directory& tree, const std::string& name) {
    const auto directory = tree.OpenDirectory(name);
    if (absl::IsNotFound(directory.status())) return true;
    if (absl::IsFailedPrecondition(directory.status())) {
      IOBENCH_RETURN_IF_ERROR(AddForeign(tree, name));
      return false;
    }
    if (!directory.ok()) return directory.status();
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, (*directory)->Names());
    bool whole = true;
    uint64_t removed = 0;
    for (const std::string& each : names) {
      if (IsOfNfsClient(each)) continue;
      absl::Status gone = absl::FailedPreconditionError("not ours");
      if (IsFileOfTree(each)) {
        IOBENCH_ASSIGN_OR_RETURN(const NodeKind kind, KindOf(**directory, each));
        // MAKE_DIRECTORY makes directories that stay empty.
        gone =
            kind == NodeKind::kDirectory ? (*directory)->RemoveDirectory(each) : (*directory)->Remove(each);
      } else if (IsOfTrial(each)) {
        gone = RemoveOfTrial(**directory, each);
      }
      if (absl::IsFailedPrecondition(gone)) {
        whole = false;
        IOBENCH_RETURN_IF_ERROR(AddForeign(**directory, each));
      } else {
        IOBENCH_RETURN_IF_ERROR(Removed(gone, removed));
      }
    }
    if (whole) IOBENCH_RETURN_IF_ERROR(Removed(tree.RemoveDirectory(name), removed));
    return whole;
  }

  static absl::Status RemoveOfTrial(const Directory& directory, const std::string& name) {
    IOBENCH_ASSIGN_OR_RETURN(const NodeKind kind, KindOf(directory, name));
    if (kind != NodeKind::kDirectory) return directory.Remove(name);
    IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> opened, directory.OpenDirectory(name));
    IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, opened->Names());
    for (const std::string& each : names) {
      IOBENCH_ASSIGN_OR_RETURN(const NodeKind inner, KindOf(*opened, each));
      IOBENCH_RETURN_IF_ERROR(inner == NodeKind::kDirectory ? opened->RemoveDirectory(each)
                                                            : opened->Remove(each));
    }
    return directory.RemoveDirectory(name);
  }

  static absl::StatusOr<NodeKind> KindOf(const Directory& directory, const std::string& name) {
    const auto facts = directory.Look(name);
    if (absl::IsNotFound(facts.status())) return NodeKind::kFile;  // gone meanwhile, as removing it will say
    if (!facts.ok()) return facts.status();
    return facts->kind;
  }

  const std::string path_;
  const Directory& target_;
  const bool out_of_sight_too_;
  LeftChecks& left_;
};

}  // namespace

absl::StatusOr<LeftChecks> RemoveLeftChecks(const std::string& path, bool if_out_of_sight_too) {
  IOBENCH_ASSIGN_OR_RETURN(const std::unique_ptr<Directory> target, OpenTarget(path));
  IOBENCH_ASSIGN_OR_RETURN(const std::vector<std::string> names, target->Names());
  LeftChecks left;
  Cleaner cleaner(path, *target, if_out_of_sight_too, left);
  for (const std::string& name : names) {
    absl::Status cleaned;
    if (const std::optional<uint64_t> run_id = RunOfCheckFile(name); run_id.has_value()) {
      cleaned = cleaner.CleanFile(name, *run_id);
    } else if (const std::optional<uint64_t> run_of_tree = RunOfTree(name); run_of_tree.has_value()) {
      cleaned = cleaner.CleanTree(name, *run_of_tree);
    }
    // The others may be free to remove.
    if (!cleaned.ok()) left.refused.push_back(std::string(cleaned.message()));
  }
  return left;
}

}  // namespace iobench
