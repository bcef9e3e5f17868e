#include "worker/client/remount.h"

#include <sys/mount.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <vector>

#include "common/clock.h"

namespace iobench {
namespace {

constexpr char kMounts[] =
    "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
    "30 22 0:40 / /mnt/nfs rw,nosuid,relatime shared:1 - nfs4 10.0.0.1:/export rw,vers=4.2,addr=10.0.0.1\n"
    "31 30 0:41 / /mnt/nfs/inner rw - tmpfs tmpfs rw\n"
    "32 22 0:42 / /mnt/fuse rw - fuse.sshfs host:/ rw,user_id=0\n"
    "33 22 8:1 /home /mnt/bound rw - ext4 /dev/sda1 rw\n"
    "34 22 0:43 / /mnt/other\\040one rw - nfs4 10.0.0.1:/other ro,vers=3\n"
    "35 22 0:44 / /mnt/memory rw - tmpfs tmpfs rw,size=1024k\n"
    "36 22 0:45 / /mnt/ram rw - ramfs none rw\n"
    "37 22 8:17 / /mnt/ntfs rw - fuseblk /dev/sdb1 rw,user_id=0\n"
    "38 22 0:46 / /mnt/smb rw - cifs //nas/share rw,vers=3.1.1,sec=ntlmssp,username=guest\n"
    "39 22 0:47 / /mnt/smb3 rw - smb3 //nas/share rw,vers=3.1.1,username=bench\n"
    "40 22 0:48 / /mnt/smb-krb5 rw - cifs //nas/share rw,vers=3.1.1,sec=krb5i,cruid=0\n"
    "41 22 0:49 / /mnt/smb-none rw - smb3 //nas/share rw,vers=3.1.1,sec=none\n"
    "42 22 0:50 / /mnt/smb-guest rw - smbfs //nas/share rw,guest\n"
    "43 22 0:51 / /mnt/ceph rw - ceph 10.0.0.1:6789:/ rw,name=admin,secret=<hidden>,acl\n"
    "44 22 0:52 / /mnt/ceph-open rw - ceph 10.0.0.1:6789:/ rw,acl\n";

// Its clock moves only during sleeps.
class FakeSystem final : public MountSystem {
 public:
  bool root = true;
  int busy_count = 0;        // this many unmounts find it in use
  std::vector<int> mounted;  // results of successive mounts, then 0
  std::string program_says;
  std::vector<std::string> calls;

  bool IsRoot() override { return root; }
  std::string Mountinfo() override { return kMounts; }
  int Unmount(const std::string& mount_point) override {
    calls.push_back("umount " + mount_point);
    return busy_count-- > 0 ? EBUSY : 0;
  }
  int Mount(const std::string& source, const std::string& mount_point, const std::string& filesystem,
            uint64_t flags, const std::string& data) override {
    calls.push_back("mount " + source + " " + mount_point + " " + filesystem + " " + std::to_string(flags) +
                    " " + data);
    if (mounted.empty()) return 0;
    const int error = mounted.front();
    mounted.erase(mounted.begin());
    return error;
  }
  std::string MountByProgram(const std::string&, const std::string& mount_point, const std::string&,
                             const std::string& options) override {
    calls.push_back("program " + mount_point + " " + options);
    return program_says;
  }
  std::string UsersOf(const std::string&) override { return "process 7 (bash): its working directory"; }
  int64_t NowNs() override { return now_ns_; }
  void Sleep(int64_t ns) override { now_ns_ += ns; }
  int64_t now_ns() const { return now_ns_; }

