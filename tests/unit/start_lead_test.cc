#include "coordinator/cluster/start_lead.h"

#include <catch2/catch.hpp>

namespace iobench {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST_CASE("on a quick network the lead is its minimum") {
  StartLead lead(StartLead::Way::kNetwork, 1);
  lead.AddRound(1 * kMs);
  CHECK(lead.Ns(kMs / 10) == 10 * kMs);
}

TEST_CASE("slow round trips and slow rounds to everybody lengthen the lead") {
  StartLead lead(StartLead::Way::kNetwork, 1);
  lead.AddRound(30 * kMs);
  CHECK(lead.Ns(5 * kMs) == 80 * kMs);  // 4 * 5 + 2 * 30
}

TEST_CASE("the median of the newest five rounds counts") {
  StartLead lead(StartLead::Way::kNetwork, 1);
  for (const int64_t round_ms : {100, 8, 7, 200, 9}) lead.AddRound(round_ms * kMs);
  CHECK(lead.Ns(0) == 18 * kMs);
  lead.AddRound(6 * kMs);  // the first 100 is forgotten
  CHECK(lead.Ns(0) == 16 * kMs);
}

TEST_CASE("every late start doubles the lead") {
  StartLead lead(StartLead::Way::kNetwork, 1);
  lead.RecordLate();
  lead.RecordLate();
  CHECK(lead.Ns(0) == 40 * kMs);
}

TEST_CASE("to workers in this process the lead is what waking their lanes takes") {
  StartLead one(StartLead::Way::kNone, 1);
  one.AddRound(20'000);
  CHECK(one.Ns(10'000) == 380'000);  // 250 + 30 us, and 100 us
  StartLead four(StartLead::Way::kNone, 4);
  four.AddRound(200'000);
  CHECK(four.Ns(10'000) == 770'000);  // 250 + 4 * 30 us, and 2 rounds
  StartLead thousand(StartLead::Way::kNone, 1000);
  CHECK(thousand.Ns(0) == 10'100'000);  // never more than the network's 10 ms for waking
}

TEST_CASE("no number of late answers delays the start by more than ten seconds") {
  StartLead lead(StartLead::Way::kNetwork, 1);
  for (int i = 0; i < 200; ++i) lead.RecordLate();
  CHECK(lead.Ns(1'000'000'000) == StartLead::kLongestNs);
}

TEST_CASE("in this process a late start doubles the lead up to 10 ms, and punctual ones take that back") {
  StartLead lead(StartLead::Way::kNone, 1);
  lead.RecordLate();
  CHECK(lead.Ns(0) == 760'000);
  for (int i = 0; i < 34; ++i) lead.RecordPunctual();  // 0.98^34 > 1/2
  CHECK(lead.Ns(0) > 380'000);
  lead.RecordPunctual();
  CHECK(lead.Ns(0) == 380'000);
  for (int i = 0; i < 10; ++i) lead.RecordLate();
  CHECK(lead.Ns(0) == 10'000'000);
  CHECK(lead.MarginNeededNs() == 280'000);  // late is late, however long the lead
}

TEST_CASE("over a network punctual starts do not shorten the lead") {
  StartLead lead(StartLead::Way::kNetwork, 1);
  lead.RecordLate();
  for (int i = 0; i < 100; ++i) lead.RecordPunctual();
  CHECK(lead.Ns(0) == 20'000'000);
}

}  // namespace
}  // namespace iobench
