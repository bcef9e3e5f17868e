// The check of the network, on clients whose kernels count what a test says.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/unit/validated.h"

namespace iobench {
namespace {

// Counters of a client before and after its transfer, by trial.
using Counters = std::map<std::string, std::pair<uint64_t, uint64_t>>;

// Client 1's kernel counts this; the others' networks lose nothing.
Tamper Counting(const Counters& of_one, const std::string& answer = "servers") {
  auto readings = std::make_shared<std::map<WorkerId, int>>();
  return [=](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() != v1::FileAction::TRY || action.trials(0) != "sent-segments") return;
    const bool later = (*readings)[id]++ > 0;
    for (v1::TrialResult& trial : *result.mutable_trials()) {
      trial.set_answer(answer);
      trial.clear_detail();
      trial.set_number(trial.name() == "sent-segments" ? (later ? 10'000 : 5'000) : 0);
      const auto found = of_one.find(trial.name());
      if (id == 1 && found != of_one.end())
        trial.set_number(later ? found->second.second : found->second.first);
    }
  };
}

TEST_CASE(
    "network: what one client's TCP sends again is a warning from 0.1 % on, and a failure from 1 % on") {
  for (const auto& [again, verdict] :
       {std::pair{uint64_t{4}, "pass"}, {5, "warn"}, {49, "warn"}, {50, "fail"}}) {
    Validated run;
    run.workers.tamper = Counting({{"retransmitted-segments", {7, 7 + again}}});
    run.Run("network");
    INFO(run.Text("network"));
    CHECK(run.Verdict("network") == verdict);
    if (again == 4) continue;
    Says(run.Text("network"), "c1: ");
    Says(run.Text("network"), "of 5,000 segments to the server were sent again");
    CHECK(run.Text("network").find("c0") == std::string::npos);
    REQUIRE(run.report.clients_size() == 3);
    CHECK(run.report.clients(1).transport().retransmitted_segments() == again);
    CHECK(run.report.clients(0).transport().retransmitted_segments() == 0);
    CHECK(run.LeftNothing());
  }
}

TEST_CASE("network: few segments say nothing, and errors of an interface do") {
  Validated few;
  few.workers.tamper = Counting({{"sent-segments", {0, 900}}, {"retransmitted-segments", {0, 90}}});
  CHECK(few.Run("network").Verdict("network") == "pass");
  Validated errors;
  errors.workers.tamper = Counting({{"interface-errors", {10, 12}}});
  errors.Run("network");
  CHECK(errors.Verdict("network") == "warn");
  Says(errors.Text("network"), "counted 2 errors");
}

TEST_CASE("network: segments from the server that come before an earlier one are a warning from 1 % on") {
  for (const auto& [late, verdict] : {std::pair{uint64_t{19}, "pass"}, {20, "warn"}}) {
    Validated run;
    run.workers.tamper = Counting({{"received-segments", {0, 2'000}}, {"out-of-order-segments", {0, late}}});
    run.Run("network");
    INFO(run.Text("network"));
    CHECK(run.Verdict("network") == verdict);
  }
}

TEST_CASE("network: a connection that was made anew is not compared with the old one") {
  Validated run;
  run.workers.tamper = [counting = Counting({{"retransmitted-segments", {0, 500}}}), n = 0](
                           WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) mutable {
    counting(id, action, result);
    for (v1::TrialResult& trial : *result.mutable_trials()) {
      if (id == 1) trial.set_detail(absl::StrCat("tcp 10.0.0.1 ", ++n));
    }
  };
  CHECK(run.Run("network").Verdict("network") == "pass");
}

TEST_CASE("network: a client on which much data hangs fails, and the other checks run without it") {
  Validated run;
  run.workers.hangs = [hung = false](WorkerId id, const v1::FileActions& actions) mutable {
    if (id != 2) return false;
    hung |=
        actions.actions(0).what() == v1::FileAction::TRY && actions.actions(0).trials(0) == "large-transfer";
    return hung;
  };
  run.choice.only = {"network", "close-to-open"};
  run.Run();
  INFO(run.Text("network"));
  CHECK(run.Verdict("network") == "fail");
  Says(run.Text("network"), "c2: 4 MiB did not get to the server and back within 1 min");
  Says(run.Text("network"), "MTU");
  CHECK(run.Verdict("close-to-open") == "pass");
  Says(run.Text("close-to-open"), ": 630 reads");  // one reader less
  CHECK(run.ended.ok());
}

TEST_CASE("the report names each client's interface and settings") {
  Validated run;
  v1::TargetFacts& seen = *run.targets[1].mutable_targets(0);
  seen.set_mount_point("/mnt/nfs");
  for (const auto& [name, value] :
       {std::pair{"nic", "eth0"}, {"nic_mtu", "9000"}, {"nic_mbit_per_s", "25000"}})
    (*seen.mutable_settings())[name] = value;
  run.Run("mounts");
  const v1::ValidateClient& client = run.report.clients(1);
  CHECK(client.nic() == "eth0");
  CHECK(client.nic_speed() == "25 Gbit/s");
  CHECK(client.mtu() == 9000);
  CHECK(client.mount_point() == "/mnt/nfs");
  CHECK(client.settings().at("nic") == "eth0");
  CHECK(run.report.clients(0).nic_speed().empty());
}

}  // namespace
}  // namespace iobench
