// Every kind of Directory passes one suite. The one on an NFS server is hidden from a plain run:
// tests/cluster/test_libnfs_targets.py starts a server that exports a directory of this host, and runs it with
// IOBENCH_NFS_URL and IOBENCH_NFS_EXPORT.
#include "worker/storage/directory.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "tests/support/temp_dir.h"
#include "worker/storage/open_target.h"

namespace iobench {
namespace {

namespace fs = std::filesystem;

std::string NewPath() {
  static std::atomic<int> counter{0};
  return "t-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

// A new, empty directory, as we use it and as this host sees it.
class Place {
 public:
  Place(const std::string& target, const fs::path& on_disk) : name_(NewPath()), disk_(on_disk / name_) {
    auto parent = OpenTarget(target);
    INFO(parent.status());
    REQUIRE(parent.ok());
    REQUIRE((*parent)->MakeDirectory(name_).ok());
    target_ = target;
    opened_ = Again();
  }
  ~Place() { fs::remove_all(disk_); }

  // Opened once more, for another thread.
  std::unique_ptr<Directory> Again() const {
    auto parent = OpenTarget(target_);
    if (!parent.ok()) return nullptr;
    auto opened = (*parent)->OpenDirectory(name_);
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  const Directory& operator*() const { return *opened_; }
  const Directory* operator->() const { return opened_.get(); }
  std::string Disk(const std::string& name) const { return (disk_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Disk(name)) << text; }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Disk(name)).rdbuf();
    return text.str();
  }

 private:
  const std::string name_;
  const fs::path disk_;
  std::string target_;
  std::unique_ptr<Directory> opened_;
};

std::string Pattern(size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i * 7 / 3 % 26);
  return text;
}

void NamesAreListedWhole(const Place& place) {
  REQUIRE(place->Names().value().empty());
  std::set<std::string> expected;
  for (int i = 0; i < 800; ++i) expected.insert(std::string(180, 'n') + std::to_string(i));
  for (const std::string& name : expected) place.Write(name, "");
  const auto names = place->Names();
  REQUIRE(names.ok());
  REQUIRE(names->size() == expected.size());
  REQUIRE(std::set<std::string>(names->begin(), names->end()) == expected);
}

void ALookSaysWhatThereIs(const Place& place) {
  place.Write("file", "12345");
  fs::create_directory(place.Disk("directory"));
  fs::create_symlink("file", place.Disk("symlink"));
  fs::create_hard_link(place.Disk("file"), place.Disk("link"));
  REQUIRE(::mkfifo(place.Disk("fifo").c_str(), 0640) == 0);
  REQUIRE(place->Look("file")->kind == NodeKind::kFile);
  REQUIRE(place->Look("file")->bytes == 5);
  REQUIRE(place->Look("file")->link_count == 2);
  REQUIRE(place->Look("directory")->kind == NodeKind::kDirectory);
  REQUIRE(place->Look("symlink")->kind == NodeKind::kSymlink);
  REQUIRE(place->Look("fifo")->kind == NodeKind::kOther);
  const absl::Status missing = place->Look("missing").status();
  REQUIRE(absl::IsNotFound(missing));
  REQUIRE_THAT(std::string(missing.message()), Catch::Contains(place->PathOf("missing")));
}

void AFileIsNewOrItIsNot(const Place& place) {
  REQUIRE(place->OpenFile("new", OpenFor::kWritingNew).ok());
  REQUIRE((fs::status(place.Disk("new")).permissions() & fs::perms::mask) == fs::perms{0640});
  REQUIRE(absl::IsAlreadyExists(place->OpenFile("new", OpenFor::kWritingNew).status()));
  place.Write("elsewhere", "precious");
  fs::create_symlink("elsewhere", place.Disk("symlink"));
  REQUIRE(absl::IsAlreadyExists(place->OpenFile("symlink", OpenFor::kWritingNew).status()));
  REQUIRE(place.Read("elsewhere") == "precious");
}

void OnlyRegularFilesAreOpened(const Place& place) {
  place.Write("elsewhere", "precious");
  fs::create_symlink("elsewhere", place.Disk("symlink"));
  fs::create_symlink("nowhere", place.Disk("dangling"));
  fs::create_directory(place.Disk("directory"));
  REQUIRE(::mkfifo(place.Disk("fifo").c_str(), 0640) == 0);
  for (const char* const name : {"symlink", "dangling", "directory", "fifo"}) {
    INFO(name);
    const absl::Status status = place->OpenFile(name, OpenFor::kReading).status();
    REQUIRE(absl::IsFailedPrecondition(status));
    REQUIRE_THAT(std::string(status.message()), Catch::StartsWith(place->PathOf(name)));
  }
  for (const char* const name : {"symlink", "dangling"}) {
    REQUIRE(absl::IsFailedPrecondition(place->OpenFile(name, OpenFor::kWriting).status()));
  }
  REQUIRE_FALSE(fs::exists(place.Disk("nowhere")));
  REQUIRE(absl::IsNotFound(place->OpenFile("missing", OpenFor::kReading).status()));
}

void WhatIsWrittenIsRead(const Place& place) {
  const std::string text = Pattern((3 << 20) + 17);  // more than goes over a wire at once
  {
    const auto file = place->OpenFile("file", OpenFor::kWriting);
    REQUIRE(file.ok());
    REQUIRE((*file)->WriteAt(0, std::as_bytes(std::span(text))).ok());
    REQUIRE((*file)->WriteAt(5, std::as_bytes(std::span("HELLO", 5))).ok());
    REQUIRE((*file)->Sync().ok());
  }
  std::string expected = text;
  expected.replace(5, 5, "HELLO");
  REQUIRE(place.Read("file") == expected);
  const auto file = place->OpenFile("file", OpenFor::kReading);
  REQUIRE(file.ok());
  REQUIRE((*file)->Facts()->bytes == text.size());
  std::string read(text.size() + 100, '?');
  REQUIRE((*file)->ReadAt(3, std::as_writable_bytes(std::span(read))).value() == text.size() - 3);
  REQUIRE(read.substr(0, text.size() - 3) == expected.substr(3));
  REQUIRE((*file)->ReadAt(text.size(), std::as_writable_bytes(std::span(read))).value() == 0);
  REQUIRE((*file)->ForgetPages().ok());
}

void BytesInMemoryAreCounted(const Place& place) {
  const std::string text = Pattern((1 << 20) + 17);
  place.Write("file", text);
  const auto file = place->OpenFile("file", OpenFor::kReading);
  REQUIRE(file.ok());
  const auto resident = (*file)->ResidentBytes(0, 10 << 20);
  if (place->fd() < 0) {  // nothing is cached on this host
    REQUIRE(absl::IsUnimplemented(resident.status()));
    return;
  }
  REQUIRE(resident.value() == text.size());  // it has just been written
  REQUIRE((*file)->ResidentBytes(5000, 9000).value() == 4000);
  REQUIRE((*file)->ResidentBytes(2 << 20, 3 << 20).value() == 0);
}

void WritingLeavesWhatIsThere(const Place& place) {
  place.Write("file", "before");
  {
    const auto file = place->OpenFile("file", OpenFor::kWriting);
    REQUIRE(file.ok());
    REQUIRE((*file)->WriteAt(0, std::as_bytes(std::span("BE", 2))).ok());
    REQUIRE((*file)->Sync().ok());
  }
  REQUIRE(place.Read("file") == "BEfore");
}

void ANameIsLinkedOnce(const Place& place) {
  place.Write("a", "a");
  place.Write("b", "b");
  REQUIRE(place->Link("a", "name").ok());
  REQUIRE(absl::IsAlreadyExists(place->Link("b", "name")));
  REQUIRE(place.Read("name") == "a");
  REQUIRE(place->Look("a")->link_count == 2);
  REQUIRE(absl::IsNotFound(place->Link("missing", "other")));
}

void OfManyWhoLinkOneWins(const Place& place) {
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> winners = 0, losers = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const std::unique_ptr<Directory> mine = place.Again();
        const std::string temporary = "tmp-" + std::to_string(i);
        if (mine == nullptr || !WriteNewFile(*mine, temporary, Pattern(1000)).ok()) return;
        const absl::Status linked = mine->Link(temporary, "name");
        winners += linked.ok() ? 1 : 0;
        losers += absl::IsAlreadyExists(linked) ? 1 : 0;
        mine->Remove(temporary).IgnoreError();
      });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(winners == 1);
    REQUIRE(losers == 3);
    REQUIRE(place->Names().value() == std::vector<std::string>{"name"});
    REQUIRE(place.Read("name") == Pattern(1000));
    REQUIRE(place->Remove("name").ok());
  }
}

