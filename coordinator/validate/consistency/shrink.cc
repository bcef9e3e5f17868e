#include "coordinator/validate/consistency/shrink.h"

#include <algorithm>
#include <utility>

#include "common/status_util.h"

namespace iobench {
namespace {

Script Without(const Script& script, size_t first, size_t count) {
  Script rest;
  rest.reserve(script.size());
  for (size_t i = 0; i < script.size(); ++i) {
    if (i < first || i >= first + count) rest.push_back(script[i]);
  }
  return rest;
}

}  // namespace

// Leaves out ever smaller parts, from the end on: what is behind the cause goes first. A part that can be left out is
// not tried again, but once one was, the others may be possible, too.
absl::StatusOr<Shrunk> Shrink(Script script, const std::function<absl::StatusOr<bool>(const Script&)>& fails,
                              const std::function<bool()>& in_time) {
  Shrunk shrunk{.script = std::move(script)};
  for (size_t part = std::max<size_t>(1, shrunk.script.size() / 2);;) {
    bool left_out = false;
    for (size_t end = shrunk.script.size(); end > 0;) {
      const size_t first = end > part ? end - part : 0;
      if (!in_time()) return shrunk;
      Script rest = Without(shrunk.script, first, end - first);
      if (!rest.empty()) {
        ++shrunk.tries;
        IOBENCH_ASSIGN_OR_RETURN(const bool failed, fails(rest));
        if (failed) {
          shrunk.script = std::move(rest);
          left_out = true;
        }
      }
      end = std::min(first, shrunk.script.size());
    }
    if (part == 1 && !left_out) break;
    part = left_out && part == 1 ? 1 : std::max<size_t>(1, part / 2);
  }
  shrunk.complete = true;
  return shrunk;
}

}  // namespace iobench
