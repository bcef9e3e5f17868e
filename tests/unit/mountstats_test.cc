#include "worker/client/mountstats.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_replace.h"

namespace iobench {
namespace {

// As kernels print it; the numbers are chosen so that each column can be told from the others.
constexpr char kV3[] =
    "device rootfs mounted on / with fstype rootfs\n"
    "device proc mounted on /proc with fstype proc\n"
    "device server:/export mounted on /mnt/with\\040space with fstype nfs statvers=1.1\n"
    "\topts:\trw,vers=3,rsize=1048576,wsize=1048576,namlen=255,acregmin=3,proto=tcp,timeo=600\n"
    "\tage:\t100\n"
    "\tcaps:\tcaps=0x3fef,wtmult=4096,dtsize=1048576,bsize=0,namlen=255\n"
    "\tsec:\tflavor=1,pseudoflavor=1\n"
    "\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 \n"
    "\tbytes:\t1000 2000 30 40 500 600 7 8 \n"
    "\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)\n"
    "\txprt:\ttcp 792 1 1 0 11 155 155 0 175 0 2 3 4\n"
    "\tper-op statistics\n"
    "\t        NULL: 1 1 0 44 24 0 0 0 0\n"
    "\t     GETATTR: 9 9 0 1 2 3 4 5 0\n"
    "\t        READ: 11 12 1 1111 2222 13 14 15 2\n"
    "\t       WRITE: 21 23 0 3333 4444 24 25 26 0\n"
    "\t      COMMIT: 31 31 0 5555 6666 34 35 36 0\n"
    "\n";

NfsMountCounters Only(const std::string& text) {
  const auto mounts = ParseMountstats(text);
  REQUIRE(mounts.size() == 1);
  return mounts[0];
}

TEST_CASE("an NFSv3 mount is read column by column") {
  const NfsMountCounters mount = Only(kV3);
  REQUIRE(mount.source == "server:/export");
  REQUIRE(mount.mount_point == "/mnt/with space");
  REQUIRE(mount.filesystem == "nfs");
  REQUIRE(mount.age_s == 100);
  REQUIRE(mount.app_read_bytes == 1030);  // normal and direct
  REQUIRE(mount.app_write_bytes == 2040);
  REQUIRE(mount.server_read_bytes == 500);
  REQUIRE(mount.server_write_bytes == 600);
  REQUIRE(mount.ops.size() == 5);
  const NfsOpCounters& read = mount.ops.at("READ");
  REQUIRE(read.ops == 11);
  REQUIRE(read.transmissions == 12);
  REQUIRE(read.major_timeouts == 1);
  REQUIRE(read.queue_ms == 13);
  REQUIRE(read.rtt_ms == 14);
  REQUIRE(read.execute_ms == 15);
  REQUIRE(read.errors == 2);
}

TEST_CASE("an NFSv4.2 mount over several connections is one mount") {
  const std::string text =
      "device s:/ mounted on /mnt with fstype nfs4 statvers=1.1\n"
      "\topts:\trw,vers=4.2,nconnect=3,sec=sys\n"
      "\tage:\t7\n"
      "\timpl_id:\tname='',domain='',date='0,0'\n"
      "\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,acl=0x3,sessions,pnfs=not configured,lease_time=90\n"
      "\tbytes:\t1 2 3 4 5 6 7 8 \n"
      "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
      "\txprt:\ttcp 0 0 1 0 0 100 100 0 100 0 2 0 0\n"
      "\txprt:\ttcp 0 0 1 0 0 200 200 0 200 0 2 0 0\n"
      "\txprt:\ttcp 0 0 1 0 0 300 300 0 300 0 2 0 0\n"
      "\tper-op statistics\n"
      "\t        READ: 600 600 0 1 1 1 1 1 0\n"
      "\tREAD_PLUS: 4 4 0 1 1 1 1 1 0 77 88\n"  // later kernels may add columns
      "\n"
      "device s:/other mounted on /other with fstype nfs4 statvers=1.1\n"
      "\tage:\t8\n";
  const auto mounts = ParseMountstats(text);
  REQUIRE(mounts.size() == 2);
  REQUIRE(mounts[0].ops.at("READ").ops == 600);
  REQUIRE(mounts[0].ops.at("READ_PLUS").errors == 0);
  REQUIRE(mounts[1].age_s == 8);
  REQUIRE(mounts[1].ops.empty());
  REQUIRE_FALSE(mounts[1].app_read_bytes.has_value());
}

TEST_CASE("an old kernel over UDP has eight columns and no error count") {
  const NfsMountCounters mount = Only(
      "device s:/e mounted on /mnt with fstype nfs statvers=1.0\n"
      "\tage:\t7\n"
      "\tbytes:\t1 2 3 4 5 6 7 8 \n"
      "\tRPC iostats version: 1.0  p/v: 100003/3 (nfs)\n"
      "\txprt:\tudp 800 1 10 10 0 10 0\n"
      "\tper-op statistics\n"
      "\t        READ: 11 12 1 1111 2222 13 14 15\n");
  REQUIRE(mount.ops.at("READ").execute_ms == 15);
  REQUIRE_FALSE(mount.ops.at("READ").errors.has_value());
}

TEST_CASE("lines that are cut short, garbled or unknown are left out, not guessed") {
  const NfsMountCounters mount = Only(
      "nonsense\n"
      "device\n"
      "device s:/e mounted on /mnt with fstype nfs4 statvers=1.1\n"
      "\tage:\tyoung\n"
      "\tbytes:\t1 2 3\n"
      "\tREAD: 1 2 3 4 5 6 7 8 9\n"  // not among the per-op statistics
      "\tnovelty:\t1 2 3 4 5 6 7 8 9\n"
      "\tper-op statistics\n"
      "\t       WRITE: 21 23 0\n"
      "\t      COMMIT: 31 x 0 5555 6666 34 35 36 0\n");
  REQUIRE_FALSE(mount.age_s.has_value());
  REQUIRE_FALSE(mount.app_read_bytes.has_value());
  REQUIRE(mount.ops.empty());
  REQUIRE(ParseMountstats("").empty());
}

TEST_CASE("of mounts at one place the last is the one that is seen") {
  const auto mounts = ParseMountstats(
      "device old:/e mounted on /mnt with fstype nfs statvers=1.1\n"
      "device new:/e mounted on /mnt with fstype nfs4 statvers=1.1\n"
      "device other:/e mounted on /mnt/below with fstype nfs4 statvers=1.1\n");
  REQUIRE(FindNfsMount(mounts, "/mnt")->source == "new:/e");
  REQUIRE(FindNfsMount(mounts, "/") == nullptr);
}

TEST_CASE("a delta is what came in between, of the ops that ran") {
  const NfsMountCounters before = Only(kV3);
  const NfsMountCounters after = Only(absl::StrReplaceAll(
      kV3, {{"age:\t100", "age:\t101"},
            {"1000 2000 30 40 500 600", "1007 2000 33 45 506 600"},
            {"GETATTR: 9 9", "GETATTR: 99 99"},
            {"READ: 11 12 1 1111 2222 13 14 15 2", "READ: 16 18 3 9999 9999 113 214 315 6"}}));
  const auto delta = NfsDeltaBetween(before, after);
  REQUIRE(delta.has_value());
  REQUIRE(delta->app_read_bytes() == 10);
  REQUIRE(delta->app_write_bytes() == 5);
  REQUIRE(delta->server_read_bytes() == 6);
  REQUIRE(delta->has_server_write_bytes());
  REQUIRE(delta->server_write_bytes() == 0);
  REQUIRE(delta->ops_size() == 2);  // not what did not run
  REQUIRE(delta->ops().at("GETATTR").ops() == 90);
  const v1::NfsOpDelta& read = delta->ops().at("READ");
  REQUIRE(read.ops() == 5);
  REQUIRE(read.transmissions() == 6);
  REQUIRE(read.major_timeouts() == 2);
  REQUIRE(read.queue_ms() == 100);
  REQUIRE(read.rtt_ms() == 200);
  REQUIRE(read.execute_ms() == 300);
  REQUIRE(read.errors() == 4);
}

TEST_CASE("what one of the readings does not have is absent, not 0") {
  NfsMountCounters before = Only(kV3);
  NfsMountCounters after = Only(absl::StrReplaceAll(kV3, {{"READ: 11 12", "READ: 12 13"}}));
  after.app_read_bytes.reset();
  before.ops.at("READ").errors.reset();
  const auto delta = NfsDeltaBetween(before, after);
  REQUIRE(delta.has_value());
  REQUIRE_FALSE(delta->has_app_read_bytes());
  REQUIRE(delta->has_app_write_bytes());
  REQUIRE_FALSE(delta->ops().at("READ").has_errors());
}

TEST_CASE("a mount made anew in between gives no delta") {
  const NfsMountCounters before = Only(kV3);
  for (const auto& [from, to] :
       {std::pair{"age:\t100", "age:\t99"}, std::pair{"bytes:\t1000", "bytes:\t900"},
        std::pair{"WRITE: 21 23", "WRITE: 20 23"}, std::pair{"server:/export", "server:/e"}}) {
    INFO(to);
    REQUIRE_FALSE(NfsDeltaBetween(before, Only(absl::StrReplaceAll(kV3, {{from, to}}))).has_value());
  }
  REQUIRE(NfsDeltaBetween(before, before).has_value());
}

}  // namespace
}  // namespace iobench
