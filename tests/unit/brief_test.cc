#include "coordinator/analysis/brief.h"

#include <catch2/catch.hpp>

#include "coordinator/analysis/across/repeat.h"
#include "coordinator/analysis/summarize.h"

namespace iobench {
namespace {

void AddMark(const std::string& code, const std::string& subject, const std::string& text,
             google::protobuf::RepeatedPtrField<v1::Mark>& marks) {
  v1::Mark& mark = *marks.Add();
  mark.set_code(code);
  mark.set_subject(subject);
  mark.set_text(text);
}

TEST_CASE("a brief has the phase's figures, one mark of each code, and no clients") {
  v1::PhaseReport phase;
  phase.set_name("write");
  phase.mutable_headline()->set_bytes_per_s(5);
  phase.set_found_items(0);
  phase.set_measured_bytes(7);
  phase.set_measured_ops(3);
  AddMark("too_short", "phase", "0.1 s", *phase.mutable_marks());
  for (const char* host : {"n1", "n2"}) {
    v1::ClientPhaseReport& client = *phase.add_clients();
    client.set_host(host);
    client.add_workers()->add_lanes();
    AddMark("cached", "", "read from memory", *client.mutable_marks());
    AddMark("too_short", "n1 worker 0 lane 0", "few ops", *client.mutable_marks());
  }
  phase.add_errors();
  (*phase.mutable_by_kind())["write"].set_ops(3);
  (*phase.mutable_by_kind())["fsync"].set_ops(2);
  const v1::PhaseReport brief = BriefOf(phase);
  CHECK(brief.name() == "write");
  CHECK(brief.headline().bytes_per_s() == 5);
  CHECK(brief.has_found_items());
  CHECK(brief.measured_bytes() == 7);
  CHECK(brief.measured_ops() == 3);
  CHECK(brief.clients().empty());
  REQUIRE(brief.by_kind().size() == 1);
  CHECK(brief.by_kind().at("fsync").ops() == 2);
  CHECK(brief.errors().empty());
  REQUIRE(brief.marks_size() == 2);
  CHECK(brief.marks(0).text() == "0.1 s");
  CHECK(brief.marks(1).code() == "cached");
  CHECK(brief.marks(1).subject() == "n1");
}

TEST_CASE("repetitions of briefs are those of the phases") {
  std::vector<v1::PhaseReport> phases(3), briefs;
  for (int i = 0; i < 3; ++i) {
    phases[i].set_name("read");
    phases[i].set_repetition(static_cast<uint32_t>(i));
    phases[i].mutable_headline()->set_bytes_per_s(10 * (i + 1));
    if (i == 2) phases[i].set_not_whole("interrupted");
    briefs.push_back(BriefOf(phases[i]));
  }
  const auto whole = SummarizeRepetitions(phases), brief = SummarizeRepetitions(briefs);
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].median() == 15);
  REQUIRE(brief.size() == 1);
  CHECK(brief[0].SerializeAsString() == whole[0].SerializeAsString());
}

}  // namespace
}  // namespace iobench
