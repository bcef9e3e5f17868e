"""Runs a soak with a worker on each client of the lab, while a test does something to the server."""

import json
import time

from cluster_run import PATIENCE_S, start_over_grpc


class Soak:
    """A coordinator outside the hosts and a worker on each client. Its rounds are a read, a write and a reread of 3 s each."""

    def __init__(self, lab, path, out, duration, *more):
        self.lab, self.out = lab, out
        options = ["--path", path, "--out", str(out), "--soak", duration, "-r", "16k", "-s", "256k", "-t", "1", "--time", "3",
                   "-c", "-e", *more]
        self.coordinator, self.workers = start_over_grpc(lab, "run", options, "--root / --allow drop-caches")

    def wait_for_phase(self, number):
        """Waits until phase `number`, from 0, has ended. Phase 3 is the second round's read, after which its write begins."""
        deadline = time.monotonic() + PATIENCE_S
        while not (self.out / "raw" / f"phase-{number:03}.pb").exists():
            assert time.monotonic() < deadline and self.coordinator.poll() is None, self.lab.finish(self.coordinator)
            time.sleep(0.05)

    def end(self):
        """Waits for the end. Returns how the coordinator ended, and `soak` of its result."""
        ended = self.lab.finish(self.coordinator, timeout=PATIENCE_S)
        codes = [self.lab.finish(worker, timeout=PATIENCE_S).returncode for worker in self.workers]
        result = json.loads((self.out / "result.json").read_text())
        assert codes == [0, 0] and result["run"]["exit_code"] == ended.returncode, (codes, ended)
        return ended, result["soak"]
