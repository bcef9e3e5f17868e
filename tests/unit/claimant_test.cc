#include "worker/data_directory/claimant.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "worker/data_directory/manifest.h"

namespace iobench {
namespace {

v1::Manifest Signed() {
  v1::Manifest manifest;
  manifest.set_program(kManifestProgram);
  manifest.set_format(kManifestFormat);
  SignClaim(manifest);
  return manifest;
}

TEST_CASE("the process that claims is seen to live, also by what is read from its manifest") {
  const v1::Manifest manifest = Signed();
  CHECK(manifest.pid() == ::getpid());
  CHECK(OwnerOf(manifest) == v1::TargetFacts::ALIVE);
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  REQUIRE(read.ok());
  CHECK(OwnerOf(*read) == v1::TargetFacts::ALIVE);
}

TEST_CASE("another process of the same number, and one that has ended, are not it") {
  v1::Manifest manifest = Signed();
  manifest.set_process_start_ticks(manifest.process_start_ticks() + 1);
  CHECK(OwnerOf(manifest) == v1::TargetFacts::GONE);

  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string json = ManifestToJson(Signed());
    ::_exit(::write(ends[1], json.data(), json.size()) == static_cast<ssize_t>(json.size()) ? 0 : 1);
  }
  ::close(ends[1]);
  std::string json(4096, '\0');
  const ssize_t got = ::read(ends[0], json.data(), json.size());
  ::close(ends[0]);
  REQUIRE(got > 0);
  json.resize(static_cast<size_t>(got));
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  const auto read = ManifestFromJson(json);
  REQUIRE(read.ok());
  CHECK(read->pid() == child);
  CHECK(OwnerOf(*read) == v1::TargetFacts::GONE);  // a zombie: not yet waited for
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(OwnerOf(*read) == v1::TargetFacts::GONE);
}

TEST_CASE("a process of another host, container or version is out of sight") {
  v1::Manifest manifest = Signed();
  const std::string here = manifest.boot_id();
  manifest.set_boot_id(here + "0");
  CHECK(OwnerOf(manifest) == v1::TargetFacts::OUT_OF_SIGHT);
  manifest.set_boot_id(here.substr(0, here.find(' ')) + " pid:[1]");
  CHECK(OwnerOf(manifest) == v1::TargetFacts::OUT_OF_SIGHT);
  CHECK(OwnerOf(v1::Manifest()) == v1::TargetFacts::OUT_OF_SIGHT);
}

TEST_CASE("a run whose claimant has ended is as alive as its coordinator") {
  v1::Manifest manifest = Signed();
  const std::string here = manifest.boot_id();
  const uint64_t start_ticks = manifest.process_start_ticks();
  manifest.set_coordinator_boot_id(here);
  manifest.set_coordinator_pid(manifest.pid());
  manifest.set_coordinator_start_ticks(start_ticks);
  Disown(manifest);
  CHECK(OwnerOf(manifest) == v1::TargetFacts::ALIVE);
  const auto read = ManifestFromJson(ManifestToJson(manifest));
  REQUIRE(read.ok());
  CHECK(OwnerOf(*read) == v1::TargetFacts::ALIVE);
  manifest.set_pid(::getpid() + 1);
  CHECK(AlivePidOf(manifest) == ::getpid());
  manifest.set_coordinator_boot_id("another boot");
  CHECK(OwnerOf(manifest) == v1::TargetFacts::OUT_OF_SIGHT);
  manifest.set_coordinator_boot_id(here);
  manifest.set_coordinator_start_ticks(start_ticks + 1);
  CHECK(OwnerOf(manifest) == v1::TargetFacts::GONE);
  manifest.set_boot_id("another boot");  // no run goes on without its coordinator
  CHECK(OwnerOf(manifest) == v1::TargetFacts::GONE);
}

TEST_CASE("a process that gives up its claim counts as ended") {
  v1::Manifest manifest = Signed();
  CHECK(IsSignedHere(manifest));
  CHECK(AlivePidOf(manifest) == ::getpid());
  Disown(manifest);
  CHECK_FALSE(IsSignedHere(manifest));
  CHECK(OwnerOf(manifest) == v1::TargetFacts::GONE);
}

}  // namespace
}  // namespace iobench
