// Finds the largest load at which storage keeps an SLO: a state machine that says what to measure next. Pure.
#ifndef COORDINATOR_ANALYSIS_CAPACITY_SLO_SEARCH_H_
#define COORDINATOR_ANALYSIS_CAPACITY_SLO_SEARCH_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "coordinator/analysis/capacity/slo.h"

namespace iobench {

struct SloSearchSettings {
  Slo slo;
  double lowest_per_s = 0;           // load of the first probe, ops/s
  bool longer_begins_lower = false;  // with longer probes, lowest_per_s would be lower; for the advice
  double closed_loop_max_per_s = 0;  // no more is offered than what a closed loop has reached
  double probe_s = 10;               // length of a probe
  double max_probe_s = 80;           // up to which inconclusive probes are extended
  double tolerance = 0.05;  // the result is at most this much under the smallest load that did not pass
  size_t max_probes = 60;
};

// A load to be offered.
struct SloProbe {
  enum class Purpose {
    kDouble,   // from the lowest load upward
    kBisect,   // between a load that passed and one that did not
    kAgain,    // a load that did not pass once more: a single stall must not decide
    kRetest,   // an end of the bracket again, which also detects storage that has slowed down meanwhile
    kConfirm,  // its lower end, kConfirmFactor times as long
  };
  double offered_per_s = 0;
  double seconds = 0;
  Purpose purpose = Purpose::kDouble;
};

const char* NameOf(SloProbe::Purpose purpose);  // "double" …

struct JudgedProbe {
  SloProbe probe;
  SloResult result;
  SloJudgement judgement;
  bool counts_as_pass = false;  // an inconclusive probe that cannot be extended counts by its figure
};

struct SloOutcome {
  enum class Kind {
    kRunning,
    kFound,           // max_per_s is confirmed, and a load slightly higher failed
    kMetUpToMax,      // max_per_s is the closed-loop maximum: the SLO does not limit this storage
    kGeneratorBound,  // max_per_s is confirmed; a higher load was not offered, or had undone or failed ops
    kCannotBeMet,     // not even at the lowest load
    kInvalid,         // a worker was lost, or the lowest load was not measured validly
    kInconclusive,    // max_probes is used up, or the lowest load is too close to the limit or later failed
  };
  Kind kind = Kind::kRunning;
  double max_per_s = 0;  // 0: none
  double fails_at_per_s = 0;  // the upper end of the bracket: the smallest load that failed its tests; 0: none
  double figure_us = 0;       // of the confirming probe
  double confidence = 0;      // that the load which passes as often as it fails is between both ends
  std::string tests;          // what the confidence comes from: "passed 5 of 5 tests at …"
  bool sure = false;     // the confirming probe's whole interval met the SLO
  // For the user: what was found; if no load passed, what was tried, which limit was missed and what to do.
  std::string text;
};

// Doubles the load until it does not pass, and bisects to the tolerance. A load that does not pass is offered again, and
// two of three probes decide. Then both ends of the bracket are tested kBracketTests times: the lower one must pass all
// but one (the last test is longer, and decides if it fails twice), the upper one must fail all but one. An end that does
// neither is moved outward by the tolerance. A probe with failed ops or an unmeasured load is repeated once; after that,
// it bounds the search from above like a failed one. Not thread-safe.
class SloSearch {
 public:
  static constexpr double kConfirmFactor = 3;
  static constexpr int kBracketTests = 5;

  // InvalidArgument: loads, times or the tolerance are not positive and finite, the lowest load is over the maximum,
  // probe_s is over max_probe_s, or max_probes is 0.
  static absl::StatusOr<SloSearch> Create(const SloSearchSettings& settings);

  // What to measure now; the same until Note() is called. nullopt: the search has ended.
  std::optional<SloProbe> Next() const;

  // Takes the result of Next(). REQUIRES: Next() has a value.
  void Note(const SloResult& result);

  const SloOutcome& outcome() const { return outcome_; }

  // All probes so far, in order; they also form a load curve.
  std::span<const JudgedProbe> probes() const { return probes_; }

 private:
  explicit SloSearch(const SloSearchSettings& settings);

  // Probes of one load.
  struct Tally {
    int passes = 0, misses = 0;
    int count() const { return passes + misses; }
  };

  void Probe(double offered_per_s, SloProbe::Purpose purpose);
  bool Repeats(const JudgedProbe& judged);
  void WhileSearching(const JudgedProbe& judged);
  void AfterPass();
  void AfterFailure(const JudgedProbe& judged);
  void Climb();
  void Bisect();
  void TestLower(const JudgedProbe& judged);
  void TestUpper(const JudgedProbe& judged);
  void ProbeUpper();
  void ForgetTests();
  void StepDown(const JudgedProbe& judged);
  void StepUp();
  void EndAtLowest(const JudgedProbe& judged);
  void EndOutOfProbes();
  void EndBracketed();
  void End(SloOutcome::Kind kind, std::string text);

  SloSearchSettings settings_;
  SloProbe next_;
  double lower_per_s_ = 0;            // passed_per_s_, or the lower load that takes its place; 0: none
  double passed_per_s_ = 0;           // largest load that passed and was not given up; 0: none
  double upper_per_s_ = 0;            // smallest load that did not pass; 0: none
  std::string why_upper_is_invalid_;  // empty: it was measured
  bool repeated_ = false;             // next_ has been invalid once
  Tally here_;                        // of the load that is searched
  bool climbing_ = true;              // no load has failed
  bool testing_lower_ = false, testing_upper_ = false;
  Tally lower_tests_, upper_tests_;
  int confirm_misses_ = 0;
  bool upper_failed_long_ = false;  // in a confirming probe
  std::optional<JudgedProbe> confirmed_;  // the confirming probe of the lower end
  std::vector<JudgedProbe> probes_;
  SloOutcome outcome_;
};

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_CAPACITY_SLO_SEARCH_H_
