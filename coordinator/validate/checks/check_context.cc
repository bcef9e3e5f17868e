#include "coordinator/validate/checks/check_context.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"
#include "common/text/units.h"
#include "coordinator/preflight/cause.h"

namespace iobench {
namespace {

constexpr int kMaxEvidence = 20;  // different lines

}  // namespace

std::string CountText(uint64_t count) {
  return FormatCount(static_cast<double>(count));
}

std::string CheckContext::NameOf(uint32_t worker) const {
  const bool shares_client = client_count == 1 && peers.size() > 1;
  return Printable(shares_client ? absl::StrCat("worker ", worker, " on ", HostOf(worker))
                                 : ClientOf(worker));
}

const v1::TargetFacts& CheckContext::SeenBy(uint32_t worker) const {
  static const v1::TargetFacts kNothing;
  return worker < targets.size() && targets[worker].targets_size() > 0 ? targets[worker].targets(0)
                                                                       : kNothing;
}

bool CheckContext::IsNfs() const {
  return SeenBy(peers.empty() ? one_of_each.front() : peers.front()).filesystem().starts_with("nfs");
}

bool CheckContext::IsGluster() const {
  return SeenBy(peers.empty() ? one_of_each.front() : peers.front()).filesystem().find("glusterfs") !=
         std::string::npos;
}

bool CheckContext::IsLocal() const {
  static constexpr std::string_view kLocal[] = {"tmpfs", "ramfs", "ext2",    "ext3",    "ext4",
                                                "xfs",   "btrfs", "zfs",     "f2fs",    "vfat",
                                                "exfat", "ntfs3", "overlay", "squashfs"};
  return std::all_of(one_of_each.begin(), one_of_each.end(), [this](uint32_t worker) {
    const v1::TargetFacts& seen = SeenBy(worker);
    return !seen.network() &&
           std::find(std::begin(kLocal), std::end(kLocal), seen.filesystem()) != std::end(kLocal);
  });
}

std::string CheckContext::Advice(const AdviceByFilesystem& advice) const {
  return IsNfs() ? advice.nfs : IsGluster() ? advice.gluster : advice.others;
}

std::string CheckContext::CacheAdvice(const char* on_nfs) const {
  return Advice(
      {.nfs = on_nfs,
       .gluster =
           "let only one client use a file at a time, or switch its caches off: mount with "
           "direct-io-mode=enable,attribute-timeout=0,entry-timeout=0 and set performance.quick-read, "
           "performance.io-cache, performance.stat-prefetch and performance.write-behind of the volume to off",
       .others = "let only one client use a file at a time, or look for the options that switch client "
                 "caches off"});
}

std::string CheckContext::CauseOfLocks() const {
  return causes.contains(kLocalLocks) ? "mounts" : causes.contains("locks") ? "locks" : "";
}

std::string CheckContext::CheckOf(const Finding& finding) const {
  if (finding.severity != Severity::kFault || finding.of_users) return "";
  if (finding.check == PreflightCheck::kStorage) return "storage";
  const bool of_path = finding.check == PreflightCheck::kPath;
  if (!of_path && finding.check != PreflightCheck::kWrite) return "";
  const Cause* const cause = CauseOf(finding.error);
  const bool by_mount =
      finding.error == EROFS && !finding.workers.empty() &&
      absl::StrContains(absl::StrCat(",", SeenBy(*finding.workers.begin()).mount_options(), ","), ",ro,");
  if (by_mount || (of_path && (cause == nullptr || finding.error == ENOENT))) return "mounts";
  return cause == nullptr ? "storage" : cause->check;
}

std::string CheckContext::NewContents(size_t bytes) {
  std::string contents;
  while (contents.size() < bytes) absl::StrAppend(&contents, absl::Hex(random(), absl::kZeroPad16));
  contents.resize(bytes);
  return contents;
}

void Outcome::Set(const char* verdict, std::string found, std::string advice) {
  if (failed()) return;
  check_.set_verdict(verdict);
  check_.set_found(std::move(found));
  check_.set_advice(std::move(advice));
}

void Outcome::Pass(std::string found) {
  Set("pass", std::move(found), "");
}
void Outcome::Fail(std::string found, std::string advice) {
  Set("fail", std::move(found), std::move(advice));
}
void Outcome::Warn(std::string found, std::string advice) {
  Set("warn", std::move(found), std::move(advice));
}
void Outcome::Skip(std::string why) {
  Set("skipped", std::move(why), "");
}

void Outcome::Follow(const std::string& check, const std::string& cause, std::string found) {
  reached_ = false;
  check_.clear_verdict();
  check_.clear_figures();
  check_.set_follows_from(check);
  check_.set_cause(cause);
  Set("follows", std::move(found), "");
}

void Outcome::NotReached(const char* verdict, std::string why, std::string advice) {
  reached_ = false;
  check_.clear_verdict();
  check_.clear_evidence();
  check_.clear_figures();
  times_.clear();
  Set(verdict, std::move(why), std::move(advice));
}

void Outcome::Evidence(const std::string& line) {
  const auto [known, is_new] = times_.emplace(line, std::pair(check_.evidence_size(), uint64_t{0}));
  auto& [place, times] = known->second;
  ++times;
  if (times_.size() > kMaxEvidence && place >= kMaxEvidence) {
    if (check_.evidence_size() == kMaxEvidence) check_.add_evidence("");
    check_.set_evidence(kMaxEvidence, absl::StrCat("and ", times_.size() - kMaxEvidence, " more"));
  } else if (is_new) {
    check_.add_evidence(line);
  } else {
    check_.set_evidence(place, absl::StrCat(line, " (", times, " times)"));
  }
}

void Outcome::Figure(const char* name, double value, const char* unit) {
  v1::ValidateFigure& figure = *check_.add_figures();
  figure.set_name(name);
  figure.set_value(value);
  figure.set_unit(unit);
}

}  // namespace iobench
