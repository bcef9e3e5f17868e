// What of a run is as in IOzone: whether the whole run behaves so (--as-iozone), for scripts and programs that read IOzone's
// output; and what its report formats show.
#ifndef COORDINATOR_OPTIONS_IOZONE_OUTPUT_H_
#define COORDINATOR_OPTIONS_IOZONE_OUTPUT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/options/option.h"
#include "iobench/v1/result.pb.h"

namespace iobench {

// How the program was started. The default is that of a user at a terminal.
struct ProgramStart {
  bool by_iozones_name = false;  // IsIozonesName
  bool stdout_is_terminal = true;
};

// True for `iozone`, with any directory before it.
bool IsIozonesName(std::string_view program);

// What the user says: --as-iozone, --as-iozone=0, or nothing.
enum class AsIozone { kUnsaid, kYes, kNo };

// The one place that decides whether a run behaves as IOzone: the user says so; or neither that nor --format says what
// standard output holds, and the program was started as `iozone`, or with -R while standard output is no terminal.
bool BehavesAsIozone(AsIozone said, const GivenOptions& given, bool names_format, const ProgramStart& start);

// True if IOzone would run its throughput mode: -t, -l or -u was given.
bool IsThroughputMode(const GivenOptions& given);

// What IOzone accepts although the rules between our options do not.
struct IozonesOwn {
  std::vector<std::string> notes;  // on what has no effect
  GivenOptions unruled;            // options that may stand alone: -S and -L, which are in the banner
};
// Before the rules are checked: takes out of `given` what they would refuse, and adds what IOzone understands without saying
// so: -l N alone is -l N -u N, and -b (`has_workbook`) implies -R.
IozonesOwn TakeIozonesOwn(bool has_workbook, GivenOptions& given);
// After that: adds `unruled`, and IOzone's own defaults in place of ours, unless a plan, suite or mix has them: -s 512k,
// -r 4k, all tests of the mode, each once in throughput mode but for 0 and 1, and one lane (not if `lists_clients`).
void AddIozonesDefaults(const IozonesOwn& own, bool lists_clients, GivenOptions& given);

// What the given options ask IOzone's report formats to show, and what its banner says of them. nullopt: none of these
// options was given.
std::optional<v1::IozoneOutput> IozoneOutputOf(const GivenOptions& given);

}  // namespace iobench

#endif  // COORDINATOR_OPTIONS_IOZONE_OUTPUT_H_
