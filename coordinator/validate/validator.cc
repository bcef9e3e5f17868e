#include "coordinator/validate/validator.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/status_util.h"
#include "common/text/display_text.h"
#include "coordinator/analysis/phase/server_figures.h"
#include "coordinator/validate/cause_ledger.h"
#include "coordinator/validate/checks/features.h"
#include "coordinator/validate/earlier_failures.h"

namespace iobench {
namespace {

// What a check needs of the options; empty: it has that.
std::string MissingOption(const Check& check, const CheckContext& context) {
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
  if (check.needs == Check::Needs::kExpectations && context.expected == nullptr) {
    return "needs --expect FILE, which says what to expect";
  }
  if (check.needs == Check::Needs::kConsistency && context.consistency_s == 0) {
    return "needs --consistency DURATION";
  }
  return "";
}

// Why a check cannot run on the clients that can take part; empty: it can.
std::string MissingClients(const Check& check, const CheckContext& context) {
  if (check.needs == Check::Needs::kMeasurement && context.left_out > 0) {
    return absl::StrCat(
        "is not measured while some clients do not see the same storage, or cannot write there (",
        context.left_out, ")");
  }
  const bool between_clients = check.min_peers > 1;
  if (context.peers.size() < check.min_peers) {
    return absl::StrCat(
        "needs ", check.min_peers, between_clients ? " clients" : " client",
        context.left_out > 0
            ? absl::StrCat(between_clients ? " that see the same storage and can write there ("
                                           : " that sees the storage and can write there (",
                           context.left_out, " cannot)")
        : between_clients && context.client_count == 1 ? ", or --spawn 2 on one host"
                                                       : "");
  }
  return "";
}

void JudgeByWaivers(const Waivers& waivers, v1::ValidateCheck& check) {
  const auto waiver = waivers.find(check.name());
  if (waiver == waivers.end() || check.verdict() == "skipped" || check.verdict() == "follows") return;
  check.set_waiver(waiver->second);
  if (check.verdict() == "fail") check.set_verdict("known");
}

// Whether the verdict is known without running the check; sets it then. `ended`: why no more checks run; OK: they do.
bool IsDecidedBefore(const Check& check, const CheckContext& context, const CauseLedger& causes,
                     const absl::Status& ended, Outcome& outcome) {
  if (const std::string missing = MissingOption(check, context); !missing.empty()) {
    outcome.Skip(missing);
    return true;
  }
  if (!ended.ok()) {
    outcome.Skip(std::string(ended.message()));
    return true;
  }
  const std::string missing = MissingClients(check, context);
  const CauseLedger::Entry* const own = causes.EntryOf(check.name);
  const CauseLedger::Entry* const stopping = causes.Stopping();
  const CauseLedger::Entry* const leaving_out = causes.LeavingOut();
  if (own != nullptr && (stopping != nullptr || !missing.empty())) {
    CauseLedger::Fail(*own, outcome);
  } else if (stopping != nullptr) {
    CauseLedger::Follow(*stopping, outcome);
  } else if (!missing.empty()) {
    outcome.Skip(missing);
    if (leaving_out != nullptr) outcome.Follow(leaving_out->check, leaving_out->name, missing);
  } else {
    return false;
  }
  return true;
}

// How the network carried the whole validation, since its check began.
absl::Status RecordTransport(CheckContext& context, v1::ValidateReport& report) {
  if (context.network_begin.empty() || context.peers.empty()) return absl::OkStatus();
  IOBENCH_ASSIGN_OR_RETURN(const uint32_t directory, context.files.NewDirectory(context.peers.front()));
  IOBENCH_ASSIGN_OR_RETURN(const NetworkReadings end, ReadNetworks(context, directory));
  for (const auto& [worker, reading] : end) {
    const auto begin = context.network_begin.find(worker);
    if (begin == context.network_begin.end()) continue;
    const std::optional<NetworkOfClient> network = NetworkBetween(begin->second, reading);
    for (v1::ValidateClient& client : *report.mutable_clients()) {
      if (network.has_value() && client.host() == context.ClientOf(worker))
        *client.mutable_transport() = network->transport;
    }
  }
  return absl::OkStatus();
}

// Runs checks round by round, and judges each by what was found before it in the table.
class ChecksRun {
 public:
  ChecksRun(const CheckChoice& choice, CheckContext& context, v1::ValidateReport& report)
      : choice_(choice), context_(context), report_(report), causes_(context, choice) {}

  void Round(std::span<const Check* const> checks, const std::function<void(const Check&)>& on_check) {
    std::deque<Running> round;
    std::vector<std::function<absl::Status()>> works;
    for (const Check* const check : checks) {
      v1::ValidateCheck& found = *report_.add_checks();
      found.set_name(check->name);
      found.set_title(check->title);
      Running& running = round.emplace_back(*check, found);
      if (IsDecidedBefore(*check, context_, causes_, ended_, running.outcome)) {
        round.pop_back();
        continue;
      }
      on_check(*check);
      works.emplace_back([this, &running] { return Run(running); });
    }
    // Each status is in its Running.
    (works.size() == 1 ? works.front()() : context_.files.side_by_side().Run(works)).IgnoreError();
    for (Running& running : round) Judge(running);
  }
  // Why no more checks run; OK: they do.
  const absl::Status& ended() const { return ended_; }

 private:
  struct Running {
    Running(const Check& row, v1::ValidateCheck& entry) : check(row), found(entry), outcome(entry) {}
    const Check& check;
    v1::ValidateCheck& found;
    Outcome outcome;
    absl::Status ran;
    std::vector<CauseMet> causes;
  };

