#include "worker/client/mountstats.h"

#include <catch2/catch.hpp>

#include "absl/strings/str_cat.h"
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

// Kernel 6.1 (Debian 12), NFSv4.2 with nconnect=2: 13 columns, 27 events, a layout type.
constexpr char kV42[] =
    "device 10.77.0.1:/ mounted on /mnt/nfs with fstype nfs4 statvers=1.1\n"
    "\topts:\trw,vers=4.2,rsize=262144,wsize=262144,namlen=255,hard,proto=tcp,nconnect=2,timeo=600,retrans=2\n"
    "\tage:\t40\n"
    "\timpl_id:\tname='',domain='',date='0,0'\n"
    "\tcaps:\tcaps=0x3fffbfdf,wtmult=512,dtsize=262144,bsize=0,namlen=255\n"
    "\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x68800,acl=0x3,sessions,pnfs=LAYOUT_FLEX_FILES,lease_time=90,"
    "lease_expired=0\n"
    "\tsec:\tflavor=1,pseudoflavor=1\n"
    "\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 230 240 250 260 270 \n"
    "\tbytes:\t1 2 3 4 5 6 7 8 \n"
    "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
    "\txprt:\ttcp 871 1 2 0 9 1000 1001 1 5000 70 16 800 900\n"
    "\txprt:\ttcp 0 0 1 0 9 2000 2001 0 6000 30 12 800 900\n"
    "\tper-op statistics\n"
    "\t        READ: 600 600 0 6000 60000 1 2 3 0\n";

TEST_CASE("each connection of a mount has its own counters") {
  const NfsMountCounters mount = Only(kV42);
  REQUIRE(mount.connections.size() == 2);
  const NfsConnectionCounters& first = mount.connections[0];
  CHECK(first.protocol == "tcp");
  CHECK(first.connects == 2);
  CHECK(first.sends == 1000);
  CHECK(first.receives == 1001);
  CHECK(first.bad_xids == 1);
  CHECK(first.in_flight_sum == 5000);
  CHECK(first.backlog_sum == 70);
  CHECK(first.max_slots == 16);
  CHECK(mount.connections[1].sends == 2000);
  CHECK(mount.pnfs == "LAYOUT_FLEX_FILES");
  REQUIRE(mount.events.has_value());
  CHECK(mount.events->short_reads == 230);
  CHECK(mount.events->short_writes == 240);
  CHECK(mount.events->delays == 250);
  CHECK(mount.events->pnfs_reads == 260);
  CHECK(mount.events->pnfs_writes == 270);
  const NfsOpCounters& read = mount.ops.at("READ");
  CHECK(read.sent_bytes == 6000);
  CHECK(read.received_bytes == 60000);
}

TEST_CASE("what a kernel or protocol does not count is absent, not 0") {
  const auto mount_with = [](const std::string& line) {
    return Only(absl::StrCat("device s:/e mounted on /mnt with fstype nfs statvers=1.0\n", line, "\n"));
  };
  SECTION("2.6.32: ten columns, and 25 events without pNFS") {
    const NfsMountCounters mount = mount_with(
        "\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25\n"
        "\txprt:\ttcp 871 1 2 0 9 1000 1001 1 5000 70");
    REQUIRE(mount.connections.size() == 1);
    CHECK(mount.connections[0].backlog_sum == 70);
    CHECK_FALSE(mount.connections[0].max_slots.has_value());
    REQUIRE(mount.events.has_value());
    CHECK(mount.events->delays == 25);
    CHECK_FALSE(mount.events->pnfs_reads.has_value());
  }
  SECTION("UDP does not connect") {
    const NfsMountCounters mount = mount_with("\txprt:\tudp 800 1 10 11 2 13 4 5 6 7");
    REQUIRE(mount.connections.size() == 1);
    CHECK_FALSE(mount.connections[0].connects.has_value());
    CHECK(mount.connections[0].sends == 10);
    CHECK(mount.connections[0].in_flight_sum == 13);
    CHECK(mount.connections[0].max_slots == 5);
  }
  SECTION("RDMA has counters of its own where TCP has its slots") {
    const NfsMountCounters mount =
        mount_with("\txprt:\trdma 0 0 1 0 0 500 501 0 900 8 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92");
    REQUIRE(mount.connections.size() == 1);
    CHECK(mount.connections[0].sends == 500);
    CHECK(mount.connections[0].backlog_sum == 8);
    CHECK_FALSE(mount.connections[0].max_slots.has_value());
  }
  SECTION("a line that is too short, or of a protocol of the future") {
    CHECK(mount_with("\txprt:\ttcp 871 1 2 0 9 1000 1001 1 5000").connections.empty());
    CHECK(mount_with("\txprt:\tquic 1 2 3 4 5 6 7 8 9 10 11 12 13").connections.empty());
    CHECK_FALSE(mount_with("\tevents:\t1 2 3").events.has_value());
  }
}

