"""Reads CLOCK_MONOTONIC of a lab host from outside, independently of the program under test."""

import time

_ANSWER = "import sys, time\nfor _ in sys.stdin: print(time.monotonic_ns(), flush=True)"


class HostClock:
    """A process on a host that answers each line with its clock; a context manager."""

    def __init__(self, lab, host):
        self._lab = lab
        self._process = lab.start(host, f"exec /usr/bin/python3 -c '{_ANSWER}'")
        self.offset_bounds_ns(1)  # returns once the interpreter has started

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lab.finish(self._process)

    def offset_bounds_ns(self, readings=40):
        """Returns certain bounds (low, high) of the host's clock minus this machine's.

        Each reading of the host's clock is bracketed by two of ours; the tightest bounds count.
        """
        low, high = None, None
        for _ in range(readings):
            before = time.monotonic_ns()
            self._process.stdin.write("\n")
            self._process.stdin.flush()
            there = int(self._process.stdout.readline())
            after = time.monotonic_ns()
            low = there - after if low is None else max(low, there - after)
            high = there - before if high is None else min(high, there - before)
        return low, high
