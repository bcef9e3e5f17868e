// What a process does first that was forked to help this one and executes no other program.
#ifndef COMMON_PROCESS_HELPER_PROCESS_H_
#define COMMON_PROCESS_HELPER_PROCESS_H_

#include <string_view>

namespace iobench {

// Otherwise `ps` would show this program a second time. `name`: at most 15 characters. `title`: in place of the arguments.
void SetProcessName(const char* name, std::string_view title);

// Closes all descriptors but this one; the standard ones are then /dev/null. Otherwise whoever waits for the end of this
// process's output would wait for the helper, and files, locks and connections would stay open.
void CloseAllBut(int kept);

}  // namespace iobench

#endif  // COMMON_PROCESS_HELPER_PROCESS_H_
