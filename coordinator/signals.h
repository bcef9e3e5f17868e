// What SIGINT, SIGTERM and SIGHUP do to this process.
#ifndef COORDINATOR_SIGNALS_H_
#define COORDINATOR_SIGNALS_H_

#include <atomic>

#include "coordinator/cluster/interrupt.h"

namespace iobench {

// Raised by the first signal, which requests an orderly end; the second ends the program at once.
Interrupt& TheInterrupt();
// The same for workers: set by the first signal.
std::atomic<bool>& StopWorker();

// SIGHUP stays ignored if it is, as under nohup.
void HandleSignals();
// For processes that another one ends.
void IgnoreSignals();

}  // namespace iobench

#endif  // COORDINATOR_SIGNALS_H_
