// What happens when the system refuses memory, or a library cannot start a thread and nobody can handle that.
#ifndef COMMON_PROCESS_END_OF_MEMORY_H_
#define COMMON_PROCESS_END_OF_MEMORY_H_

namespace iobench {

// From now on, memory or threads that the system refuses end the process with one line on standard error, which names
// the limit that is in the way, and with `exit_code`; otherwise, C++ would abort it with the name of an exception, and
// C libraries such as gRPC with nothing. Exceptions of other kinds abort it as before. Called in main, and again for
// another exit code.
void EndClearlyWithoutMemory(int exit_code);

}  // namespace iobench

#endif  // COMMON_PROCESS_END_OF_MEMORY_H_
