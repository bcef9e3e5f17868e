// What the file system does not have is a fact, and no failure of a check.
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "coordinator/validate/checks/fact_rules.h"
#include "tests/unit/validated.h"
#include "worker/check/trial/trial.h"

namespace iobench {
namespace {

// Makes workers give this answer to a trial.
struct Answer {
  std::string trial, answer;
  uint64_t number = 0;
  int only_worker = -1;  // -1: all
  int error = 0;
};

Tamper Answering(std::vector<Answer> answers) {
  return [answers](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    if (action.what() != v1::FileAction::TRY) return Together(id, action, result);
    for (v1::TrialResult& trial : *result.mutable_trials()) {
      for (const Answer& given : answers) {
        if (given.trial != trial.name() ||
            (given.only_worker >= 0 && given.only_worker != static_cast<int>(id)))
          continue;
        trial.set_answer(given.answer);
        trial.set_number(given.number);
        if (given.error != 0) *trial.mutable_problem() = ToProblem(ErrnoStatus(trial.name(), given.error));
      }
    }
  };
}

std::vector<v1::ValidateFact> FactsNamed(const Validated& run, const std::string& name) {
  std::vector<v1::ValidateFact> facts;
  for (const v1::ValidateFact& fact : run.report.facts()) {
    if (fact.name() == name) facts.push_back(fact);
  }
  return facts;
}

TEST_CASE("every fact has a trial, and every trial is a fact") {
  std::set<std::string> facts, trials;
  for (const FactRule& rule : FactRules()) facts.insert(rule.name);
  for (const std::span<const Trial> table : {FeatureTrials(), NameTrials(), SizeTrials()}) {
    for (const Trial& trial : table) trials.insert(trial.name);
  }
  CHECK(facts == trials);
  CHECK(facts.size() == FactRules().size());
}

TEST_CASE("docs/validate.md lists the facts in their order") {
  std::ifstream file(IOBENCH_SOURCE_DIR "/docs/validate.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  size_t at = all.find("## Facts of the file system");
  REQUIRE(at != std::string::npos);
  const size_t end = all.find("\n## ", at);
  for (const FactRule& rule : FactRules()) {
    INFO(rule.name);
    at = all.find(std::string("\n| `") + rule.name + "` | ", at);
    REQUIRE(at < end);
  }
}

TEST_CASE("features: what is missing passes, and is listed with who decides it and what programs must know") {
  Validated run;
  run.workers.tamper =
      Answering({{"link", "no"}, {"xattr", "no"}, {"case", "same"}, {"largest_file", "claimed", 4294967295}});
  run.targets[0].mutable_targets(0)->set_mount_options("rw,vers=3");
  run.targets[1].mutable_targets(0)->set_mount_options("rw,vers=3");
  run.targets[2].mutable_targets(0)->set_mount_options("rw,vers=3");
  run.Run("features");
  CHECK(run.Verdict("features") == "pass");
  Says(run.Text("features"), "not as on a local Linux file system: case, ");
  Says(run.Text("features"), "link");
  const std::vector<v1::ValidateFact> links = FactsNamed(run, "link"), attributes = FactsNamed(run, "xattr");
  REQUIRE(links.size() == 1);
  CHECK(links[0].answer() == "no");
  CHECK(links[0].decided_by() == "file system");
  CHECK_FALSE(links[0].advice().empty());
  CHECK(links[0].clients().empty());
  REQUIRE(attributes.size() == 1);
  CHECK(attributes[0].decided_by() == "protocol");  // NFSv3 has none
  CHECK(Says(FactsNamed(run, "largest_file")[0].answer(), "4 GiB (4294967295 bytes)"));
}

TEST_CASE("features: what NFSv4.2 has, but is missing, is not the protocol's") {
  Validated run;  // mounted with 4.2
  run.workers.tamper = Answering({{"xattr", "no"}, {"tmpfile", "no"}, {"birth_time", "no"}});
  run.Run("features");
  CHECK(FactsNamed(run, "xattr")[0].decided_by() == "file system");
  CHECK(FactsNamed(run, "tmpfile")[0].decided_by() == "protocol");
  CHECK(FactsNamed(run, "birth_time")[0].decided_by() == "client");
}

TEST_CASE("features: clients that differ are a warning, and each fact names them") {
  Validated run;
  run.workers.tamper = Answering({{"xattr", "yes"}, {"xattr", "no", 0, 1}});
  run.Run("features");
  CHECK(run.Verdict("features") == "warn");
  Says(run.Text("features"), "clients differ in xattr; ");
  const std::vector<v1::ValidateFact> facts = FactsNamed(run, "xattr");
  REQUIRE(facts.size() == 2);
  CHECK(facts[0].clients_size() == 2);
  REQUIRE(facts[1].clients_size() == 1);
  CHECK(facts[1].clients(0) == "c1");
  CHECK(facts[1].answer() == "no");
}

TEST_CASE("features: an error that says nothing about the file system is a warning, and no fact") {
  Validated run;
  run.workers.tamper = Answering({{"link", "", 0, -1, EIO}});
  run.Run("features");
  CHECK(run.Verdict("features") == "warn");
  Says(run.Text("features"), "3 answers are errors");
  Says(run.Text("features"), "c1: link: ");
  CHECK(FactsNamed(run, "link").empty());
}

TEST_CASE("races: without hard links there are no contests of link") {
  Validated run;
  run.workers.tamper = Answering({{"link", "no"}});
  run.Run("races");
  CHECK(run.Verdict("races") == "pass");
  Says(run.Text("races"), "160 contests of 3");  // 40 each of the other four
  Says(run.Text("races"), "no hard links here");
}

TEST_CASE(
    "limits: a smaller largest file and ASCII names are facts, and nothing is written far out without holes") {
  Validated run;
  bool wrote_far = false;
  const Tamper answers =
      Answering({{"largest_file", "claimed", INT64_MAX}, {"sparse", "no"}, {"unicode_forms", "refused"}});
  run.workers.tamper = [&](WorkerId id, const v1::FileAction& action, v1::FileActionResult& result) {
    wrote_far |= action.what() == v1::FileAction::WRITE && action.offset() > 0;
    if (action.style() == v1::FileAction::UTF8)
      *result.mutable_problem() = ToProblem(ErrnoStatus("open", EILSEQ));
    answers(id, action, result);
  };
  run.Run("limits");
  CHECK(run.Verdict("limits") == "pass");
  CHECK_FALSE(wrote_far);
  Says(run.Text("limits"), "only ASCII names");
}

TEST_CASE(
    "listings: a file system that counts positions in directories is named as the cause, and only then") {
  for (const auto& [counted, quiet] :
       {std::pair(true, false), std::pair(false, false), std::pair(true, true)}) {
    Validated run;
    const Tamper answers = Answering({{"directory_positions", counted ? "counted" : "stable"}});
    int lists = 0;  // the first three are quiet
    run.workers.tamper = [&, from = quiet ? 1 : 4](WorkerId id, const v1::FileAction& action,
                                                   v1::FileActionResult& result) {
      if (action.what() == v1::FileAction::LIST && ++lists >= from) result.mutable_names()->set_doubled(2);
      answers(id, action, result);
    };
    run.Run("listings");
    CHECK(run.Verdict("listings") == "fail");
    const bool named = counted && !quiet;
    CHECK((run.Text("listings").find("tmpfs") != std::string::npos) == named);
    CHECK((run.Text("listings").find("update server and clients") != std::string::npos) != named);
  }
}

}  // namespace
}  // namespace iobench
