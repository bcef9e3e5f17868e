#include "coordinator/validate/performance/expectations.h"

#include <catch2/catch.hpp>

#include "coordinator/validate/check.h"
#include "coordinator/validate/performance/performance.h"

namespace iobench {
namespace {

using Catch::Contains;

Expectations Read(const std::string& text) {
  auto expected = ParseExpectations("e.yaml", text);
  INFO(expected.status().message());
  REQUIRE(expected.ok());
  return *expected;
}

std::string RefusalOf(const std::string& text) {
  return std::string(ParseExpectations("e.yaml", text).status().message());
}

// The verdict on facts of clients "c0", "c1" …
v1::ValidateCheck Judged(const std::string& text,
                         const std::vector<std::map<std::string, std::string>>& clients) {
  std::vector<FactsOfClient> facts;
  for (const auto& values : clients) facts.push_back({"c" + std::to_string(facts.size()), values});
  v1::ValidateCheck check;
  Outcome outcome(check);
  JudgeExpectations(Read(text), facts, nullptr, {}, outcome);
  return check;
}

TEST_CASE("thresholds are read in their units") {
  const Expectations expected = Read(
      "performance:\n"
      "  client_write_min: 105 MB/s\n"
      "  total_read_min: 8 Gbit/s\n"
      "  total_create_min: 500/s\n"
      "  write_p99_max: 20 ms\n"
      "  fairness_min: 80 %\n");
  CHECK(expected.LimitOf("client_write_min") == 105e6);
  CHECK(expected.LimitOf("total_read_min") == 1e9);
  CHECK(expected.LimitOf("total_create_min") == 500);
  CHECK(*expected.LimitOf("write_p99_max") == Approx(0.02));
  CHECK(*expected.LimitOf("fairness_min") == Approx(0.8));
  CHECK_FALSE(expected.LimitOf("read_p99_max").has_value());
  CHECK(expected.thresholds[1].line == 3);
}

TEST_CASE("a file that cannot be used is refused in one line with file, line and key") {
  CHECK(
      RefusalOf("performance:\n  client_writ_min: 1 MB/s\n") ==
      "e.yaml:2: there is no expectation \"client_writ_min\"; did you mean client_write_min? (docs/validate.md "
      "lists them)");
  CHECK_THAT(RefusalOf("perfomance:\n  client_write_min: 1 MB/s\n"), Contains("did you mean performance?"));
  CHECK_THAT(RefusalOf("facts:\n  nconect: 4\n"), Contains("e.yaml:2") && Contains("did you mean nconnect?"));
  CHECK_THAT(RefusalOf("performance:\n  client_write_min: 100\n"),
             Contains("e.yaml:2: client_write_min: \"100\" is not a rate such as"));
  CHECK_THAT(RefusalOf("performance:\n  write_p99_max: 100 MB/s\n"), Contains("is not a time such as"));
  CHECK_THAT(RefusalOf("performance:\n  client_write_min: -5 MB/s\n"), Contains("is not a rate"));
  CHECK_THAT(RefusalOf("performance:\n  client_write_min: 0 MB/s\n"), Contains("is not a rate"));
  CHECK_THAT(RefusalOf("facts:\n  hard: maybe\n"), Contains("hard: \"maybe\" is not yes or no"));
  CHECK_THAT(RefusalOf("facts:\n  rsize: 1MB\n"), Contains("is not a size"));
  CHECK_THAT(RefusalOf("facts:\n  proto: \">= tcp\"\n"), Contains("is not a word"));
  CHECK_THAT(RefusalOf("facts:\n  mtu: []\n"), Contains("mtu: its value is not a number"));
  CHECK_THAT(RefusalOf("facts:\n  mtu: 9000\n  mtu: 1500\n"), Contains("e.yaml:3: mtu is there twice"));
  CHECK_THAT(RefusalOf("facts: 7\n"), Contains("e.yaml:1: facts: write `KEY: VALUE` below it"));
  CHECK_THAT(RefusalOf(""), Contains("e.yaml: expectations are the maps"));
  CHECK_THAT(RefusalOf("facts: {}\n"), Contains("it expects nothing"));
  CHECK_THAT(RefusalOf("facts: [\n"), Contains("e.yaml:") && Contains("not valid YAML"));
  CHECK_FALSE(LoadExpectations("/nowhere/expect.yaml").ok());
}

TEST_CASE("expectations that contradict each other are refused") {
  CHECK_THAT(RefusalOf("performance:\n  write_p99_max: 2 s\n  write_longest_max: 1 s\n"),
             Contains("e.yaml:2: write_p99_max of 2 s contradicts write_longest_max of 1 s in line 3"));
  CHECK_THAT(RefusalOf("performance:\n  client_read_min: 2 GB/s\nfacts:\n  nic_speed: 10 Gbit/s\n"),
             Contains("e.yaml:2: client_read_min of 2 GB/s contradicts nic_speed = 10 Gbit/s in line 4"));
  CHECK(
      RefusalOf("performance:\n  client_read_min: 2 GB/s\nfacts:\n  nic_speed: \">= 10 Gbit/s\"\n").empty());
  CHECK_THAT(RefusalOf("facts:\n  hard: yes\n  soft: yes\n"), Contains("a mount is one of the two"));
  CHECK(RefusalOf("facts:\n  hard: yes\n  soft: no\n").empty());
  CHECK_THAT(RefusalOf("performance:\n  fairness_min: 120 %\n"), Contains("cannot be reached"));
}

TEST_CASE("facts are met by equal values, by limits, and by any of a list") {
  const auto is_met = [](const std::string& fact, const std::string& value) {
    return IsAsExpected(Read("facts:\n  " + fact + "\n").facts[0], value);
  };
  CHECK(is_met("vers: 4.2", "4.2"));
  CHECK_FALSE(is_met("vers: 4.2", "4.1"));
  CHECK(is_met("vers: 4", "4.1"));
  CHECK(is_met("kernel: \">= 5.15\"", "6.1.0-13-amd64"));
  CHECK_FALSE(is_met("kernel: \">= 5.15\"", "5.4.0"));
  CHECK(is_met("rsize: 1m", "1048576"));
  CHECK(is_met("rsize: \">= 64k\"", "1048576"));
  CHECK_FALSE(is_met("rsize: \">= 1m\"", "65536"));
  CHECK(is_met("hard: yes", "yes"));
  CHECK_FALSE(is_met("hard: yes", ""));
  CHECK(is_met("soft: no", ""));
  CHECK(is_met("sec: [krb5, krb5i]", "krb5i"));
  CHECK_FALSE(is_met("sec: [krb5, krb5i]", "sys"));
  CHECK(is_met("nic_speed: \">= 10 Gbit/s\"", "25000 Mbit/s"));
  CHECK_FALSE(is_met("nic_speed: 10 Gbit/s", ""));
  CHECK(is_met("mtu: \"<= 9000\"", "1500"));
}

TEST_CASE("what a worker reports becomes facts, and a mount without nconnect has one connection") {
  v1::WorkerFacts worker;
  worker.set_kernel("Linux 6.1.0");
  worker.set_memory_bytes(uint64_t{4} << 30);
  v1::TargetFacts seen;
  seen.set_filesystem("nfs4");
  seen.set_mount_options("rw,hard,vers=4.2,rsize=1048576");
  (*seen.mutable_settings())["nic_mtu"] = "9000";
  (*seen.mutable_settings())["nic_mbit_per_s"] = "10000";
  (*seen.mutable_settings())["read_ahead_kb"] = "128";
  const std::map<std::string, std::string> facts = FactsOf("c0", worker, seen).values;
  CHECK(facts.at("hard") == "yes");
  CHECK(facts.at("vers") == "4.2");
  CHECK(facts.at("nconnect") == "1");
  const Expectations expected = Read(
      "facts:\n  mtu: 9000\n  nic_speed: 10 Gbit/s\n  read_ahead: 128k\n  memory: \">= 4g\"\n  kernel: 6.1\n"
      "  filesystem: nfs4\n");
  for (const ExpectedFact& fact : expected.facts) {
    INFO(fact.name);
    CHECK(IsAsExpected(fact, facts.at(fact.name)));
  }
  seen.set_mount_options("rw,softerr,vers=4.2");
  CHECK(FactsOf("c0", worker, seen).values["soft"] == "yes");
}

TEST_CASE("each expectation has a line, those that are not met first, with clients and place") {
  const v1::ValidateCheck check = Judged("facts:\n  clients: 2\n  hard: yes\n  mtu: 9000\n",
                                         {{{"hard", "yes"}, {"mtu", "9000"}}, {{"mtu", "1500"}}});
  CHECK(check.verdict() == "fail");
  CHECK(check.found() == "2 of 3 expectations of e.yaml are not met");
  REQUIRE(check.evidence_size() == 3);
  CHECK(check.evidence(0) == "not met: hard = yes: c1 has none, or does not tell (e.yaml:3)");
  CHECK(check.evidence(1) == "not met: mtu = 9000: c1 has 1500 (e.yaml:4)");
  CHECK(check.evidence(2) == "met: clients = 2: there are 2");
  CHECK(Judged("facts:\n  clients: 1\n", {{}}).verdict() == "pass");
}

TEST_CASE("a rate that was not measured is not met") {
  const v1::ValidateCheck check = Judged("performance:\n  client_write_min: 1 MB/s\n", {{}});
  CHECK(check.verdict() == "fail");
  CHECK_THAT(check.evidence(0), Contains("client_write_min 1 MB/s: not measured"));
}

TEST_CASE("a cached rate of the only client meets no expectation") {
  for (const bool cached : {false, true}) {
    Performance measured;
    v1::PhaseReport& phase = *measured.report.add_phases();
    phase.set_name("read");
    phase.mutable_headline()->set_bytes_per_s(8e9);
    if (cached) phase.add_marks()->set_code("cached");
    v1::ValidateCheck check;
    Outcome outcome(check);
    JudgeExpectations(Read("performance:\n  client_read_min: 1000 MB/s\n"), {}, &measured, {}, outcome);
    CHECK(check.verdict() == (cached ? "fail" : "pass"));
  }
}

}  // namespace
}  // namespace iobench