void ARenameReplaces(const Place& place) {
  place.Write("a", "a");
  place.Write("b", "b");
  REQUIRE(place->Rename("a", "b").ok());
  REQUIRE(place.Read("b") == "a");
  REQUIRE(absl::IsNotFound(place->Look("a").status()));
  REQUIRE(absl::IsNotFound(place->Rename("a", "b")));
}

void ARemovedLinkLeavesItsTarget(const Place& place) {
  place.Write("elsewhere", "precious");
  fs::create_symlink("elsewhere", place.Disk("symlink"));
  REQUIRE(place->Remove("symlink").ok());
  REQUIRE(place.Read("elsewhere") == "precious");
  REQUIRE(absl::IsNotFound(place->Remove("symlink")));
}

void DirectoriesAreMadeAndRemoved(const Place& place) {
  REQUIRE(place->MakeDirectory("sub").ok());
  REQUIRE(absl::IsAlreadyExists(place->MakeDirectory("sub")));
  const auto sub = place->OpenDirectory("sub");
  REQUIRE(sub.ok());
  REQUIRE((*sub)->path() == place->PathOf("sub"));
  REQUIRE(WriteNewFile(**sub, "file", "text").ok());
  REQUIRE(place.Read("sub/file") == "text");
  REQUIRE(absl::IsFailedPrecondition(place->RemoveDirectory("sub")));
  REQUIRE((*sub)->Remove("file").ok());
  REQUIRE(place->RemoveDirectory("sub").ok());
  REQUIRE(absl::IsNotFound(place->RemoveDirectory("sub")));
  REQUIRE(absl::IsNotFound(place->OpenDirectory("sub").status()));
}

