#include "coordinator/yaml/read_yaml.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "catch2/catch.hpp"

namespace iobench {
namespace {

absl::Status Read(const std::string& text, bool* is_read = nullptr) {
  return ReadYaml(text, "a.yaml", [is_read](const YAML::Node&) {
    if (is_read != nullptr) *is_read = true;
    return absl::OkStatus();
  });
}

// `levels` lines, each with ten aliases of the one before: 10^levels values.
std::string Bomb(int levels, bool of_maps) {
  std::string text = "l0: &l0 x\n";
  for (int level = 1; level <= levels; ++level) {
    absl::StrAppend(&text, "l", level, ": &l", level, of_maps ? " {" : " [");
    for (int i = 0; i < 10; ++i)
      absl::StrAppend(&text, i == 0 ? "" : ", ", of_maps ? absl::StrCat("k", i, ": ") : "", "*l", level - 1);
    text += of_maps ? "}\n" : "]\n";
  }
  return text;
}

TEST_CASE("the root is handed over, and its status back") {
  bool is_read = false;
  CHECK(Read("a: 1", &is_read).ok());
  CHECK(is_read);
  CHECK(Read("").ok());
  CHECK(ReadYaml("a: [1, 2]", "a.yaml", [](const YAML::Node& root) {
          return absl::AbortedError(absl::StrCat(root["a"].size()));
        }) == absl::AbortedError("2"));
}

TEST_CASE("aliases are counted as what they stand for, and a bomb of them is never built") {
  for (const std::string& bomb : {Bomb(9, false), Bomb(9, true), Bomb(60, false)}) {
    bool is_read = false;
    const absl::Status status = Read(bomb, &is_read);
    CHECK(absl::IsInvalidArgument(status));
    INFO(status.message());
    CHECK(absl::StartsWith(status.message(), "a.yaml:"));
    CHECK(absl::StrContains(status.message(), "more than 1000000 values"));
    CHECK_FALSE(is_read);
  }
  CHECK(Read(Bomb(4, false)).ok());
}

TEST_CASE("a merge of merges is counted too") {
  std::string text = "l0: &l0 {a: 1}\n";
  for (int level = 1; level <= 8; ++level) {
    absl::StrAppend(&text, "l", level, ": &l", level, " {<<: [");
    for (int i = 0; i < 10; ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", "*l", level - 1);
    absl::StrAppend(&text, "]}\n");
  }
  CHECK(absl::StrContains(Read(text).message(), "more than 1000000 values"));
}

TEST_CASE("many plain values are refused before they take memory") {
  std::string text = "a: [";
  for (int i = 0; i <= 1'000'000; ++i) text += "1,";
  CHECK(absl::StrContains(Read(text + "]").message(), "more than 1000000 values"));
}

TEST_CASE("an alias within what it stands for has no end") {
  CHECK(absl::StrContains(Read("a: &x [1, *x]").message(), "a.yaml:1:11: not valid YAML: an alias stands within"));
  CHECK(absl::StrContains(Read("&x {a: {b: *x}}").message(), "an alias stands within"));
}

TEST_CASE("what is no YAML is told with its place") {
  for (const char* text : {"a: [1", "a: b: c", "\t- x", "a: *unknown", "%YAML 9\n---"}) {
    INFO(text);
    const absl::Status status = Read(text);
    CHECK(absl::IsInvalidArgument(status));
    CHECK(absl::StrContains(status.message(), "not valid YAML"));
  }
  CHECK(absl::IsInvalidArgument(Read(std::string(100'000, '['))));
}

TEST_CASE("memory that is not there is one line") {
  CHECK(ReadYaml("a: 1", "a.yaml", [](const YAML::Node&) -> absl::Status { throw std::bad_alloc(); }).message() ==
        "a.yaml: not enough memory to read it");
}

}  // namespace
}  // namespace iobench