  absl::Status Run(Running& running) {
    const Cluster& cluster = context_.files.cluster();
    const CoordTime begin = cluster.Now();
    running.ran = running.check.run(context_, running.outcome);
    running.found.set_duration_s(SecondsFrom(cluster.Now() - begin));
    running.causes = context_.files.TakeCauses();
    return running.ran;
  }

  void Judge(Running& running) {
    const absl::Status& ran = running.ran;
    Outcome& outcome = running.outcome;
    v1::ValidateCheck& found = running.found;
    const bool has_run = !absl::IsCancelled(ran) && !absl::IsUnavailable(ran);
    if (!has_run) {
      ended_.Update(ran);
      outcome.NotReached("skipped", Printable(std::string(ran.message())), "");
    } else if (!ran.ok()) {
      outcome.Fail(Printable(std::string(ran.message())), "");
    }
    // Of a check that ran beside it, and that comes first in the table.
    const CauseLedger::Entry* const stopping = causes_.Stopping();
    if (has_run && stopping != nullptr && stopping->check != found.name() && found.verdict() != "pass") {
      CauseLedger::Follow(*stopping, outcome);
      return;
    }
    if (!FollowEarlier(context_, found.name(), outcome) && has_run)
      causes_.Judge(running.causes, outcome, found, report_);
    if (context_.peers.empty() && found.verdict() == "skipped" && causes_.LeavingOut() != nullptr)
      CauseLedger::Follow(*causes_.LeavingOut(), outcome);
    const CauseLedger::Entry* const answers = causes_.EntryOf(found.name());
    if (has_run && answers != nullptr && found.verdict() != "fail") CauseLedger::Fail(*answers, outcome);
    if (outcome.reached()) JudgeByWaivers(choice_.waivers, found);
  }

  const CheckChoice& choice_;
  CheckContext& context_;
  v1::ValidateReport& report_;
  CauseLedger causes_;
  absl::Status ended_;
};

}  // namespace

void SkipChecks(const CheckChoice& choice, const std::string& why, v1::ValidateReport& report) {
  for (const Check& check : Checks()) {
    if (!choice.Has(check.name)) continue;
    v1::ValidateCheck& found = *report.add_checks();
    found.set_name(check.name);
    found.set_title(check.title);
    Outcome(found).Skip(Printable(why));
    ++(*report.mutable_counts())["skipped"];
  }
}

absl::Status RunChecks(const CheckChoice& choice, CheckContext& context, const OnCheck& on_check,
                       v1::ValidateReport& report) {
  std::vector<const Check*> chosen;
  for (const Check& check : Checks()) {
    if (choice.Has(check.name)) chosen.push_back(&check);
  }
  ChecksRun run(choice, context, report);
  for (size_t first = 0, end = 0; first < chosen.size(); first = end) {
    const uint32_t round = chosen[first]->round;
    for (end = first + 1; end < chosen.size() && round != 0 && chosen[end]->round == round;) ++end;
    run.Round(std::span(chosen).subspan(first, end - first), [&](const Check& check) {
      const auto at = std::find(chosen.begin(), chosen.end(), &check);
      on_check(check, static_cast<size_t>(at - chosen.begin()) + 1, chosen.size());
    });
  }
  FollowLater(context, report);
  absl::Status ended = run.ended();
  if (ended.ok()) ended = RecordTransport(context, report);
  for (const v1::ValidateCheck& check : report.checks()) ++(*report.mutable_counts())[check.verdict()];
  if (context.features != nullptr) {
    for (v1::ValidateFact& fact : FactsFrom(context, *context.features))
      *report.add_facts() = std::move(fact);
  }
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
    client.set_mount_point(seen.mount_point());
    for (const auto* const settings : {&member.facts.settings(), &seen.settings()}) {
      client.mutable_settings()->insert(settings->begin(), settings->end());
    }
    const auto setting = [&client](const char* name) {
      const auto found = client.settings().find(name);
      return found == client.settings().end() ? std::string() : found->second;
    };
    client.set_nic(setting("nic"));
    uint32_t mtu = 0;
    if (absl::SimpleAtoi(setting("nic_mtu"), &mtu)) client.set_mtu(mtu);
    double megabits_per_s = 0;
    if (absl::SimpleAtod(setting("nic_mbit_per_s"), &megabits_per_s) && megabits_per_s > 0) {
      const bool in_giga = megabits_per_s >= 1000;
      client.set_nic_speed(
          absl::StrCat(in_giga ? megabits_per_s / 1000 : megabits_per_s, in_giga ? " Gbit/s" : " Mbit/s"));
    }
    ++views[{seen.filesystem(), seen.mount_source()}];
  }
  for (const Member& sampler : context.files.cluster().samplers())
    *report.add_servers() = ServerFactsOf(sampler.facts);
  if (views.empty()) return;
  const auto most = std::max_element(views.begin(), views.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  report.set_filesystem(most->first.first);
  report.set_mount_source(most->first.second);
}

bool HasVerdict(const v1::ValidateReport& report) {
  return std::any_of(report.checks().begin(), report.checks().end(), [](const v1::ValidateCheck& check) {
    return check.verdict() != "skipped" && check.verdict() != "follows";
  });
}

bool HasNewFailure(const v1::ValidateReport& report) {
  return std::any_of(report.checks().begin(), report.checks().end(),
                     [](const v1::ValidateCheck& check) { return check.verdict() == "fail"; });
}

}  // namespace iobench
