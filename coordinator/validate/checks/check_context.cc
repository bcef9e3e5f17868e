#include "coordinator/validate/checks/check_context.h"

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"

namespace iobench {
namespace {

constexpr int kMaxEvidence = 20;  // different lines

}  // namespace

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
  return SeenBy(peers.front()).filesystem().starts_with("nfs");
}

bool CheckContext::IsGluster() const {
  return SeenBy(peers.front()).filesystem().find("glusterfs") != std::string::npos;
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
