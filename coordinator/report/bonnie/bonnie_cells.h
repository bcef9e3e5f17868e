// Figures as Bonnie++ prints them.
#ifndef COORDINATOR_REPORT_BONNIE_BONNIE_CELLS_H_
#define COORDINATOR_REPORT_BONNIE_BONNIE_CELLS_H_

#include <cstdint>
#include <string>

#include "coordinator/report/bonnie/bonnie_run.h"

namespace iobench {

// For CSV. All are empty for a test that was not run, or whose figure is unknown.
std::string BonnieRate(const BonnieMachine& machine, BonnieTest test);  // KiB/s, seeks/s or files/s; "+++++"
std::string BonnieCpu(const BonnieFigure& figure);                      // "95"; "+++"
std::string BonnieLatency(const BonnieFigure& figure);  // "85us", "72ms" from 100 ms, "100s" from 100 s

// For text: the same figures in at most five columns: "9999k", "9.8m", "100m", "1.0g".
std::string BonnieShortRate(const BonnieMachine& machine, BonnieTest test);

// In the largest of G, M and K that divides it: "2G", "65539K"; otherwise plain bytes. Empty for 0.
std::string BonnieSize(uint64_t bytes);
// In units of 1024 files, as -n has it: "16", "0.0488", "48.8281"; whole numbers from 1000 on. Empty for 0.
std::string BonnieItems(uint64_t count);

}  // namespace iobench

#endif  // COORDINATOR_REPORT_BONNIE_BONNIE_CELLS_H_
