// Reports that were made up, to test the web page with what one machine cannot run.
#ifndef TESTS_WEB_SAMPLE_REPORT_H_
#define TESTS_WEB_SAMPLE_REPORT_H_

#include "iobench/v1/result.pb.h"

namespace iobench {

// Twelve clients of which one is slow and one stalls and has no known clock error, host names with HTML and quotes,
// criteria, marks, a sweep over file and record sizes with a hole, a cell without a figure and cached cells, strides, a
// load curve, two targets, repetitions, a phase in which nothing was measured.
v1::RunReport RichReport();
// A run that ended before its first phase.
v1::RunReport EmptyReport();
// Rounds of a write that gets slower and a read that does not, with one long stall and stale data.
v1::RunReport SoakReport(int round_count);
// Seven rounds of a write and a read until both are steady. In the first write, burst credits are used up after 20 s.
v1::RunReport SteadySample();
// As many clients, lanes and phases as given, all with charts of `slice_count` slices. One of `slow_every` clients is slow; 0:
// one of all.
v1::RunReport LargeReport(int client_count, int lanes_per_client, int phase_count, int slice_count, int slow_every);

}  // namespace iobench

#endif  // TESTS_WEB_SAMPLE_REPORT_H_