TEST_CASE("a delta has what each connection did, and the slots as they are") {
  const NfsMountCounters before = Only(kV42);
  const std::string later =
      absl::StrReplaceAll(kV42, {{"871 1 2 0 9 1000 1001 1 5000 70 16", "872 1 3 0 9 1100 1103 2 5400 75 20"},
                                 {"230 240 250 260 270", "231 242 253 264 275"},
                                 {"READ: 600 600 0 6000 60000", "READ: 601 601 0 6100 61000"}});
  const auto delta = NfsDeltaBetween(before, Only(later));
  REQUIRE(delta.has_value());
  REQUIRE(delta->connections_size() == 2);
  const v1::NfsConnectionDelta& first = delta->connections(0);
  CHECK(first.sends() == 100);
  CHECK(first.receives() == 102);
  CHECK(first.bad_xids() == 1);
  CHECK(first.reconnects() == 1);
  CHECK(first.in_flight_sum() == 400);
  CHECK(first.backlog_sum() == 5);
  CHECK(first.max_slots() == 20);
  CHECK(delta->connections(1).sends() == 0);
  CHECK(delta->short_reads() == 1);
  CHECK(delta->short_writes() == 2);
  CHECK(delta->delays() == 3);
  CHECK(delta->pnfs_reads() == 4);
  CHECK(delta->pnfs_writes() == 5);
  CHECK(delta->ops().at("READ").sent_bytes() == 100);
  CHECK(delta->ops().at("READ").received_bytes() == 1000);
}

TEST_CASE("connections that came, went or began anew are not compared") {
  const NfsMountCounters before = Only(kV42);
  const std::string fewer =
      absl::StrReplaceAll(kV42, {{"\txprt:\ttcp 0 0 1 0 9 2000 2001 0 6000 30 12 800 900\n", ""}});
  CHECK(NfsDeltaBetween(before, Only(fewer))->connections().empty());
  const std::string replaced = absl::StrReplaceAll(kV42, {{"9 2000 2001", "9 10 10"}});
  const auto delta = NfsDeltaBetween(before, Only(replaced));
  REQUIRE(delta.has_value());
  CHECK(delta->connections().empty());
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

TEST_CASE("mounts that send over one connection have its name in common") {
  constexpr char kOptions[] = "rw,vers=4.2,proto=tcp,clientaddr=10.0.0.9,addr=10.0.0.1";
  const std::string other = absl::StrReplaceAll(kV3, {{"/mnt/with\\040space", "/mnt/b"}});
  const std::string own = absl::StrReplaceAll(kV3, {{"tcp 792", "tcp 793"}, {"/mnt/with\\040space", "/mnt/c"}});
  const std::vector<std::string> names = ConnectionNames(Only(kV3), kOptions);
  CHECK(names == std::vector<std::string>{"tcp 10.0.0.1 792"});
  CHECK(ConnectionNames(Only(other), kOptions) == names);
  CHECK(ConnectionNames(Only(own), kOptions) != names);
  CHECK(ConnectionNames(Only(kV3), "rw,addr=10.0.0.2") != names);  // another server
  CHECK(ConnectionNames(Only(kV3), "rw,clientaddr=10.0.0.9").empty());
  CHECK(ConnectionNames(Only(absl::StrReplaceAll(kV3, {{"tcp 792", "tcp 0"}})), kOptions).empty());
}

}  // namespace
}  // namespace iobench
