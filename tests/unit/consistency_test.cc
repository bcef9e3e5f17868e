// Random scripts, the model, and the shortest script that fails: with file systems that have one fault each.
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/digest/xxh3.h"
#include "coordinator/validate/consistency/file_model.h"
#include "coordinator/validate/consistency/mismatch.h"
#include "coordinator/validate/consistency/random_script.h"
#include "coordinator/validate/consistency/shrink.h"

namespace iobench {
namespace {

using Kind = Step::Kind;

// Files with two clients. A fault makes a client see what it should not.
struct FakeFiles {
  enum class Fault { kNone, kIgnoresTruncate, kStaleReads, kLosesRename };
  Fault fault = Fault::kNone;
  FileModel truth;
  std::map<std::pair<uint32_t, uint32_t>, std::string> first_seen = {};  // by file, offset: client 1's cache

  Answer Do(const Step& step) {
    if (fault == Fault::kIgnoresTruncate && step.client == 1 && step.kind == Kind::kTruncate) {
      return {.error = truth.ContentsOfFile(step.file) == nullptr ? ENOENT : 0};
    }
    if (fault == Fault::kLosesRename && step.client == 0 && step.kind == Kind::kRename) {
      return {.error = truth.ContentsOfFile(step.file) == nullptr ? ENOENT : 0};
    }
    const Expected expected = truth.Apply(step);
    std::string read = expected.read;
    if (fault == Fault::kStaleReads && step.client == 1 && step.kind == Kind::kRead && expected.error == 0) {
      read = first_seen.emplace(std::pair(step.file, step.offset), read).first->second;
    }
    return {
        .error = expected.error, .bytes = read.size(), .contents_xxh3 = Xxh3Of(read), .size = expected.size};
  }
};

absl::StatusOr<std::optional<Mismatch>> RunOn(FakeFiles::Fault fault, const Script& script) {
  FakeFiles files{.fault = fault, .truth = {}};
  return FindMismatch(script, [&files](std::span<const Step> turn) -> absl::StatusOr<std::vector<Answer>> {
    std::vector<Answer> answers;
    for (const Step& step : turn) answers.push_back(files.Do(step));
    return answers;
  });
}

Script Scripted(uint64_t seed) {
  return RandomScript(seed, 2, 150, {});
}

TEST_CASE("a seed gives one script, which stays within its files") {
  CHECK(Scripted(7) == Scripted(7));
  CHECK_FALSE(Scripted(7) == Scripted(8));
  CHECK(Scripted(7).size() == 150 + 2 * kScriptFiles * kScriptFilePages);
  std::set<Kind> kinds;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    FileModel model;
    for (const Step& step : RandomScript(seed, 3, 300, {Kind::kPunch})) {
      kinds.insert(step.kind);
      CHECK(step.file >= 1);
      CHECK(step.file <= kScriptFiles);
      CHECK((step.kind != Kind::kRename && step.kind != Kind::kLink) == (step.to_file == 0));
      CHECK(step.to_file != step.file);
      if (IsLocked(step.file)) CHECK(SuitsLockedFiles(step.kind));
      model.Apply(step);
      for (uint32_t file = 1; file <= kScriptFiles; ++file) {
        const std::string* const contents = model.ContentsOfFile(file);
        CHECK((contents == nullptr || contents->size() <= kScriptFileBytes));
      }
    }
  }
  CHECK(kinds.size() == 13);  // all but holes
}

TEST_CASE("the model knows what becomes of files") {
  FileModel model;
  const auto apply = [&model](Step step) {
    step.number = 7;
    return model.Apply(step);
  };
  CHECK(apply({.kind = Kind::kRead, .file = 3}).error == ENOENT);
  apply({.kind = Kind::kCreate, .file = 3, .bytes = 4});
  CHECK(*model.ContentsOfFile(3) == "7.7.");
  CHECK(apply({.kind = Kind::kLink, .file = 3, .to_file = 4}).error == 0);
  CHECK(apply({.kind = Kind::kLink, .file = 3, .to_file = 4}).error == EEXIST);
  apply({.kind = Kind::kRename, .file = 3, .to_file = 4});  // two names of one file
  CHECK(model.ContentsOfFile(3) != nullptr);
  apply({.kind = Kind::kAppend, .file = 4, .bytes = 2});
  apply({.kind = Kind::kPunch, .file = 3, .offset = 1, .bytes = 2});
  CHECK(*model.ContentsOfFile(3) == std::string("7\0\0.7.", 6));
  apply({.kind = Kind::kTruncate, .file = 3, .offset = 1});
  apply({.kind = Kind::kAllocate, .file = 3, .offset = 2, .bytes = 1});
  apply({.kind = Kind::kWrite, .file = 3, .offset = 4, .bytes = 1});
  CHECK(*model.ContentsOfFile(4) == std::string("7\0\0\0"
                                                "7",
                                                5));
  CHECK(apply({.kind = Kind::kRead, .file = 4, .offset = 4096}).read.empty());
  apply({.kind = Kind::kUnlink, .file = 4});
  CHECK(model.ContentsOfFile(3)->size() == 5);
  CHECK(apply({.kind = Kind::kUnlink, .file = 4}).error == ENOENT);
}

TEST_CASE("a right file system never differs from the model") {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const auto found = RunOn(FakeFiles::Fault::kNone, Scripted(seed));
    REQUIRE(found.ok());
    CHECK_FALSE(found->has_value());
  }
}