void OnlyDirectoriesAreEntered(const Place& place) {
  fs::create_directory(place.Disk("real"));
  fs::create_directory_symlink("real", place.Disk("symlink"));
  place.Write("file", "");
  for (const char* const name : {"symlink", "file"}) {
    const absl::Status status = place->OpenDirectory(name).status();
    REQUIRE(absl::IsFailedPrecondition(status));
    REQUIRE_THAT(std::string(status.message()), Catch::Contains(place->PathOf(name)));
  }
}

void SmallFilesAreWrittenAndRead(const Place& place) {
  REQUIRE(WriteNewFile(*place, "small", "0123456789").ok());
  REQUIRE(ReadSmallFile(*place, "small", 100).value() == "0123456789");
  REQUIRE(ReadSmallFile(*place, "small", 4).value() == "0123");
  REQUIRE(absl::IsAlreadyExists(WriteNewFile(*place, "small", "other")));
  REQUIRE(place.Read("small") == "0123456789");
}

void HolesAreSeen(const Place& place) {
  const std::string text = Pattern(1 << 20);
  const auto file = place->OpenFile("file", OpenFor::kWriting);
  REQUIRE(file.ok());
  REQUIRE((*file)->WriteAt(1 << 20, std::as_bytes(std::span(text))).ok());
  REQUIRE((*file)->Sync().ok());
  // NFSv3 only reports the number of blocks.
  REQUIRE((*file)->HolesIn(0, 1 << 20).value() == (place->fd() < 0 ? Holes::kUnknown : Holes::kSome));
  REQUIRE((*file)->WriteAt(0, std::as_bytes(std::span(text))).ok());
  REQUIRE((*file)->Sync().ok());
  REQUIRE((*file)->HolesIn(0, 2 << 20).value() == Holes::kNone);
}

// Also what is allocated without data; what waits in the page cache is data.
void UnwrittenBytesAreCounted(const Place& place) {
  const std::string text = Pattern(1 << 20);
  const auto file = place->OpenFile("file", OpenFor::kWriting);
  REQUIRE(file.ok());
  REQUIRE((*file)->WriteAt(2 << 20, std::as_bytes(std::span(text))).ok());
  const auto unstored = (*file)->UnstoredIn(0, 4 << 20, WrittenBy::kUser);
  if (place->fd() < 0) {
    REQUIRE(absl::IsUnimplemented(unstored.status()));
    return;
  }
  REQUIRE(unstored->hole_bytes == 2 << 20);  // the file ends after 3 MiB
  REQUIRE(unstored->compressed_bytes == 0);
  REQUIRE((*file)->UnstoredIn(1 << 20, (5 << 20) / 2, WrittenBy::kUs)->hole_bytes == 1 << 20);
  if (!(*file)->Allocate(0, 1 << 20).ok()) return;
  REQUIRE((*file)->Sync().ok());
  REQUIRE((*file)->UnstoredIn(0, 3 << 20, WrittenBy::kUser)->hole_bytes == 2 << 20);
  REQUIRE((*file)->WriteAt(0, std::as_bytes(std::span(text))).ok());
  REQUIRE((*file)->UnstoredIn(0, 3 << 20, WrittenBy::kUser)->hole_bytes == 1 << 20);
}

