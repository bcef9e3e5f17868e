"""Keeps the clocks of User-Mode Linux hosts going, whose kernel loses timer signals.

Linux 6.1 drops a SIGALRM that arrives while it handles the one before. If its next timer was to be set by the lost one, no
timer of the host ever ends again: it serves and answers, but the times of its files stand still. A further SIGALRM from
outside is a timer interrupt without a cause, which sets the next timer.
"""

import contextlib
import os
import signal
import threading

PERIOD_S = 0.5


class TickKeeper:
    """A thread that sends SIGALRM to the kernels it was told of, until stop()."""

    def __init__(self):
        self._kernels, self._lock, self._stopped = {}, threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="tick keeper", daemon=True)
        self._thread.start()

    def keep(self, name, pid):
        """Begins with the kernel of the host `name`. REQUIRES: it has booted, since a SIGALRM would end it before."""
        with self._lock:
            self._kernels[name] = pid

    def let_go(self, name):
        """Ends with the host: its process id may belong to another process from now on."""
        with self._lock:
            self._kernels.pop(name, None)

    def stop(self):
        self._stopped.set()
        self._thread.join()

    def _run(self):
        while not self._stopped.wait(PERIOD_S):
            with self._lock:
                for pid in self._kernels.values():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGALRM)
