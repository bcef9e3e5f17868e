// What only engine mpiio does: views, hints, and failures that MPI reports as success. The MPI is tests/support's, of one rank.
#include <cstring>
#include <memory>

#include "tests/unit/engine_suite.h"

namespace iobench {
namespace {

EngineOptions WithView() {
  EngineOptions options;
  options.mpi_io.set_view(true);
  return options;
}

// Lane 1 of 3 whose blocks of two records alternate.
LaneFile Interleaved1Of3() {
  constexpr uint64_t kBlock = 2 * EngineLane::kRecordBytes;
  return {.name = "a", .extent_offset_bytes = kBlock, .bytes = 4 * kBlock, .interleave = {.count = 3, .block_bytes = kBlock}, .record_bytes = EngineLane::kRecordBytes};
}

std::string WrittenBy(EngineOptions options, LoopEnd::Reason* reason) {
  UsePosixMpiFiles();
  TempDirectory directory;
  directory.Put("a", "");
  EngineLane lane("mpiio", Call::kPositional, std::move(options));
  lane.InterleavesBy(Interleaved1Of3().interleave);
  lane.Opens(directory, {Interleaved1Of3()}, {.read = true, .write = true}, /*shared=*/true);
  *reason = lane.Runs("random-write", EngineLane::kRecordBytes).reason;
  REQUIRE(lane.engine().Close().ok());
  return directory.ContentOf("a");
}

TEST_CASE("through a view, a lane writes the same bytes to the same places") {
  LoopEnd::Reason plain{}, viewed{};
  const std::string with_offsets = WrittenBy({}, &plain);
  const std::string through_view = WrittenBy(WithView(), &viewed);
  CHECK((plain == LoopEnd::Reason::kDone && viewed == LoopEnd::Reason::kDone));
  CHECK(with_offsets.size() == Interleaved1Of3().end());
  CHECK(with_offsets == through_view);
}

TEST_CASE("hints reach MPI, and the facts have what it says of them") {
  UsePosixMpiFiles();
  TempDirectory directory;
  EngineOptions options;
  options.mpi_io.add_hints("cb_nodes=4");
  options.mpi_io.add_hints("striping_unit=65536");
  EngineLane lane("mpiio", Call::kStream, options);
  lane.Opens(directory, {{.name = "a", .bytes = 8192}}, kCreate);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  const v1::MpiIoFacts facts = *lane.engine().mpi_io_facts();
  CHECK(facts.library().starts_with("Test MPI 1.0"));
  REQUIRE(facts.hints_size() == 2);
  CHECK((facts.hints(0) == "cb_nodes=4" && facts.hints(1) == "striping_unit=65536"));
  CHECK_FALSE(facts.collective());
}

TEST_CASE("the calls of the lane's own thread are counted") {
  UsePosixMpiFiles();
  TempDirectory directory;
  EngineLane lane("mpiio", Call::kStream);
  lane.Opens(directory, {{.name = "a", .bytes = 1 << 20}}, kCreate);
  REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
  const v1::MpiIoFacts facts = *lane.engine().mpi_io_facts();
  if (facts.has_called_bytes()) CHECK(facts.called_bytes() == 1 << 20);  // else the kernel does not say
}

// As OMPIO 4.1 on a full file system: nothing is written, and all is well.
TEST_CASE("a write that MPI reports as done, and that did not reach the file, fails the lane") {
  static MpiFiles lies = PosixMpiFiles();
  lies.write_at = [](void*, int, uint64_t, const void*, size_t bytes, size_t* moved) {
    *moved = bytes;
    return 0;
  };
  UseMpiFiles(lies);
  TempDirectory directory;
  EngineLane lane("mpiio", Call::kStream);
  lane.Opens(directory, {{.name = "a", .bytes = 8192}}, kCreate);
  const LoopEnd end = lane.Runs("write", 4096);
  REQUIRE(end.reason == LoopEnd::Reason::kFailed);
  const std::optional<FailedOp> failed = lane.engine().Explain(end);
  REQUIRE(failed.has_value());
  CHECK(failed->file == directory.PathOf("a"));
  CHECK(std::string(failed->status.message()).find("ends at 0, although MPI has reported all calls up to 8192 as done") !=
        std::string::npos);
  UsePosixMpiFiles();
}

// As ROMIO at the end of a file.
TEST_CASE("a read beyond the end that MPI reports as whole fails the lane") {
  static MpiFiles lies = PosixMpiFiles();
  lies.read_at = [](void*, int, uint64_t, void*, size_t bytes, size_t* moved) {
    *moved = bytes;
    return 0;
  };
  UseMpiFiles(lies);
  TempDirectory directory;
  directory.Put("a", std::string(5000, 'x'));
  EngineLane lane("mpiio", Call::kStream);
  lane.Opens(directory, {{.name = "a", .bytes = 8192}}, {.read = true});
  CHECK(lane.Runs("read", 4096).reason == LoopEnd::Reason::kFailed);
  UsePosixMpiFiles();
}

TEST_CASE("an op that fails is explained with MPI's words") {
  static MpiFiles fails = PosixMpiFiles();
  fails.write_at = [](void*, int, uint64_t, const void*, size_t, size_t*) { return EDQUOT; };
  UseMpiFiles(fails);
  TempDirectory directory;
  EngineLane lane("mpiio", Call::kStream);
  lane.Opens(directory, {{.name = "a", .extent_offset_bytes = 4096, .bytes = 8192}}, kCreate);
  const LoopEnd end = lane.Runs("write", 4096);
  REQUIRE((end.reason == LoopEnd::Reason::kFailed && end.errno_value == EDQUOT));
  const std::string text(lane.engine().Explain(end)->status.message());
  CHECK(text.find("at offset 4096: MPI says \"Disk quota exceeded\"") != std::string::npos);
  UsePosixMpiFiles();
}

TEST_CASE("a directory that took the place of the run's, or a link in it, is not opened") {
  UsePosixMpiFiles();
  TempDirectory directory, other;
  directory.Put("a", "ours");
  other.Put("a", "theirs");
  REQUIRE(symlink(other.PathOf("a").c_str(), directory.PathOf("link").c_str()) == 0);
  EngineLane lane("mpiio", Call::kStream);
  const auto opens = [&](const std::string& path, const char* name) {
    return lane.TriesToOpen(directory.fd(), path, {{.name = name, .bytes = 4}}, {.read = true});
  };
  CHECK(opens(directory.path(), "a").ok());
  CHECK(absl::IsFailedPrecondition(opens(other.path(), "a")));
  CHECK(absl::IsFailedPrecondition(opens(directory.path(), "link")));
}

TEST_CASE("together, the first open is of all ranks, and what follows a close is the lane's own") {
  static int together_opens = 0, alone_opens = 0;
  static MpiFiles counts = PosixMpiFiles();
  static const auto open = counts.open;
  counts.open = [](const char* path, int flags, int together, const char* const* hints, void** file) {
    ++(together ? together_opens : alone_opens);
    return open(path, flags, together, hints, file);
  };
  UseMpiFiles(counts);
  TempDirectory directory;
  EngineOptions options;
  options.together = std::make_shared<RanksTogether>(counts, OpKind::kWrite, RanksTogether::kMaxRound);
  EngineLane lane("mpiio", Call::kStream, options);
  directory.Put("a", "");
  const FileSet files{.directory_fd = directory.fd(), .directory = directory.path(), .files = {{.name = "a", .bytes = 8192}}};
  REQUIRE(lane.engine().MeetOthers(files).ok());
  for (int i = 0; i < 2; ++i) {
    lane.Opens(directory, {{.name = "a", .bytes = 8192}}, kCreate);
    REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.engine().Flush().ok());
    REQUIRE(lane.engine().Close().ok());
  }
  CHECK((together_opens == 1 && alone_opens == 1));
  CHECK(lane.engine().mpi_io_facts()->ranks() == 1);
  UsePosixMpiFiles();
}

}  // namespace
}  // namespace iobench
