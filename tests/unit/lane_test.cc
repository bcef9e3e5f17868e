#include "worker/lane/lane.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <span>

#include "common/status_util.h"
#include "common/unique_fd.h"
#include "tests/unit/worker_harness.h"
#include "worker/lane/lane_files.h"
#include "worker/storage/local_directory.h"

namespace iobench {
namespace {

// A temporary directory in the role of a data directory.
struct DataPlace {
  TempDir temp;
  std::unique_ptr<Directory> opened = LocalDirectory::Open(temp.path()).value();

  FileSet Files(std::vector<LaneFile> files, bool shared = false) const {
    return {
        .directory_fd = opened->fd(), .directory = temp.path(), .files = std::move(files), .shared = shared};
  }
};

Payload NewPayload() {
  auto payload = Payload::Create(1, 0, 0, kPrefillRecordBytes);
  REQUIRE(payload.ok());
  return *std::move(payload);
}

std::string Expected(uint32_t object, uint64_t bytes) {
  std::string text(bytes, '\0');
  const Op op{.kind = OpKind::kWrite, .object = object, .offset = 0, .length = static_cast<uint32_t>(bytes)};
  Payload::Expected(1, 0, 0, op, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST_CASE("a prefill writes files that are missing or short, and leaves whole ones alone") {
  const DataPlace directory;
  const uint64_t bytes = (3 << 20) + 17;  // not a multiple of what it writes at once
  directory.temp.Write("b", std::string(bytes, 'b'));
  directory.temp.Write("c", "short");
  const FileSet files = directory.Files({{"a", 0, bytes}, {"b", 0, bytes}, {"c", 0, bytes}});
  Payload payload = NewPayload();
  const StopCell quit;
  const auto written = Prefill(*directory.opened, files, payload, quit);
  REQUIRE(written.ok());
  REQUIRE(*written == 2 * bytes);
  REQUIRE(directory.temp.Read("a") == Expected(0, bytes));
  REQUIRE(directory.temp.Read("b") == std::string(bytes, 'b'));
  REQUIRE(directory.temp.Read("c") == Expected(2, bytes));
  REQUIRE(Prefill(*directory.opened, files, payload, quit).value() == 0);
}

TEST_CASE("a prefill of a shared file fills the lane's extent, also where it is a hole") {
  const DataPlace directory;
  constexpr uint64_t kExtent = 1 << 20;
  // Another lane has written the third extent, so that the file is long enough.
  const UniqueFd fd(::open((directory.temp.path() + "/shared").c_str(), O_RDWR | O_CREAT, 0640));
  const std::string others(kExtent, 'o');
  REQUIRE(::pwrite(fd.get(), others.data(), kExtent, 2 * kExtent) == static_cast<ssize_t>(kExtent));
  const FileSet files = directory.Files({{"shared", kExtent, kExtent}}, /*shared=*/true);
  Payload payload = NewPayload();
  const StopCell quit;
  REQUIRE(Prefill(*directory.opened, files, payload, quit).value() == kExtent);
  const std::string text = directory.temp.Read("shared");
  REQUIRE(text.substr(0, kExtent) == std::string(kExtent, '\0'));
  REQUIRE(text.substr(kExtent, kExtent) == Expected(0, kExtent));
  REQUIRE(text.substr(2 * kExtent) == others);
  REQUIRE(Prefill(*directory.opened, files, payload, quit).value() == 0);
}

// A file with fewer blocks than bytes, because its server compresses it, and a directory that has only such files.
class CompressedFile final : public File {
 public:
  explicit CompressedFile(std::unique_ptr<File> file) : File(file->path()), file_(std::move(file)) {}
  absl::StatusOr<NodeFacts> Facts() override { return file_->Facts(); }
  absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<std::byte> into) override {
    return file_->ReadAt(offset, into);
  }
  absl::Status WriteAt(uint64_t offset, std::span<const std::byte> data) override {
    return file_->WriteAt(offset, data);
  }
  absl::Status Sync() override { return file_->Sync(); }
  absl::StatusOr<Holes> HolesIn(uint64_t, uint64_t) override { return Holes::kUnknown; }
  absl::Status Allocate(uint64_t offset, uint64_t bytes) override { return file_->Allocate(offset, bytes); }

 private:
  const std::unique_ptr<File> file_;
};

class CompressingDirectory final : public Directory {
 public:
  explicit CompressingDirectory(const Directory& directory)
      : Directory(directory.path()), directory_(directory) {}
  absl::StatusOr<DirectoryIdentity> Identity() const override { return directory_.Identity(); }
  absl::StatusOr<v1::Space> Space() const override { return directory_.Space(); }
  absl::StatusOr<std::vector<std::string>> Names() const override { return directory_.Names(); }
  absl::StatusOr<NodeFacts> Look(const std::string& name) const override { return directory_.Look(name); }
  absl::StatusOr<std::unique_ptr<Directory>> OpenDirectory(const std::string& name) const override {
    return directory_.OpenDirectory(name);
  }
  absl::Status MakeDirectory(const std::string& name) const override {
    return directory_.MakeDirectory(name);
  }
  absl::Status RemoveDirectory(const std::string& name) const override {
    return directory_.RemoveDirectory(name);
  }
  absl::StatusOr<std::unique_ptr<File>> OpenFile(const std::string& name, OpenFor use) const override {
    auto file = directory_.OpenFile(name, use);
    if (!file.ok()) return file;
    return std::make_unique<CompressedFile>(*std::move(file));
  }
  absl::Status Remove(const std::string& name) const override { return directory_.Remove(name); }
  absl::Status Rename(const std::string& from, const std::string& to) const override {
    return directory_.Rename(from, to);
  }
  absl::Status Link(const std::string& from, const std::string& to) const override {
    return directory_.Link(from, to);
  }

 private:
  const Directory& directory_;
};

TEST_CASE("of a shared file with few blocks, only extents that end with zeros are written again") {
  const DataPlace place;
  const CompressingDirectory directory(*place.opened);
  constexpr uint64_t kExtent = 1 << 20;
  place.temp.Write("shared", std::string(kExtent, '\0') + std::string(kExtent, 'w'));
  const FileSet empty = place.Files({{"shared", 0, kExtent}}, /*shared=*/true);
  const FileSet written = place.Files({{"shared", kExtent, kExtent}}, /*shared=*/true);
  Payload payload = NewPayload();
  const StopCell quit;
  CHECK(Prefill(directory, written, payload, quit).value() == 0);
  CHECK(Prefill(directory, empty, payload, quit).value() == kExtent);
  CHECK(Prefill(directory, empty, payload, quit).value() == 0);
  CHECK(place.temp.Read("shared") == Expected(0, kExtent) + std::string(kExtent, 'w'));
}

TEST_CASE("interleaved records of zeros are prepared once, and not if only another lane's exist") {
  const DataPlace directory;
  constexpr uint32_t kRecord = 64 << 10;
  BlockContents zeros;
  zeros.constant = 0;
  auto payload = Payload::Create(1, 0, 0, kPrefillRecordBytes, zeros);
  REQUIRE(payload.ok());
  const FileSet first = directory.Files({{"shared", 0, 16 * kRecord, {2, kRecord}, kRecord}}, /*shared=*/true);
  const FileSet second = directory.Files({{"shared", kRecord, 16 * kRecord, {2, kRecord}, kRecord}}, /*shared=*/true);
  const StopCell quit;
  // After the second lane, the file has its full length, with holes where the first lane's records belong.
  for (const FileSet* const lane : {&second, &first}) {
    CHECK(Prefill(*directory.opened, *lane, *payload, quit).value() == 16 * kRecord);
    CHECK(Prefill(*directory.opened, *lane, *payload, quit).value() == 0);
  }
  CHECK(directory.temp.Read("shared") == std::string(32 * kRecord, '\0'));
}

TEST_CASE("interleaved records of compressible data are prepared once, even if the last one is zeros") {
  const DataPlace directory;
  constexpr uint32_t kRecord = 2048;  // every other record is the second half of a block: zeros
  BlockContents half;
  half.compress_percent = 50;
  auto payload = Payload::Create(1, 0, 0, kPrefillRecordBytes, half);
  REQUIRE(payload.ok());
  const FileSet files = directory.Files({{"shared", 0, 8 * kRecord, {3, kRecord}, kRecord}}, /*shared=*/true);
  directory.temp.Write("shared", std::string(24 * kRecord, '\0'));  // the other lanes' records
  const StopCell quit;
  CHECK(Prefill(*directory.opened, files, *payload, quit).value() == 8 * kRecord);
  const std::string text = directory.temp.Read("shared");
  REQUIRE(text.substr(7 * 3 * kRecord, kRecord) == std::string(kRecord, '\0'));
  REQUIRE(text.substr(6 * 3 * kRecord, kRecord) != std::string(kRecord, '\0'));
  CHECK(Prefill(*directory.opened, files, *payload, quit).value() == 0);
}

TEST_CASE("a prefill ends when it is told to quit") {
  const DataPlace directory;
  Payload payload = NewPayload();
  StopCell quit;
  quit.stop = true;
  REQUIRE(absl::IsCancelled(
      Prefill(*directory.opened, directory.Files({{"a", 0, 100}}), payload, quit).status()));
}

TEST_CASE("what is not a regular file is not touched, and a symbolic link is not followed") {
  const DataPlace directory;
  directory.temp.Write("precious", "keep me");
  REQUIRE(::symlink("precious", (directory.temp.path() + "/link").c_str()) == 0);
  REQUIRE(::mkfifo((directory.temp.path() + "/fifo").c_str(), 0640) == 0);
  Payload payload = NewPayload();
  const StopCell quit;
  REQUIRE(absl::IsFailedPrecondition(
      Prefill(*directory.opened, directory.Files({{"link", 0, 4096}}), payload, quit).status()));
  REQUIRE(absl::IsFailedPrecondition(
      Prefill(*directory.opened, directory.Files({{"fifo", 0, 4096}}), payload, quit).status()));
  REQUIRE(absl::IsFailedPrecondition(CheckDataExist(*directory.opened, directory.Files({{"link", 0, 1}}))));
  REQUIRE(absl::IsFailedPrecondition(ForgetPages(*directory.opened, directory.Files({{"link", 0, 1}}))));
  REQUIRE(absl::IsFailedPrecondition(
      CreateFiles(*directory.opened, directory.Files({{"link", 0, 1}}, /*shared=*/true))));
  REQUIRE(CreateFiles(*directory.opened, directory.Files({{"link", 0, 1}}))
              .ok());  // removes the link, makes a file
  REQUIRE(directory.temp.SizeOf("link") == 0);
  REQUIRE(directory.temp.Read("precious") == "keep me");
}

TEST_CASE("a file that has another name elsewhere is not ours: it is neither written nor kept") {
  const DataPlace directory;
  directory.temp.Write("precious", "keep me");
  REQUIRE(::link((directory.temp.path() + "/precious").c_str(), (directory.temp.path() + "/a").c_str()) == 0);
  Payload payload = NewPayload();
  const StopCell quit;
  const FileSet files = directory.Files({{"a", 0, 4096}});
  const absl::Status kept =
      CreateFiles(*directory.opened, files, FileBlocks::kAllocatedByWrites, OldFiles::kKept);
  REQUIRE(absl::IsFailedPrecondition(kept));
  REQUIRE_THAT(std::string(kept.message()), Catch::Contains("hard link"));
  REQUIRE(absl::IsFailedPrecondition(Prefill(*directory.opened, files, payload, quit).status()));
  REQUIRE(CreateFiles(*directory.opened, files).ok());  // a new file in its place
  REQUIRE(Prefill(*directory.opened, files, payload, quit).value() == 4096);
  REQUIRE(directory.temp.Read("precious") == "keep me");
}

TEST_CASE("kept data that are missing or short are an error that says how") {
  const DataPlace directory;
  directory.temp.Write("a", std::string(100, 'a'));
  REQUIRE(CheckDataExist(*directory.opened, directory.Files({{"a", 0, 100}})).ok());
  const absl::Status is_short = CheckDataExist(*directory.opened, directory.Files({{"a", 0, 101}}));
  REQUIRE(absl::IsFailedPrecondition(is_short));
  REQUIRE_THAT(std::string(is_short.message()),
               Catch::Contains(directory.temp.path() + "/a has 100 bytes, this run reads 101"));
  const absl::Status missing =
      CheckDataExist(*directory.opened, directory.Files({{"a", 0, 100}, {"b", 0, 100}}));
  REQUIRE_THAT(std::string(missing.message()), Catch::Contains("/b is missing"));
  REQUIRE_FALSE(directory.temp.Has("b"));
}

TEST_CASE("new files replace old ones; of a shared one only a missing one is made") {
  const DataPlace directory;
  directory.temp.Write("a", "old");
  directory.temp.Write("shared", "old");
  REQUIRE(CreateFiles(*directory.opened, directory.Files({{"a", 0, 10}, {"b", 0, 10}})).ok());
  REQUIRE(directory.temp.SizeOf("a") == 0);
  REQUIRE(directory.temp.SizeOf("b") == 0);
  REQUIRE(CreateFiles(*directory.opened, directory.Files({{"shared", 0, 10}}, /*shared=*/true)).ok());
  REQUIRE(directory.temp.Read("shared") == "old");
}

TEST_CASE("preallocated files have their blocks and their size, each lane its extent of a shared one") {
  const DataPlace directory;
  const absl::Status made =
      CreateFiles(*directory.opened, directory.Files({{"a", 0, 1 << 20}}), FileBlocks::kPreallocated);
  if (absl::IsUnimplemented(made)) {
    WARN("no fallocate below " << directory.temp.path());
    REQUIRE_THAT(std::string(made.message()), Catch::Contains("leave --preallocate out"));
    return;
  }
  REQUIRE(made.ok());
  struct stat facts {};
  REQUIRE(::stat((directory.temp.path() + "/a").c_str(), &facts) == 0);
  REQUIRE(facts.st_size == 1 << 20);
  REQUIRE(facts.st_blocks * 512 >= 1 << 20);
  for (const uint64_t extent_offset : {2 << 20, 0}) {
    REQUIRE(CreateFiles(*directory.opened,
                        directory.Files({{"shared", extent_offset, 1 << 20}}, /*shared=*/true),
                        FileBlocks::kPreallocated)
                .ok());
  }
  REQUIRE(directory.temp.SizeOf("shared") == 3 << 20);
}

TEST_CASE("a file that cannot be preallocated is told with its size and the errno") {
  const DataPlace directory;
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{64 << 10, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  const absl::Status made =
      CreateFiles(*directory.opened, directory.Files({{"a", 0, 1 << 20}}), FileBlocks::kPreallocated);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  REQUIRE_FALSE(made.ok());
  if (absl::IsUnimplemented(made)) return;  // warned above
  REQUIRE(ErrnoOf(made) == EFBIG);
  REQUIRE_THAT(std::string(made.message()), Catch::StartsWith("preallocate 1048576 bytes of "));
}

TEST_CASE("pages of a missing file are forgotten already") {
  const DataPlace directory;
  REQUIRE(ForgetPages(*directory.opened, directory.Files({{"a", 0, 10}})).ok());
  REQUIRE_FALSE(directory.temp.Has("a"));
}

// ---- a lane step by step, on the test's own thread

struct LaneUnderTest {
  DataPlace directory;
  PhaseSpec spec;
  std::unique_ptr<Lane> lane;
  TickPair early = ReadTickPair(ChosenTickSource());

  explicit LaneUnderTest(const v1::Prepare& prepare) {
    auto made = PhaseSpec::From(prepare, WorkerClock(), /*loop_ns=*/20);
    REQUIRE(made.ok());
    spec = *std::move(made);
    lane = std::make_unique<Lane>(spec, prepare.lanes(0), directory.temp.path(), directory.opened.get());
  }
  void GetReady() {
    lane->MakeReady();
    lane->CreateFiles();
    lane->Prefill();
    lane->LookAtFiles();
    lane->MeetOthers();
    lane->Open();
  }
  void RunRegion() {
    lane->BeginRegion(WorkerClock().Now());
    lane->RunOps();
    lane->EndRegion();
  }
  v1::LaneResult Result() const {
    return lane->ResultOn(TickScale(spec.ticks, early, ReadTickPair(spec.ticks)), {});
  }
};

TEST_CASE("a lane writes its extent of the shared file and nothing else") {
  v1::Prepare prepare = PhaseOf("write", 1, "/");
  prepare.mutable_files()->set_shared_file(true);
  prepare.mutable_lanes(0)->set_extent_offset_bytes(3 * 16 * 4096);
  LaneUnderTest test(prepare);
  test.GetReady();
  test.RunRegion();
  REQUIRE_FALSE(test.lane->failed());
  const std::string text = test.directory.temp.Read("shared");
  REQUIRE(text.size() == 4 * 16 * 4096);
  REQUIRE(text.substr(0, 3 * 16 * 4096).find_first_not_of('\0') == std::string::npos);
  REQUIRE(text.substr(3 * 16 * 4096) == Expected(0, 16 * 4096));
  REQUIRE(test.Result().file() == test.directory.temp.path() + "/shared");
}

TEST_CASE("a lane spreads its bytes over its files, which bear the owner's number") {
  v1::Prepare prepare = PhaseOf("write", 1, "/");
  prepare.mutable_files()->set_files_per_lane(4);
  prepare.mutable_lanes(0)->set_file_owner(12);
  LaneUnderTest test(prepare);
  test.GetReady();
  test.RunRegion();
  for (const char* const name : {"lane-000012.0", "lane-000012.1", "lane-000012.2", "lane-000012.3"}) {
    REQUIRE(test.directory.temp.SizeOf(name) == 4 * 4096);
  }
  REQUIRE(test.Result().file_owner() == 12);
}

TEST_CASE("an error of the file system ends the lane and names file, offset and errno") {
  // A file may not grow over 3 records: the fourth write fails.
  v1::Prepare prepare = PhaseOf("pwrite", 1, "/");
  prepare.mutable_files()->set_shared_file(true);
  prepare.mutable_lanes(0)->set_extent_offset_bytes(4096);
  prepare.mutable_region()->set_fsync(true);
  LaneUnderTest test(prepare);
  test.GetReady();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{3 * 4096, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &tight) == 0);
  test.RunRegion();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  test.lane->Settle();
  const v1::LaneResult result = test.Result();
  REQUIRE(result.problem().errno_value() == EFBIG);
  REQUIRE(result.problem().offset() == 3 * 4096);
  REQUIRE(result.problem().file() == test.directory.temp.path() + "/shared");
  REQUIRE(result.problem().operation() == "pwrite");
  REQUIRE(result.ops() == 2);
  REQUIRE(result.fsync_s() == 0);  // a failed lane is only closed
  REQUIRE(result.settle_s() == 0);
  REQUIRE(result.region_end_worker_ns() == result.ops_end_worker_ns());
}

TEST_CASE("after a failed step a lane does nothing more") {
  v1::Prepare prepare = PhaseOf("read", 1, "/");
  prepare.set_data_must_exist(true);
  LaneUnderTest test(prepare);
  test.GetReady();
  REQUIRE(test.lane->failed());
  REQUIRE_FALSE(test.lane->takes_part());
  test.RunRegion();
  test.lane->Settle();
  const v1::LaneResult result = test.Result();
  REQUIRE_THAT(result.problem().message(), Catch::Contains("is missing"));
  REQUIRE(result.ops() == 0);
  REQUIRE(result.first_op_worker_ns() == 0);
  REQUIRE_FALSE(test.directory.temp.Has("lane-000000.0"));
}

TEST_CASE("a shared file is one file: it cannot be several per lane") {
  v1::Prepare prepare = PhaseOf("write", 1, "/");
  prepare.mutable_files()->set_shared_file(true);
  prepare.mutable_files()->set_files_per_lane(2);
  REQUIRE(absl::IsInvalidArgument(PhaseSpec::From(prepare, WorkerClock(), 0).status()));
}

TEST_CASE("the tool's own time is its cost per op times the ops") {
  LaneUnderTest test(PhaseOf("write", 1));
  test.GetReady();
  test.RunRegion();
  REQUIRE(test.Result().tool_s() == Approx(16 * 20e-9));
}

// ---- whose files a lane uses, and how much of them

TEST_CASE("interleaved lanes write every record of a shared file, each its own") {
  v1::Prepare prepare = PhaseOf("write", 1, "/");
  prepare.mutable_files()->set_shared_file(true);
  prepare.mutable_files()->set_interleaved(true);
  prepare.mutable_lanes(0)->set_interleave_index(1);
  prepare.mutable_lanes(0)->set_interleave_count(3);
  prepare.mutable_lanes(0)->set_extent_offset_bytes(4096);
  LaneUnderTest test(prepare);
  test.GetReady();
  test.RunRegion();
  REQUIRE_FALSE(test.lane->failed());
  const std::string text = test.directory.temp.Read("shared");
  REQUIRE(text.size() == (15 * 3 + 2) * 4096);  // 16 records; the last is record 1 of round 15
  for (size_t record = 0; record * 4096 < text.size(); ++record) {
    const bool is_empty = text.substr(record * 4096, 4096).find_first_not_of('\0') == std::string::npos;
    INFO(record);
    REQUIRE(is_empty == (record % 3 != 1));
  }
}

TEST_CASE("interleaved lanes take turns of blocks, each of several records, in every order") {
  for (const char* operation : {"write", "random-write"}) {
    INFO(operation);
    v1::Prepare prepare = PhaseOf("write", 1, "/");
    prepare.mutable_operation()->set_name(operation);
    prepare.mutable_files()->set_shared_file(true);
    prepare.mutable_files()->set_interleaved(true);
    prepare.mutable_files()->set_block_bytes(4 * 4096);
    prepare.mutable_lanes(0)->set_interleave_index(1);
    prepare.mutable_lanes(0)->set_interleave_count(3);
    prepare.mutable_lanes(0)->set_extent_offset_bytes(4 * 4096);
    LaneUnderTest test(prepare);
    test.GetReady();
    test.RunRegion();
    REQUIRE_FALSE(test.lane->failed());
    const std::string text = test.directory.temp.Read("shared");
    REQUIRE(text.size() == (3 * 3 + 2) * 4 * 4096);  // 16 records; the last block is that of turn 1 of round 3
    for (size_t record = 0; record * 4096 < text.size(); ++record) {
      const bool is_empty = text.substr(record * 4096, 4096).find_first_not_of('\0') == std::string::npos;
      INFO(record);
      REQUIRE(is_empty == (record / 4 % 3 != 1));
    }
  }
}

TEST_CASE("a block that is no number of records, or no part of a lane's size, is refused") {
  for (const uint64_t block_bytes : {0, 4096 + 512, 3 * 4096}) {
    INFO(block_bytes);
    v1::Prepare prepare = PhaseOf("write", 1, "/");
    prepare.mutable_files()->set_shared_file(true);
    prepare.mutable_files()->set_interleaved(true);
    prepare.mutable_files()->set_block_bytes(block_bytes);
    prepare.mutable_lanes(0)->set_interleave_count(3);
    const auto spec = PhaseSpec::From(prepare, WorkerClock(), /*loop_ns=*/0);
    REQUIRE(absl::IsInvalidArgument(spec.status()));
    CHECK(std::string(spec.status().message()).find("block of") != std::string::npos);
  }
}

TEST_CASE("before a read each interleaved lane makes its own records, whatever others have made") {
  v1::Prepare prepare = PhaseOf("read", 1, "/");
  prepare.mutable_files()->set_shared_file(true);
  prepare.mutable_files()->set_interleaved(true);
  prepare.mutable_lanes(0)->set_interleave_index(0);
  prepare.mutable_lanes(0)->set_interleave_count(2);
  LaneUnderTest test(prepare);
  // The other lane has made all of its records, so that the file is as long as it can be.
  std::string others;
  for (int round = 0; round < 16; ++round) others += std::string(4096, '\0') + std::string(4096, 'o');
  test.directory.temp.Write("shared", others);
  test.GetReady();
  test.RunRegion();
  REQUIRE_FALSE(test.lane->failed());
  REQUIRE(test.Result().bytes() == 16 * 4096);
  const std::string text = test.directory.temp.Read("shared");
  REQUIRE(text.size() == 32 * 4096);
  for (size_t record = 0; record < 32; ++record) {
    INFO(record);
    const std::string bytes = text.substr(record * 4096, 4096);
    if (record % 2 == 1) REQUIRE(bytes == std::string(4096, 'o'));
    if (record % 2 == 0) REQUIRE(bytes.find_first_not_of('\0') != std::string::npos);
  }
}

TEST_CASE("a read of kept interleaved records needs the whole file, and writes none") {
  v1::Prepare prepare = PhaseOf("read", 1, "/");
  prepare.set_data_must_exist(true);
  prepare.mutable_files()->set_shared_file(true);
  prepare.mutable_files()->set_interleaved(true);
  prepare.mutable_lanes(0)->set_interleave_count(2);
  LaneUnderTest test(prepare);
  test.directory.temp.Write("shared", std::string(15 * 2 * 4096, 'x'));  // the last record is missing
  test.GetReady();
  REQUIRE(test.lane->failed());
  LaneUnderTest whole(prepare);
  whole.directory.temp.Write("shared", std::string((15 * 2 + 1) * 4096, 'x'));
  whole.GetReady();
  whole.RunRegion();
  REQUIRE_FALSE(whole.lane->failed());
  REQUIRE(whole.Result().bytes() == 16 * 4096);
}

TEST_CASE("an existing file is read by its own path, also through a link, and stays as it is") {
  const TempDir elsewhere;
  const std::string text(16 * 4096 + 5, 'u');
  elsewhere.Write("mine", text);
  std::filesystem::create_symlink(elsewhere.path() + "/mine", elsewhere.path() + "/link");
  v1::Prepare prepare = PhaseOf("read", 1, "/");
  prepare.mutable_files()->add_existing_files("/nowhere/at/all");
  prepare.mutable_files()->add_existing_files(elsewhere.path() + "/link");
  prepare.mutable_lanes(0)->set_lane(5);  // 5 mod 2
  LaneUnderTest test(prepare);
  test.GetReady();
  test.RunRegion();
  test.lane->Settle();
  REQUIRE_FALSE(test.lane->failed());
  REQUIRE(test.Result().bytes() == 16 * 4096);
  REQUIRE(test.Result().file() == elsewhere.path() + "/link");
  REQUIRE(elsewhere.Read("mine") == text);
  REQUIRE(std::filesystem::is_empty(test.directory.temp.path()));
}

TEST_CASE("an existing file that is too short is told with both sizes, and nothing is written") {
  const TempDir elsewhere;
  elsewhere.Write("mine", "short");
  v1::Prepare prepare = PhaseOf("read", 1, "/");
  prepare.mutable_files()->add_existing_files(elsewhere.path() + "/mine");
  LaneUnderTest test(prepare);
  test.GetReady();
  REQUIRE(test.lane->failed());
  REQUIRE_THAT(test.lane->problem()->message(),
               Catch::Contains("has 5 bytes") && Catch::Contains("65536"));
  REQUIRE(elsewhere.Read("mine") == "short");
}

TEST_CASE("with -+N a file that is there is written over, and one that is not is made") {
  v1::Prepare prepare = PhaseOf("write", 1, "/");
  prepare.mutable_operation()->set_keep_existing(true);
  LaneUnderTest test(prepare);
  const std::string tail = "the end of a longer file";
  test.directory.temp.Write("lane-000000.0", std::string(16 * 4096, 'o') + tail);
  test.GetReady();
  test.RunRegion();
  REQUIRE_FALSE(test.lane->failed());
  REQUIRE(test.directory.temp.Read("lane-000000.0") == Expected(0, 16 * 4096) + tail);
  LaneUnderTest anew(prepare);
  anew.GetReady();
  anew.RunRegion();
  REQUIRE(anew.directory.temp.Read("lane-000000.0") == Expected(0, 16 * 4096));
}

TEST_CASE("with -+F a lane that writes begins with an empty file, and one that reads has its data") {
  v1::Prepare prepare = PhaseOf("sequential-mix", 1, "/");
  prepare.mutable_operation()->set_mix_by_lane(true);
  prepare.mutable_operation()->set_read_percent(50);
  prepare.mutable_operation()->set_truncate(true);
  const std::string before(20 * 4096, 'o');
  prepare.mutable_lanes(0)->set_mix(v1::LANE_MIX_WRITER);
  LaneUnderTest writer(prepare);
  writer.directory.temp.Write("lane-000000.0", before);
  writer.lane->MakeReady();
  writer.lane->CreateFiles();
  REQUIRE(writer.directory.temp.SizeOf("lane-000000.0") == 0);
  writer.lane->Prefill();
  REQUIRE(writer.lane->preparation().prefilled_bytes == 0);
  writer.lane->LookAtFiles();
  writer.lane->Open();
  writer.RunRegion();
  REQUIRE(writer.directory.temp.SizeOf("lane-000000.0") == 16 * 4096);

  prepare.mutable_lanes(0)->set_mix(v1::LANE_MIX_READER);
  LaneUnderTest reader(prepare);
  reader.directory.temp.Write("lane-000000.0", before);
  reader.GetReady();
  REQUIRE(reader.directory.temp.Read("lane-000000.0") == before);
}

TEST_CASE("a lane ends by itself after the most ops that it may do, and finishes the file that it began") {
  v1::Prepare prepare = PhaseOf("write", 1, "/");
  prepare.mutable_stop()->set_max_ops(5);
  LaneUnderTest test(prepare);
  test.GetReady();
  test.RunRegion();
  REQUIRE(test.lane->ended_by_itself());
  REQUIRE(test.Result().region_ops() == 5);
  test.lane->Settle();
  REQUIRE(test.directory.temp.SizeOf("lane-000000.0") == 16 * 4096);
}

TEST_CASE("a lane that leaves the prefill to another writes nothing before its start") {
  v1::Prepare prepare = PhaseOf("read", 1, "/");
  prepare.mutable_lanes(0)->set_leaves_prefill(true);
  LaneUnderTest test(prepare);
  test.lane->MakeReady();
  test.lane->Prefill();
  REQUIRE_FALSE(test.lane->failed());
  REQUIRE(std::filesystem::is_empty(test.directory.temp.path()));
}

}  // namespace
}  // namespace iobench
