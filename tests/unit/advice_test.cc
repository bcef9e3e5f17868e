#include "coordinator/analysis/marks/advice.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "coordinator/analysis/explain/limit_rules.h"
#include "coordinator/analysis/marks/mark_table.h"

namespace iobench {
namespace {

v1::Phase PhaseWithAll() {
  v1::Phase phase;
  v1::Operation& operation = *phase.add_assignments()->mutable_operation();
  operation.set_direct(true);
  operation.set_sync(true);
  operation.set_rotate_clients(true);
  phase.mutable_region()->set_fsync(true);
  phase.mutable_region()->set_close(true);
  phase.add_before()->mutable_drop_caches()->set_verify(true);
  phase.add_before()->mutable_remount();
  return phase;
}

TEST_CASE("advice names no option that is in use") {
  constexpr char kText[] = "use {-I|--drop-caches as root|files larger than memory}, or another host";
  const auto advice = [&](std::vector<std::string_view> in_use) { return AdviceFor(kText, in_use); };
  CHECK(advice({}) == "use -I, --drop-caches as root or files larger than memory, or another host");
  CHECK(advice({"-I"}) == "use --drop-caches as root or files larger than memory, or another host");
  CHECK(advice({"-I", "--drop-caches"}) == "use files larger than memory, or another host");
  CHECK(AdviceFor("add {-e|-I}", std::vector<std::string_view>{"-e", "-I"}).empty());
  CHECK(AdviceFor("fix the errors", std::vector<std::string_view>{"-I"}) == "fix the errors");
}

TEST_CASE("a phase says which options it has") {
  CHECK(OptionsOfNoUse(v1::Phase()).empty());
  CHECK(OptionsOfNoUse(PhaseWithAll()) == std::vector<std::string_view>{"-I", "-o", "--rotate-clients", "-e", "-c",
                                                                      "--drop-caches", "--cold", "-U"});
}

// The texts that depend on the phase are in the sources; tests/structure/test_advice.py looks at those.
TEST_CASE("no advice of the tables tells a phase to add what it has") {
  const v1::Phase phase = PhaseWithAll();
  const std::vector<std::string_view> in_use = OptionsOfNoUse(phase);
  std::vector<std::string> texts;
  for (const LimitRule& rule : LimitRules()) texts.push_back(AdviceFor(rule.advice, phase));
  for (const MarkRow& row : AllMarks()) texts.push_back(AdviceFor(row.advice, phase));
  for (const std::string& text : texts) {
    for (const char* const before : {"use ", "add ", "or ", ", "}) {
      for (const std::string_view option : in_use) {
        INFO(text);
        CHECK(text.find(before + std::string(option) + " ") == std::string::npos);
        CHECK_FALSE(text.ends_with(before + std::string(option)));
      }
    }
  }
}

TEST_CASE("advice names no option that the engine refuses") {
  for (const auto& [engine, refuses] : {std::pair("posix", false), std::pair("uring", false), std::pair("mpiio", true)}) {
    v1::Phase phase;
    v1::Operation& operation = *phase.add_assignments()->mutable_operation();
    operation.set_name("write");
    operation.set_engine(engine);
    INFO(engine);
    CHECK(AdviceFor("add {-e|-I}", phase) == (refuses ? "add -e" : "add -e or -I"));
  }
}

}  // namespace
}  // namespace iobench
