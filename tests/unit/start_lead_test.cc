#include "coordinator/start_lead.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST_CASE("on a quick network the lead is its minimum") {
  StartLead lead;
  lead.NoteRound(1 * kMs);
  CHECK(lead.Ns(kMs / 10) == 10 * kMs);
}

TEST_CASE("slow round trips and slow rounds to everybody lengthen the lead") {
  StartLead lead;
  lead.NoteRound(30 * kMs);
  CHECK(lead.Ns(5 * kMs) == 80 * kMs);  // 4 * 5 + 2 * 30
}

TEST_CASE("the median of the newest five rounds counts") {
  StartLead lead;
  for (const int64_t round_ms : {100, 8, 7, 200, 9}) lead.NoteRound(round_ms * kMs);
  CHECK(lead.Ns(0) == 18 * kMs);
  lead.NoteRound(6 * kMs);  // the first 100 is forgotten
  CHECK(lead.Ns(0) == 16 * kMs);
}

TEST_CASE("every late start doubles the lead") {
  StartLead lead;
  lead.NoteLate();
  lead.NoteLate();
  CHECK(lead.Ns(0) == 40 * kMs);
}

}  // namespace
}  // namespace iobench
