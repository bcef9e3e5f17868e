#include "coordinator/launch/host_jobs.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "common/clock.h"
#include "coordinator/launch/remote_shell.h"

namespace iobench {
namespace {

TEST_CASE("jobs run at the same time, and each has its own output and ending") {
  // The first job waits for a file that the last one makes.
  char fifo[] = "/tmp/iobench_jobs_test.XXXXXX";
  REQUIRE(mkdtemp(fifo) != nullptr);
  const std::string place = fifo;
  const std::vector<HostJob> jobs = {
      {"a", "sh -c 'while ! test -e " + place + "/go; do sleep 0.01; done; echo one; echo; echo two >&2'"},
      {"b", "sh -c 'exit 3'"},
      {"c", "sh -c 'kill -9 $$'"},
      {"d", "touch " + place + "/go"}};
  const auto outcomes = RunOnHosts(jobs, {});
  REQUIRE(outcomes.ok());
  REQUIRE(outcomes->size() == 4);
  CHECK((*outcomes)[0].well);
  CHECK((*outcomes)[0].lines == std::vector<std::string>{"one", "two"});
  CHECK((*outcomes)[1].exit_code == 3);
  CHECK((*outcomes)[1].ending == "exit code 3");
  CHECK_FALSE((*outcomes)[2].well);
  CHECK((*outcomes)[2].exit_code == -1);
  for (const HostOutcome& outcome : *outcomes) CHECK(outcome.ended);
  unlink((place + "/go").c_str());
  rmdir(place.c_str());
}

TEST_CASE("a job that asks for a password is ended, because nobody will answer") {
  const std::vector<HostJob> jobs = {{"a", "sh -c 'printf \"Password: \"; exec sleep 1000'"}};
  const auto outcomes = RunOnHosts(jobs, {});
  REQUIRE(outcomes.ok());
  CHECK((*outcomes)[0].ended);
  CHECK_FALSE((*outcomes)[0].well);
  CHECK((*outcomes)[0].lines == std::vector<std::string>{"Password: "});
}

TEST_CASE("a job that hangs is given up, and the others count") {
  const std::vector<HostJob> jobs = {{"a", "sh -c 'echo begun; sleep 1000'"}, {"b", "true"}};
  const auto outcomes = RunOnHosts(jobs, {.timeout_s = 3});
  REQUIRE(outcomes.ok());
  CHECK_FALSE((*outcomes)[0].ended);
  CHECK((*outcomes)[0].lines == std::vector<std::string>{"begun"});
  CHECK((*outcomes)[1].well);
}

TEST_CASE("the commands for hosts quote what the user names") {
  const std::vector<std::string> directories = {"/a b", "-x"};
  const std::string command = CleanCommand(directories, true, "/bin/cluster-iobench", nullptr);
  CHECK(command.find("clean --force --") != std::string::npos);
  const auto outcomes = RunOnHosts(
      std::vector<HostJob>{
          {"a", CleanCommand(directories, false, "/bin/echo", nullptr).substr(sizeof("exec ") - 1)}},
      {});
  REQUIRE(outcomes.ok());
  CHECK((*outcomes)[0].lines == std::vector<std::string>{"clean -- /a b -x"});
}

}  // namespace
}  // namespace iobench
