// No name of a host, path or person leaves a redacted report, in any format.
#include "coordinator/saved_run/redact.h"

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"
#include "coordinator/report/console/console_report.h"
#include "coordinator/report/document/document.h"
#include "tests/unit/golden_file.h"

namespace iobench {
namespace {

// Every text in which the hostile report names something. "acme" stands for what is secret in all of them.
struct Hostile {
  v1::RunRecord run;
  v1::RunReport report = GoldenReport();

  Hostile() {
    v1::RunInfo& info = *report.mutable_run();
    info.set_coordinator_host("head.acme.example");
    info.set_command(
        "cluster-iobench acme alice@acme-login --path /mnt/acme -F/srv/acme2/x -+m acme.list --out acme results "
        "--coordinator-host 10.9.8.7 -Rab acme.xls --hosts alice@acme[01-09],acme-gw:22 "
        "--launcher ssh -J acme-bastion -o HostName=acme --copy-binary -i 0 -r 64k "
        "--user alice --tls-key alice.key --tls-cert=certs/alice-nas.pem --tls-ca acme.pem --resume acme "
        "--background write@1m,acme.yaml,file-mix --background-clients 1");
    info.mutable_plan()->mutable_targets(0)->set_path("/mnt/acme");
    info.add_problems()->set_message("open /mnt/acme/cluster-iobench.data/lane-000001.0 on acme7: I/O error");
    report.add_notes(
        "acme7 and acme9.acme.example report the same boot id; see fe80::acde:48 and 10.9.8.7:9400");
    v1::ClientReport& client = *report.mutable_clients(0);
    client.set_host("acme7.acme.example");
    client.set_boot_id("acme-boot");
    v1::TargetReport& target = *client.mutable_targets(0);
    target.set_path("/mnt/acme");
    target.set_mount_source("nas.acme.example:/export/acme");
    target.set_mount_options(
        "rw,clientaddr=10.9.8.7,addr=2001:db8::7,username=acme,credentials=/etc/acme.cred");
    report.mutable_clients(1)->set_host("acme8|<b>\"x\"\n");
    v1::PhaseReport& phase = *report.mutable_phases(0);
    phase.mutable_clients(0)->set_host("acme7.acme.example");
    phase.mutable_clients(1)->set_host("acme8|<b>\"x\"\n");
    phase.mutable_stonewall()->set_first_lane("acme7.acme.example worker 0 lane 0");
    for (v1::PhaseReport& each : *report.mutable_phases()) each.clear_stragglers();
    phase.add_stragglers("acme8|<b>\"x\"? worker 1 lane 2: 8 MiB/s");
    phase.mutable_storage_targets(0)->set_name("brick7.acme.example:/acme/b1");
    v1::Mark& mark = *phase.add_marks();
    mark.set_code("not_shared");
    mark.set_subject("acme7.acme.example");
    mark.set_text("acme7 sees /mnt/acme from nas.acme.example:/export/acme, acme9 from nas:/other/acme");
    v1::ErrorReport& error = *phase.add_errors();
    error.set_client("acme7.acme.example");
    error.set_file("/mnt/acme/cluster-iobench.data/lane-000000.0");
    error.set_message("write /mnt/acme/private-acme/file: No space left on device");
    for (v1::PhaseReport& each : *report.mutable_phases()) {
      for (v1::ClientPhaseReport& of : *each.mutable_clients()) {
        for (v1::WorkerPhaseReport& worker : *of.mutable_workers()) {
          for (v1::LanePhaseReport& lane : *worker.mutable_lanes())
            lane.set_file("/mnt/acme/cluster-iobench.data/lane-000000.0");
        }
      }
    }
    run.add_workers()->set_host("acme7.acme.example");
    run.add_workers()->set_host("acme9.acme.example");  // named only in a note
  }
};

struct Text {
  std::string format;
  std::string text;
};

// What each format says of the report. The page and the workbook hold it compressed: a test of the whole program looks
// into these (test_acceptance.py).
std::vector<Text> EveryFormat(const v1::RunReport& report) {
  std::vector<Text> texts;
  std::ostringstream console;
  REQUIRE(WriteConsole(report, {}, console).ok());
  texts.push_back({"console", console.str()});
  for (const Document& document : Documents()) {
    if (document.content == Document::Content::kBinary) continue;
    std::ostringstream out;
    const absl::Status written = document.write(report, out);
    if (absl::IsFailedPrecondition(written)) continue;  // a format of other operations
    REQUIRE(written.ok());
    texts.push_back({document.name, out.str()});
  }
  return texts;
}

// phases.csv, fio's JSON and the log of latencies name neither hosts nor paths.
bool NamesNobody(const std::string& format) {
  return format == "csv" || format == "fio-json" || format == "hlog";
}

TEST_CASE("a hostile report names its secrets in every format, and none after redaction") {
  Hostile hostile;
  for (const auto& [format, text] : EveryFormat(hostile.report)) {
    INFO(format);
    CHECK(absl::StrContains(text, "acme") != NamesNobody(format));
  }
  Redact(hostile.run, hostile.report);
  for (const auto& [format, text] : EveryFormat(hostile.report)) {
    for (const char* const secret :
         {"acme", "alice", "10.9.8.7", "2001:db8", "fe80", "/srv", "/etc", "nas.", "results "}) {
      const size_t at = text.find(secret);
      INFO(format << ": " << secret
                  << (at == std::string::npos ? "" : " in " + text.substr(at > 80 ? at - 80 : 0, 200)));
      CHECK(at == std::string::npos);
    }
  }
}

TEST_CASE("equal things have equal aliases, wherever they stand") {
  Hostile hostile;
  Redact(hostile.run, hostile.report);
  const v1::RunReport& report = hostile.report;
  const std::string client = report.clients(0).host();
  CHECK(client == "client-1");
  CHECK(report.clients(1).host() == "client-2");
  CHECK(report.phases(0).clients(0).host() == client);
  CHECK(report.phases(0).stonewall().first_lane() == "client-1 worker 0 lane 0");
  CHECK(report.phases(0).stragglers(0) == "client-2 worker 1 lane 2: 8 MiB/s");
  const std::string path = report.clients(0).targets(0).path();
  CHECK(path.starts_with("/path-"));
  CHECK(report.run().plan().targets(0).path() == path);
  CHECK(absl::StrContains(report.run().command(), "--path " + path + " "));
  CHECK(report.phases(0).errors(report.phases(0).errors_size() - 1).file() ==
        path + "/cluster-iobench.data/lane-000000.0");
  CHECK(absl::StrContains(report.notes(report.notes_size() - 1), "client-1 and client-3 report"));
  CHECK(absl::StrContains(report.run().command(), " user-1@"));
  CHECK(absl::StrContains(report.run().command(), " --copy-binary -i 0 -r 64k"));
}

TEST_CASE("in the command the user has an alias and loads stay unless they are files") {
  Hostile hostile;
  Redact(hostile.run, hostile.report);
  const std::string& command = hostile.report.run().command();
  INFO(command);
  CHECK(absl::StrContains(command, " --user user-1 --tls-key /path-"));
  CHECK(absl::StrContains(command, " --tls-cert=/path-"));
  CHECK(absl::StrContains(command, " --background write@1m,/path-"));
  CHECK(absl::EndsWith(command, ",file-mix --background-clients 1"));
  v1::RunReport report;
  report.mutable_run()->set_command("cluster-iobench --user=bob --background stat --background=loads.yaml");
  Redact(v1::RunRecord(), report);
  CHECK(report.run().command() == "cluster-iobench --user=user-1 --background stat --background=/path-1");
}

TEST_CASE("in the command users and loads end with their word and commands with the next long option") {
  v1::RunReport report;
  report.mutable_run()->set_command(
      "cluster-iobench --user bob /mnt/a --background stat@4k /mnt/a --mix 70r:30w@8k --mix acme.yaml "
      "--before-phase ssh -p 22 filer7 sync --workbook acme.xlsx --time 1");
  Redact(v1::RunRecord(), report);
  CHECK(report.run().command() ==
        "cluster-iobench --user user-1 /path-1 --background stat@4k /path-1 --mix 70r:30w@8k --mix /path-2 "
        "--before-phase /path-3 --workbook /path-4 --time 1");
}

TEST_CASE("what identifies nobody stays: figures, sizes, versions, operations") {
  Hostile hostile;
  const v1::RunReport before = hostile.report;
  Redact(hostile.run, hostile.report);
  const v1::RunReport& after = hostile.report;
  CHECK(after.run().id() == before.run().id());
  CHECK(after.run().started_at() == before.run().started_at());
  CHECK(after.clients(0).kernel() == before.clients(0).kernel());
  CHECK(after.phases(0).name() == before.phases(0).name());
  CHECK(after.phases(0).headline().SerializeAsString() == before.phases(0).headline().SerializeAsString());
  CHECK(absl::StrContains(after.run().command(), "-i 0 -r 64k"));
  CHECK(absl::StrContains(after.clients(1).targets(0).mount_options(), "vers=4.2,rsize=1048576"));
}

TEST_CASE("a root directory as target does not replace every slash") {
  v1::RunReport report;
  report.mutable_run()->mutable_plan()->add_targets()->set_path("/");
  report.add_notes("100 ops/s and 3 MiB/s");
  Redact(v1::RunRecord(), report);
  CHECK(report.notes(0) == "100 ops/s and 3 MiB/s");
}

TEST_CASE("two runs that are redacted together have the same aliases for the same hosts and paths") {
  Redaction redaction;
  v1::RunReport runs[2];
  for (const int i : {0, 1}) {
    v1::RunReport& run = runs[i];
    for (const int client : {i, 1 - i}) run.add_clients()->set_host(client == 0 ? "acme1" : "acme2");
    run.mutable_run()->mutable_plan()->add_targets()->set_path("/mnt/acme");
    run.add_notes("acme1 sees /mnt/acme, and so does acme2");
    redaction.Redact(run);
    CHECK(run.notes(0) == "client-1 sees /path-1, and so does client-2");
    CHECK(run.clients(i).host() == "client-1");
  }
}

TEST_CASE("a redacted validation names no host, path or server") {
  v1::ValidateReport report;
  report.set_command(
      "cluster-iobench validate /mnt/acme --hosts acme[1-2] --fault-hook ./acme.sh --output acme.xml");
  report.set_path("/mnt/acme");
  report.set_mount_source("nas.acme.example:/export/acme");
  v1::ValidateClient& client = *report.add_clients();
  client.set_host("acme1");
  client.set_mount_options("rw,vers=4.2,addr=10.9.8.7,username=acme");
  client.set_mount_source("nas.acme.example:/export/acme");
  client.set_mount_point("/mnt/acme");
  (*client.mutable_settings())["nfs.server"] = "nas.acme.example";
  report.add_facts()->add_clients("acme1");
  v1::ValidateCheck& check = *report.add_checks();
  check.set_name("visible");
  check.set_found("acme1 does not see what nas.acme.example has at /mnt/acme/private-acme");
  check.add_evidence("open /mnt/acme/cluster-iobench.data/x on acme1: Permission denied");
  report.add_servers()->set_host("nas.acme.example");
  Redaction().Redact(report);
  CHECK_FALSE(absl::StrContains(report.DebugString(), "acme"));
  CHECK_FALSE(absl::StrContains(report.DebugString(), "10.9.8.7"));
  CHECK(report.checks(0).name() == "visible");
  CHECK(absl::StrContains(report.checks(0).found(), "client-1 does not see what host-1 has at /path-"));
  CHECK(absl::StrContains(report.clients(0).mount_options(), "vers=4.2"));
}

TEST_CASE("a redacted capacity measurement knows the names of the run it was made in") {
  v1::RunRecord run;
  run.add_workers()->set_host("acme1");
  v1::CapacityReport report;
  report.set_command(
      "cluster-iobench capacity /mnt/acme --hosts acme1 --slo 'p99<=10ms' --saved results/acme");
  report.set_path("/mnt/acme, /srv/acme");
  report.set_workload("random-mix, 70 % reads");
  report.add_warnings("acme1 was the limit at 100 ops/s below /srv/acme");
  Redaction redaction;
  redaction.Learn(run);
  redaction.Redact(report);
  CHECK_FALSE(absl::StrContains(report.DebugString(), "acme"));
  CHECK(report.warnings(0) == "client-1 was the limit at 100 ops/s below /path-2");
  CHECK(report.workload() == "random-mix, 70 % reads");
  CHECK(absl::StrContains(report.command(), "--slo"));
}

}  // namespace
}  // namespace iobench
