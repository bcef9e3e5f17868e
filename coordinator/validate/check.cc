#include "coordinator/validate/check.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "common/text/display_text.h"

namespace iobench {
namespace {

constexpr int kMaxEvidence = 20;  // different lines

using Needs = Check::Needs;

constexpr Check kChecks[] = {
    {"mounts", "mounted alike everywhere, with options that fit shared data", 1, Needs::kNothing,
     CheckMounts},
    {"storage", "all clients see the same storage there", 1, Needs::kNothing, CheckStorage},
    {"clocks", "clocks of clients and file system agree", 1, Needs::kNothing, CheckClocks},
    {"identity", "owners, groups and permissions mean the same everywhere", 1, Needs::kNothing,
     CheckIdentity},
    {"groups", "a user has the rights of its supplementary groups", 1, Needs::kNothing, CheckGroups},
    {"close-to-open", "what one client writes and closes, others that then open it read", 2, Needs::kNothing,
     CheckCloseToOpen},
    {"visibility", "how long until others see a change without opening anything", 2, Needs::kNothing,
     CheckVisibility},
    {"mmap", "what one client writes through a mapping and closes, others read", 2, Needs::kNothing,
     CheckMmap},
    {"races", "of clients that create, rename, link or remove one name, exactly one wins", 2, Needs::kNothing,
     CheckRaces},
    {"locks", "fcntl and flock locks exclude other clients", 2, Needs::kNothing, CheckLocks},
    {"append", "what becomes of records that clients append at the same time", 2, Needs::kNothing,
     CheckAppend},
    {"delegations", "a conflicting open is not held up", 2, Needs::kNothing, CheckDelegations},
    {"open-unlink", "a file that is removed while open stays readable, and then goes", 1, Needs::kNothing,
     CheckOpenUnlink},
    {"listings", "no name is missing or listed twice, also while others create and remove", 1,
     Needs::kNothing, CheckListings},
    {"limits", "longest names, largest offsets, UTF-8 and holes", 1, Needs::kNothing, CheckLimits},
    {"quota", "writing more than a quota allows is an error, and nothing acknowledged is lost", 1,
     Needs::kNothing, CheckQuota},
    {"durability", "what fsync and close acknowledged survives the fault", 1, Needs::kFaultHook,
     CheckDurability},
    {"failover", "I/O goes on after the fault, within the limit and without errors", 1, Needs::kFaultHook,
     CheckFailover},
    {"lock-reclaim", "locks held during the fault are still held after it", 2, Needs::kFaultHook,
     CheckLockReclaim},
    {"client-rates", "each client alone writes and reads as fast as the others", 2, Needs::kMeasurement,
     CheckClientRates},
    {"network-limit", "one client alone comes near what its network carries", 1, Needs::kMeasurement,
     CheckNetworkLimit},
    {"scaling", "what all clients together reach of the sum of each alone, and how evenly", 2,
     Needs::kMeasurement, CheckScaling},
    {"metadata-rates", "creating, looking up and removing small files, by each client alone and by all", 1,
     Needs::kMeasurement, CheckMetadataRates},
    {"latency-tail", "p99 and longest op of all that was measured", 1, Needs::kMeasurement, CheckLatencyTail},
    {"expected", "rates and facts are as --expect says", 1, Needs::kExpectations, CheckExpected},
    // The last one: from then on a client is missing.
    {"dead-client", "a lock is free again after its holder has lost its power", 2, Needs::kClientHook,
     CheckDeadClient},
};

}  // namespace

std::span<const Check> Checks() {
  return kChecks;
}

const Check* CheckNamed(std::string_view name) {
  const auto found = std::find_if(std::begin(kChecks), std::end(kChecks),
                                  [name](const Check& check) { return name == check.name; });
  return found == std::end(kChecks) ? nullptr : found;
}

std::string CheckContext::NameOf(uint32_t worker) const {
  const bool shares_client = client_count == 1 && peers.size() > 1;
  return Printable(shares_client ? absl::StrCat("worker ", worker, " on ", HostOf(worker)) : HostOf(worker));
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
