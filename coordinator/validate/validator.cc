#include "coordinator/validate/validator.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"

namespace iobench {
namespace {

// Why a check cannot run; empty: it can.
std::string Obstacle(const Check& check, const CheckContext& context) {
  if (check.needs == Check::Needs::kFaultHook && context.fault_hook.empty()) {
    return "needs --fault-hook CMD, which restarts the server or cuts its power";
  }
  if (check.needs == Check::Needs::kClientHook && context.client_hook.empty()) {
    return "needs --client-hook CMD, which cuts the power of a client";
  }
  if (check.needs == Check::Needs::kClientHook && context.client_count < 2) return "needs 2 clients";
  if (check.needs == Check::Needs::kMeasurement && context.measure == nullptr) {
    return "needs --per-client, --whole, or rates in --expect FILE";
  }
  if (check.needs == Check::Needs::kMeasurement && context.left_out > 0) {
    return absl::StrCat(
        "is not measured while some clients do not see the same storage, or cannot write there (",
        context.left_out, ")");
  }
  if (check.needs == Check::Needs::kExpectations && context.expected == nullptr) {
    return "needs --expect FILE, which says what to expect";
  }
  const bool between_clients = check.min_peers > 1;
  if (context.peers.size() < check.min_peers) {
    return absl::StrCat(
        "needs ", check.min_peers, between_clients ? " clients" : " client",
        context.left_out > 0
            ? absl::StrCat(" that see the same storage and can write there (", context.left_out, " cannot)")
            : "");
  }
  return "";
}

void JudgeByWaivers(const Waivers& waivers, v1::ValidateCheck& check) {
  const auto waiver = waivers.find(check.name());
  if (waiver == waivers.end() || check.verdict() == "skipped") return;
  check.set_waiver(waiver->second);
  if (check.verdict() == "fail") check.set_verdict("known");
}

}  // namespace

absl::Status RunChecks(const CheckChoice& choice, CheckContext& context, const OnCheck& on_check,
                       v1::ValidateReport& report) {
  std::vector<const Check*> chosen;
  for (const Check& check : Checks()) {
    if (choice.Has(check.name)) chosen.push_back(&check);
  }
  absl::Status ended;
  std::string hindered;  // name of the check that met an obstacle
  const Cluster& cluster = context.files.cluster();
  for (size_t i = 0; i < chosen.size(); ++i) {
    const Check& check = *chosen[i];
    v1::ValidateCheck& found = *report.add_checks();
    found.set_name(check.name);
    found.set_title(check.title);
    Outcome outcome(found);
    if (const std::string obstacle = Obstacle(check, context); !obstacle.empty()) {
      outcome.Skip(obstacle);
      continue;
    }
    if (!ended.ok()) {
      outcome.Skip(std::string(ended.message()));
      continue;
    }
    if (!hindered.empty()) {
      outcome.Skip(absl::StrCat("cannot be checked: see ", hindered));
      continue;
    }
    on_check(check, i + 1, chosen.size());
    const CoordTime begin = cluster.Now();
    const absl::Status ran = check.run(context, outcome);
    found.set_duration_s(SecondsFrom(cluster.Now() - begin));
    if (absl::IsCancelled(ran) || absl::IsUnavailable(ran)) {
      ended = ran;
      outcome.NotReached("skipped", Printable(std::string(ran.message())), "");
    } else if (!ran.ok()) {
      outcome.Fail(Printable(std::string(ran.message())), "");
    }
    if (const std::string& obstacle = context.files.obstacle(); !obstacle.empty() && ended.ok()) {
      outcome.NotReached("fail", absl::StrCat("cannot be checked: ", Printable(obstacle)),
                         "make space or leave the directory alone, and check again");
      hindered = check.name;
    }
    if (outcome.reached()) JudgeByWaivers(choice.waivers, found);
  }
  for (const v1::ValidateCheck& check : report.checks()) ++(*report.mutable_counts())[check.verdict()];
  const absl::Status removed = context.files.RemoveAll(context.peers);
  if (removed.ok()) return ended;
  return ended.ok() ? absl::InternalError(removed.message())
                    : absl::Status(ended.code(), absl::StrCat(ended.message(), "; ", removed.message()));
}

std::vector<uint32_t> PeersOf(std::span<const Member> members, std::span<const Finding> findings,
                              uint32_t& left_out) {
  std::set<uint32_t> unfit, fit_clients, all_clients;
  for (const Finding& finding : findings) {
    const bool of_storage = finding.check == PreflightCheck::kPath ||
                            finding.check == PreflightCheck::kStorage ||
                            finding.check == PreflightCheck::kWrite;
    if (of_storage && finding.severity == Severity::kFault && !finding.of_users)
      unfit.insert(finding.workers.begin(), finding.workers.end());
  }
  std::vector<uint32_t> first_of_client, all;
  for (const Member& member : members) {
    all_clients.insert(member.client);
    if (member.lost || unfit.contains(member.number)) continue;
    all.push_back(member.number);
    if (fit_clients.insert(member.client).second) first_of_client.push_back(member.number);
  }
  left_out = static_cast<uint32_t>(all_clients.size() - fit_clients.size());
  return all_clients.size() > 1 ? first_of_client : all;
}

void RecordClients(const CheckContext& context, v1::ValidateReport& report) {
  std::map<uint32_t, int> index_of;
  std::map<std::pair<std::string, std::string>, size_t> views;
  for (const Member& member : context.files.cluster().members()) {
    const auto [at, is_new] = index_of.emplace(member.client, report.clients_size());
    v1::ValidateClient& client = is_new ? *report.add_clients() : *report.mutable_clients(at->second);
    client.set_workers(client.workers() + 1);
    if (!is_new) continue;
    const v1::TargetFacts& seen = context.SeenBy(member.number);
    client.set_host(context.ClientOf(member.number));
    client.set_kernel(member.facts.kernel());
    client.set_filesystem(seen.filesystem());
    client.set_mount_source(seen.mount_source());
    client.set_mount_options(seen.mount_options());
    ++views[{seen.filesystem(), seen.mount_source()}];
  }
  if (views.empty()) return;
  const auto most = std::max_element(views.begin(), views.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  report.set_filesystem(most->first.first);
  report.set_mount_source(most->first.second);
}

bool HasVerdict(const v1::ValidateReport& report) {
  return std::any_of(report.checks().begin(), report.checks().end(),
                     [](const v1::ValidateCheck& check) { return check.verdict() != "skipped"; });
}

bool HasNewFailure(const v1::ValidateReport& report) {
  return std::any_of(report.checks().begin(), report.checks().end(),
                     [](const v1::ValidateCheck& check) { return check.verdict() == "fail"; });
}

}  // namespace iobench