 private:
  int64_t now_ns_ = 5;
};

TEST_CASE("whether a remount can be is seen without doing anything") {
  FakeSystem system;
  CHECK(CheckRemount("/mnt/other one", system).ok());
  CHECK(absl::IsInvalidArgument(CheckRemount("/mnt", system)));
  CHECK(absl::IsInvalidArgument(CheckRemount("/", system)));
  CHECK(absl::IsInvalidArgument(CheckRemount("/mnt/fuse", system)));
  CHECK(absl::IsInvalidArgument(CheckRemount("/mnt/bound", system)));
  CHECK(absl::IsFailedPrecondition(CheckRemount("/mnt/nfs", system)));  // /mnt/nfs/inner is in it
  system.root = false;
  CHECK(absl::IsPermissionDenied(CheckRemount("/mnt/other one", system)));
  CHECK(system.calls.empty());
}

TEST_CASE("a file system in memory is left alone, since its files would not come back") {
  FakeSystem system;
  for (const char* const mount_point : {"/mnt/memory", "/mnt/ram"}) {
    INFO(mount_point);
    CHECK(absl::IsInvalidArgument(CheckRemount(mount_point, system)));
    const absl::Status status = Remount(mount_point, system).status();
    CHECK(absl::IsInvalidArgument(status));
    CHECK_THAT(std::string(status.message()), Catch::Contains("memory") && Catch::Contains("destroys"));
  }
  CHECK(system.calls.empty());
}

TEST_CASE("a mount is left alone if the kernel does not show all that is needed to mount it again") {
  FakeSystem system;
  for (const char* const mount_point : {"/mnt/ntfs", "/mnt/smb", "/mnt/smb3", "/mnt/ceph"}) {
    INFO(mount_point);
    CHECK(absl::IsInvalidArgument(CheckRemount(mount_point, system)));
    const absl::Status status = Remount(mount_point, system).status();
    CHECK(absl::IsInvalidArgument(status));
    CHECK_THAT(std::string(status.message()), Catch::Contains("cannot be remounted"));
  }
  CHECK(system.calls.empty());
  for (const char* const mount_point :
       {"/mnt/smb-krb5", "/mnt/smb-none", "/mnt/smb-guest", "/mnt/ceph-open"}) {
    INFO(mount_point);
    CHECK(CheckRemount(mount_point, system).ok());
  }
}

TEST_CASE("a remount mounts what was there, by the source, type and options that the kernel shows") {
  FakeSystem system;
  const auto outcome = Remount("/mnt/other one", system);
  REQUIRE(outcome.ok());
  CHECK(*outcome == "10.0.0.1:/other (nfs4) on /mnt/other one");
  REQUIRE(system.calls.size() == 2);
  CHECK(system.calls[0] == "umount /mnt/other one");
  CHECK(system.calls[1] ==
        "mount 10.0.0.1:/other /mnt/other one nfs4 " + std::to_string(MS_RDONLY) + " vers=3");
}

TEST_CASE("a mount that is in use for a moment is unmounted when it is free") {
  FakeSystem system;
  system.busy_count = 3;
  REQUIRE(Remount("/mnt/other one", system).ok());
  CHECK(system.calls.size() == 5);
  CHECK(system.now_ns() < kNanosPerSecond);
}

TEST_CASE("a mount that stays in use is left alone after ten seconds, and its user named") {
  FakeSystem system;
  system.busy_count = 1'000'000;
  const absl::Status status = Remount("/mnt/other one", system).status();
  CHECK(absl::IsFailedPrecondition(status));
  CHECK(status.message() ==
        "-U /mnt/other one: still in use after 10 s by process 7 (bash): its working directory");
  CHECK(system.now_ns() >= 10 * kNanosPerSecond);
  CHECK(system.now_ns() < 11 * kNanosPerSecond);
  CHECK(system.calls.back() == "umount /mnt/other one");
}

TEST_CASE("a file system that is mounted inside another is named") {
  FakeSystem system;
  system.busy_count = 1'000'000;
  const absl::Status status = Remount("/mnt/nfs", system).status();
  CHECK_THAT(std::string(status.message()), Catch::EndsWith("mounted in it, at /mnt/nfs/inner"));
}

TEST_CASE("what cannot be remounted is refused before anything is unmounted") {
  FakeSystem system;
  CHECK(absl::IsInvalidArgument(Remount("/mnt/nothing", system).status()));
  CHECK(absl::IsInvalidArgument(Remount("/mnt/nfs/directory", system).status()));
  CHECK(absl::IsInvalidArgument(Remount("/mnt/fuse", system).status()));
  CHECK(absl::IsInvalidArgument(Remount("/mnt/bound", system).status()));
  CHECK(absl::IsInvalidArgument(Remount("/", system).status()));
  system.root = false;
  CHECK(absl::IsPermissionDenied(Remount("/mnt/nfs", system).status()));
  CHECK(system.calls.empty());
}

TEST_CASE("a mount that the kernel refuses is tried by the mount program, and its words are told") {
  FakeSystem system;
  system.mounted = {ECONNREFUSED, EINVAL};
  REQUIRE(Remount("/mnt/nfs", system).ok());
  CHECK(system.calls.size() == 4);  // unmounted, mounted twice, by the program
  CHECK(system.calls.back() == "program /mnt/nfs rw,nosuid,relatime,rw,vers=4.2,addr=10.0.0.1");

  system.mounted = {EINVAL};
  system.program_says = "mount: no such device";
  const absl::Status status = Remount("/mnt/nfs", system).status();
  CHECK(absl::IsUnavailable(status));
  CHECK_THAT(std::string(status.message()),
             Catch::StartsWith("/mnt/nfs was unmounted and cannot be mounted again: ") &&
                 Catch::EndsWith("; mount: no such device"));
}

TEST_CASE("mount options become flags and data") {
  const MountArguments arguments =
      MountArgumentsFrom("rw,noatime,nodev,rw,sync,vers=4.2,rsize=262144,seclabel");
  CHECK(arguments.flags == (MS_NOATIME | MS_NODEV | MS_SYNCHRONOUS));
  CHECK(arguments.data == "vers=4.2,rsize=262144");
}

}  // namespace
}  // namespace iobench
