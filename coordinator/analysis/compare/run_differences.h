// How the plans, clients and programs of several runs differ. Pure.
#ifndef COORDINATOR_ANALYSIS_COMPARE_RUN_DIFFERENCES_H_
#define COORDINATOR_ANALYSIS_COMPARE_RUN_DIFFERENCES_H_

#include <span>
#include <string>
#include <vector>

#include "iobench/v1/compare.pb.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// The facts that distinguish runs, as text: names of fields and their values, in display order.
struct RunFacts {
  struct Fact {
    std::string of;  // "plan" | "clients" | "program"
    std::string field;
    std::string value;  // of mount options and hosts: one per line
  };
  std::vector<Fact> facts;
};

RunFacts FactsOf(const v1::RunReport& report);

struct RunDifferences {
  // Whether all runs measured the same thing: their plans differ at most in seed, paths, notes, criteria, the number of
  // repetitions, and whether data are kept.
  bool like_plans = true;
  std::vector<v1::Difference> differences;  // in the order of the facts; never the seed
};
RunDifferences DifferencesOf(std::span<const RunFacts> runs);

}  // namespace iobench

#endif  // COORDINATOR_ANALYSIS_COMPARE_RUN_DIFFERENCES_H_
