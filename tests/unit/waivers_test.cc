#include "coordinator/validate/waivers.h"

#include <catch2/catch.hpp>
#include <string>

#include "coordinator/validate/choice.h"
#include "tests/support/temp_dir.h"

namespace iobench {
namespace {

struct WaiverFile {
  TempDir directory;
  std::string path = directory.path() + "/waivers.yaml";

  explicit WaiverFile(const std::string& text) { directory.Write("waivers.yaml", text); }
  std::string Error() const {
    const auto loaded = LoadWaivers(path);
    REQUIRE_FALSE(loaded.ok());
    return std::string(loaded.status().message());
  }
};

TEST_CASE("waivers are names with reasons") {
  const WaiverFile file("# known\nlocks: \"nolock until May (OPS-12)\"\nvisibility: long actimeo\n");
  const auto waivers = LoadWaivers(file.path);
  REQUIRE(waivers.ok());
  CHECK(*waivers == Waivers{{"locks", "nolock until May (OPS-12)"}, {"visibility", "long actimeo"}});
}

TEST_CASE("waivers for nothing are refused, with file and line") {
  CHECK(WaiverFile("mmap: x\nlokcs: y\n")
            .Error()
            .find("waivers.yaml:2:1: there is no check \"lokcs\"; did you mean locks?") != std::string::npos);
  CHECK(WaiverFile("locks:\n").Error().find("say why") != std::string::npos);
  CHECK(WaiverFile("locks: [a]\n").Error().find("say why") != std::string::npos);
  CHECK(WaiverFile("- locks\n").Error().find("waivers are lines such as") != std::string::npos);
  CHECK(LoadWaivers(WaiverFile("# none yet\n").path)->empty());
  CHECK(WaiverFile("{locks").Error().find("not valid YAML") != std::string::npos);
  CHECK(LoadWaivers("/nowhere/waivers").status().message().find("/nowhere/waivers") != std::string::npos);
}

TEST_CASE("a choice of checks") {
  ValidateOptions options;
  options.only = {"locks,races", "mmap"};
  options.skip = {" races "};
  const auto choice = ChoiceFrom(options);
  REQUIRE(choice.ok());
  CHECK(choice->Has("locks"));
  CHECK_FALSE(choice->Has("races"));
  CHECK_FALSE(choice->Has("limits"));
  options.only = {"lock"};
  CHECK(ChoiceFrom(options).status().message().find(
            "--only: there is no check \"lock\"; did you mean locks?") != absl::string_view::npos);
  options.only = {","};
  CHECK(ChoiceFrom(options).status().message().find("--only needs the name of a check") !=
        absl::string_view::npos);
  options.only = {"mmap"};
  options.fault_hook = "true";
  CHECK(ChoiceFrom(options).status().message().find("leave out all checks that use it") !=
        absl::string_view::npos);
  options.fault_hook.clear();
  options.client_hook = "true";
  CHECK(ChoiceFrom(options).status().message().find("leave out the check that uses it: dead-client") !=
        absl::string_view::npos);
  options.client_hook.clear();
  options.lock_free_within_s = 10;
  CHECK(ChoiceFrom(options).status().message().find("add --client-hook CMD") != absl::string_view::npos);
  options.lock_free_within_s = 0;
  options.only = {"races"};
  CHECK(ChoiceFrom(options).status().message().find("leave no check") != absl::string_view::npos);
  const WaiverFile file("mmap: known\n");
  options = {};
  options.skip = {"mmap"};
  options.waive = file.path;
  CHECK(ChoiceFrom(options).status().message().find("mmap is waived, but") != absl::string_view::npos);
  CHECK(ListOfChecks().find(
            "durability      what fsync and close acknowledged survives the fault (needs --fault-hook)") !=
        std::string::npos);
}

}  // namespace
}  // namespace iobench