TEST_CASE("each fault is found, and shrinks to a script of a few lines") {
  struct Row {
    FakeFiles::Fault fault;
    size_t lines;  // of the shortest script: make it, cause the fault, see it
    const char* found;
  };
  for (const Row& row : {Row{FakeFiles::Fault::kIgnoresTruncate, 3, "instead of"},
                         Row{FakeFiles::Fault::kStaleReads, 3, ": what was there "},
                         Row{FakeFiles::Fault::kLosesRename, 3, "instead of"}}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      Script script = Scripted(seed);
      // The check, too, goes on with the next seed.
      for (uint64_t next = 1; next <= 3 && !RunOn(row.fault, script)->has_value(); ++next)
        script = Scripted(seed + next);
      REQUIRE(RunOn(row.fault, script)->has_value());
      const auto fails = [&row](const Script& part) -> absl::StatusOr<bool> {
        return RunOn(row.fault, part)->has_value();
      };
      const auto shrunk = Shrink(script, fails, [] { return true; });
      REQUIRE(shrunk.ok());
      CHECK(shrunk->complete);
      CHECK(shrunk->script.size() <= row.lines + 2);
      const Mismatch last = **RunOn(row.fault, shrunk->script);
      CHECK(last.index + 1 == shrunk->script.size());
      INFO(last.found);
      CHECK((row.fault != FakeFiles::Fault::kStaleReads || last.found.find(row.found) != std::string::npos));
    }
  }
}

TEST_CASE("without time, the whole script is what is left") {
  int left = 3;
  const auto shrunk = Shrink(
      Scripted(1), [](const Script&) -> absl::StatusOr<bool> { return false; },
      [&left] { return left-- > 0; });
  REQUIRE(shrunk.ok());
  CHECK_FALSE(shrunk->complete);
  CHECK(shrunk->script == Scripted(1));
  CHECK(shrunk->tries == 3);
}

TEST_CASE("a step reads as a sentence") {
  CHECK(TextOf({.kind = Kind::kPunch, .file = 1, .offset = 10, .bytes = 5}, "c01") ==
        "c01: makes a hole of 5 bytes at 10 of f1, under a lock");
  CHECK(TextOf({.kind = Kind::kRename, .file = 3, .to_file = 4}, "c02") == "c02: renames f3 to f4");
}

}  // namespace
}  // namespace iobench
