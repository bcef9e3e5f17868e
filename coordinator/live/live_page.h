// What the live view shows: pure, so that it can be tested without a terminal. live_screen.h draws it.
#ifndef COORDINATOR_LIVE_LIVE_PAGE_H_
#define COORDINATOR_LIVE_LIVE_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "coordinator/live/live_rates.h"
#include "coordinator/report/console/console_page.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

struct PageLine {
  std::string text;  // printable, at most as wide as the page
  Tone tone = Tone::kPlain;
};

struct PageSize {
  size_t rows = 24;
  size_t columns = 80;
  bool utf8 = true;  // false: the terminal shows ASCII only
};

// The state of a run as the view knows it. Not thread-safe.
class LivePage {
 public:
  void RunStarts(const v1::RunReport& report);
  void PhasePrepares(const PhaseProgress& progress);
  void PhaseMoves(const PhaseProgress& progress);
  void PhaseEnds(const v1::PhaseReport& phase);
  // Adds a message of the program, such as a warning about a silent worker. Shown with marks and errors, newest last.
  void AddMessage(const std::string& text, Tone tone);
  // The user asked for the run to end.
  void Interrupts() { interrupted_ = true; }

  // Moves the table of clients; the next Draw limits it to what there is.
  void Scroll(int64_t lines);

  // Returns at most size.rows lines: the run, the current phase with its progress and a sparkline of the cluster's
  // throughput, the phases, the clients with the slowest first, messages, and the keys. What does not fit is left out,
  // the least important first. `run_s`: since the start of the run.
  std::vector<PageLine> Draw(const PageSize& size, double run_s);

 private:
  struct PhaseRow {
    std::string name;
    enum class State { kToCome, kPreparing, kRunning, kEnded } state = State::kToCome;
    std::string figures = {};  // kEnded: rate and latency
    std::string marks = {};
    Tone tone = Tone::kPlain;
  };

  PhaseRow& RowOf(uint32_t index);
  void Note(const LiveSample& sample);
  std::vector<PageLine> Now(const PageSize& size) const;
  std::vector<PageLine> Phases(size_t rows, size_t columns) const;
  std::vector<PageLine> Clients(size_t rows, size_t columns);
  std::vector<PageLine> Messages(size_t rows, size_t columns) const;

  LiveRates rates_;
  std::string title_;
  std::vector<PhaseRow> phases_;
  LiveSample sample_;
  std::vector<LiveRow> shown_clients_;  // with their last known rates
  std::deque<double> history_;          // the cluster's rate in the current phase, one per sample
  std::deque<PageLine> messages_;
  size_t scroll_ = 0;
  bool interrupted_ = false;
};

// Returns one character per value, at most `columns`, the newest values at the right; the highest value is a full
// block. NaN: a space.
std::string Sparkline(const std::deque<double>& values, size_t columns, bool utf8);

}  // namespace iobench

#endif  // COORDINATOR_LIVE_LIVE_PAGE_H_
