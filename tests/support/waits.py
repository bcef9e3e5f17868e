"""Says in what test a session waits, and where, if it takes long: ctest ends a test that hangs and says nothing."""
import faulthandler
import os
import threading

# Before ctest ends the session, after 600 s or more.
AFTER_S = float(os.environ.get("IOBENCH_TEST_SAYS_WHERE_AFTER_S", "250"))


class Watch:
    """Writes to the standard error that the session had at its beginning, whatever tests do with it."""

    def __init__(self):
        self.error = os.dup(2)
        self.timer = None

    def begin(self, test):
        self.timer = threading.Timer(AFTER_S, self.say, [test])
        self.timer.daemon = True
        self.timer.start()

    def end(self):
        self.timer.cancel()

    def say(self, test):
        os.write(self.error, f"\n{test} has run for {AFTER_S:g} s. This is no failure: it goes on. If it hangs, this is "
                             "where (most recent call first):\n".encode())
        faulthandler.dump_traceback(self.error)
