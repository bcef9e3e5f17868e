// The stdio engine: its own buffers, and errors that show only when they are flushed.
#include "worker/engine/stdio_engine.h"

#include "tests/unit/engine_suite.h"

namespace iobench {
namespace {

TEST_CASE("what putc has buffered is on the file system after Flush, and after Close") {
  for (const bool flushes : {true, false}) {
    TempDirectory directory;
    EngineLane lane("stdio", Call::kCharacter);
    lane.Opens(directory, {{.name = "a", .bytes = 6000}}, kCreate);
    REQUIRE(lane.Runs("write", 4096).reason == LoopEnd::Reason::kDone);
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 4096));  // the buffer is of one record
    REQUIRE((flushes ? lane.engine().Flush() : lane.engine().Close()).ok());
    REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 6000));
  }
}

// Both ops fit in the buffer and succeed; the device's refusal can only show later, and must.
TEST_CASE("an error that shows only in fflush or fclose is reported there") {
  const int dev_fd = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const bool flushes : {true, false}) {
    EngineLane lane("stdio", Call::kCharacter);
    REQUIRE(lane.TriesToOpen(dev_fd, "/dev", {{.name = "full", .bytes = 2000}}, {.write = true}).ok());
    REQUIRE(lane.Runs("write", 1000).reason == LoopEnd::Reason::kDone);
    REQUIRE(lane.recorder().bytes() == 2000);
    const absl::Status status = flushes ? lane.engine().Flush() : lane.engine().Close();
    REQUIRE(ErrnoOf(status) == ENOSPC);
    REQUIRE(std::string(status.message()).starts_with(flushes ? "fflush /dev/full" : "fclose /dev/full"));
    REQUIRE(absl::IsResourceExhausted(status));
  }
  close(dev_fd);
}

TEST_CASE("every file has a buffer of its own") {
  TempDirectory directory;
  EngineLane lane("stdio", Call::kCharacter);
  lane.Opens(directory, {{.name = "a", .bytes = 3000}, {.name = "b", .bytes = 3000}}, kCreate);
  REQUIRE(lane.Runs("random-write", 1000).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.engine().Close().ok());
  REQUIRE(directory.ContentOf("a") == ExpectedFile(0, 3000));
  REQUIRE(directory.ContentOf("b") == ExpectedFile(1, 3000));
}

TEST_CASE("every byte value survives putc and getc") {
  TempDirectory directory;
  std::string all;
  for (int i = 0; i < 4096; ++i) all += static_cast<char>(i);
  directory.Put("a", all);  // 0xff, which a careless loop takes for the end, is among them
  EngineLane lane("stdio", Call::kCharacter);
  lane.Opens(directory, {{.name = "a", .bytes = 4096}}, {.read = true});
  REQUIRE(lane.Runs("read", 4096).reason == LoopEnd::Reason::kDone);
  REQUIRE(lane.last_read == all);
}

}  // namespace
}  // namespace iobench