void RunSuite(const std::string& target, const fs::path& on_disk) {
  struct Case {
    const char* name;
    void (*run)(const Place&);
  };
  for (const Case& each : {
           Case{"names are listed whole", NamesAreListedWhole},
           Case{"a look says what there is", ALookSaysWhatThereIs},
           Case{"a file is new or it is not", AFileIsNewOrItIsNot},
           Case{"only regular files are opened", OnlyRegularFilesAreOpened},
           Case{"what is written is read", WhatIsWrittenIsRead},
           Case{"writing leaves what is there", WritingLeavesWhatIsThere},
           Case{"a name is linked once", ANameIsLinkedOnce},
           Case{"of many who link one wins", OfManyWhoLinkOneWins},
           Case{"a rename replaces", ARenameReplaces},
           Case{"a removed link leaves its target", ARemovedLinkLeavesItsTarget},
           Case{"directories are made and removed", DirectoriesAreMadeAndRemoved},
           Case{"only directories are entered", OnlyDirectoriesAreEntered},
           Case{"small files are written and read", SmallFilesAreWrittenAndRead},
           Case{"holes are seen", HolesAreSeen},
           Case{"unwritten bytes are counted", UnwrittenBytesAreCounted},
           Case{"bytes in memory are counted", BytesInMemoryAreCounted},
       }) {
    DYNAMIC_SECTION(each.name) {
      const Place place(target, on_disk);
      each.run(place);
    }
  }
}

TEST_CASE("a directory of a mounted file system") {
  const TempDir made;
  RunSuite(made.path(), made.path());
}

// Asks in a thread that has become the user. Only root may do that: PermissionDenied.
absl::StatusOr<uint64_t> ResidentBytesSeenBy(uid_t user, File& file) {
  absl::StatusOr<uint64_t> resident = absl::PermissionDeniedError("this process cannot become another user");
  std::thread([&] {
    // The system call itself, because the C library would change all threads.
    if (::syscall(SYS_setresuid, user, user, user) == 0) resident = file.ResidentBytes(0, 1 << 20);
  }).join();
  return resident;
}

TEST_CASE("which pages are in memory is unknown to users who neither own the file nor may write it") {
  constexpr uid_t kOwner = 61301, kOther = 61302;
  if (::geteuid() != 0) {
    WARN("only root can act as another user: this was not tested");
    return;
  }
  const TempDir made;
  const Place place(made.path(), made.path());
  place.Write("file", Pattern(8192));
  const std::string path = place.Disk("file");
  const auto file = place->OpenFile("file", OpenFor::kReading);
  REQUIRE(file.ok());
  const auto change = [&path](uid_t owner, mode_t mode) {
    REQUIRE(::chown(path.c_str(), owner, static_cast<gid_t>(-1)) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  };
  change(kOwner, 0444);
  REQUIRE((*file)->ForgetPages().ok());
  const absl::Status seen = ResidentBytesSeenBy(kOther, **file).status();
  if (absl::IsPermissionDenied(seen)) {
    WARN(seen.message() << ": this was not tested");
    return;
  }
  CHECK(absl::IsUnimplemented(seen));
  CHECK(ResidentBytesSeenBy(kOwner, **file).ok());
  CHECK((*file)->ResidentBytes(0, 8192).ok());  // root
  change(0, 0666);
  CHECK(ResidentBytesSeenBy(kOther, **file).ok());
}

TEST_CASE("a directory of an NFS server", "[.nfs]") {
  const char* const url = std::getenv("IOBENCH_NFS_URL");
  const char* const exported = std::getenv("IOBENCH_NFS_EXPORT");
  REQUIRE(url != nullptr);
  REQUIRE(exported != nullptr);
  RunSuite(url, exported);
}

TEST_CASE("a target that is not there, or is no directory, is not opened") {
  REQUIRE(absl::IsNotFound(OpenTarget("/nowhere/at/all").status()));
  REQUIRE_FALSE(OpenTarget("/etc/passwd").ok());
  REQUIRE(absl::IsInvalidArgument(OpenTarget("nfs://").status()));
}

}  // namespace
}  // namespace iobench
