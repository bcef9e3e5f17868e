// What SIGINT, SIGTERM and SIGHUP do to this process.
#ifndef COORDINATOR_PROCESS_SIGNALS_H_
#define COORDINATOR_PROCESS_SIGNALS_H_

#include <atomic>
#include <string>

#include "coordinator/cluster/interrupt.h"

namespace iobench {

// Raised by the first signal, which requests an orderly end. A later one ends the program at once with
// kExitInterrupted; one within 0.1 s counts as the same. One object for the whole process; nothing resets it.
Interrupt& TheInterrupt();
// The same for workers: set by the first signal, polled by the transport's worker end.
std::atomic<bool>& StopWorker();

// From now on, a second signal says this before it ends the program: where the results are. A later call replaces it.
void SayAtSecondSignal(const std::string& text);

// From now on the three signals raise both of the above. SIGHUP stays ignored if it is, as under nohup.
void HandleSignals();
// For MPI ranks that are only workers: mpirun sends a signal to every rank, and rank 0 needs the others until it has
// saved the measurements and dismisses them.
void IgnoreSignals();

}  // namespace iobench

#endif  // COORDINATOR_PROCESS_SIGNALS_H_
