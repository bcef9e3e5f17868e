"""Runs with random joins, leaves and faults, for any duration. Finds bugs that no list of cases covers.

    CLUSTER_IOBENCH=build/release/cluster-iobench python3 tests/faults/soak.py --minutes 30 [--seed N] [--jobs N]

Each job has a worker with --stay on its own port, which takes part in one run after another, like a daemon on a client.
Two more workers join each run, early or late, directly or through a proxy. Faults strike them, the daemon and the coordinator.
After each run: the exit code is one of docs/faults.md, result.json is valid and has the same code, `report` can read it, and
no process, data or file is left. The daemon's memory and descriptors must stay where they were. A failure prints the seed of
its run, and --seed repeats that run (with the same times of faults; the timing of the machine differs).
"""
import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import fault_case  # noqa: E402
import program  # noqa: E402
import schema  # noqa: E402

WORKERS = 3                 # the daemon and two more
SECONDS, REPEAT = 2, 3
OPERATIONS = (*fault_case.LOADS.values(), ("-i", "0", "-i", "2", "-+n", "-r", "4k", "-s", "256k", "-c", "-e"))
# Long enough that a busy machine loses no worker without a fault.
LEASE_S, LOST_AFTER_S, STALL_S = 6, 6, 8
# A stop of up to SHORT_STOP_S loses nobody; one of LONG_STOP_S or more does.
SHORT_STOP_S, LONG_STOP_S = 1.0, LOST_AFTER_S + LEASE_S + 2.0
SETTLE_S = 30               # enough for workers that lost their coordinator to end on a busy machine
# Fewer runs would show caches that fill, not leaks.
FEWEST_RUNS_FOR_MEMORY = 20
GROWTH_ALLOWED = {"descriptors": 2, "threads": 3, "KiB of memory": 2048}


class Proxy:
    """Stands between one worker and the coordinator. When it is cut, nothing gets through and neither end is notified,
    as if a cable had been pulled."""

    def __init__(self, port):
        self.port = port
        self.cut = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets = [self.listener]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = None
                while far is None:
                    with contextlib.suppress(ConnectionRefusedError):
                        far = socket.create_connection(("127.0.0.1", self.port))
                    time.sleep(0.05)
                self.sockets += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self.cut.is_set():
                    return
                sink.sendall(data)

    def close(self):
        for each in self.sockets:
            each.close()


class Failure(Exception):
    pass


@dataclasses.dataclass
class Fault:
    """What happens, the exit codes that the run may have, and whether its data may stay."""
    name: str
    codes: tuple
    weight: int = 1
    may_leave_data: bool = False


FAULTS = (
    Fault("nothing", (0,), 2),
    Fault("worker joins late", (0,), 2),
    Fault("a fourth worker", (0,)),
    Fault("worker stopped for a second", (0,)),
    Fault("daemon stopped for a second", (0,)),
    Fault("coordinator stopped for a second", (0,)),
    Fault("worker killed", (3,), 2),
    Fault("worker leaves", (3,)),
    Fault("worker stopped", (3,)),
    Fault("daemon stopped", (3,)),
    Fault("connection cut", (3,), 2),
    Fault("two workers killed", (3,)),
    Fault("coordinator stopped", (3,)),
    Fault("Ctrl-C", (130,), 2),
    Fault("worker killed, then Ctrl-C", (130,)),
    Fault("worker stopped, then Ctrl-C", (130,)),
    # Whoever is left removes the data, unless it was killed itself.
    Fault("coordinator killed", (-signal.SIGKILL,), 2),
    Fault("worker killed, then coordinator killed", (-signal.SIGKILL,), may_leave_data=True),
)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def memory_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1])
    raise AssertionError("no Private_Dirty")


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


class Daemon:
    """A worker that stays, on a port of its own."""

    def __init__(self, place):
        self.tag, self.port = uuid.uuid4().hex, program.free_port()
        self.log = place / "daemon.log"
        self.process = subprocess.Popen(
            [program.BINARY, "worker", "--join", f"127.0.0.1:{self.port}", "--root", "/", "--stay"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(self.log, "w"), env=program.clean_environment(FAULT_CASE=self.tag),
            start_new_session=True)
        self.samples = []       # (descriptors, threads, KiB) after each run

    def sample(self):
        if self.process.poll() is not None:
            raise Failure(f"the daemon ended with {self.process.returncode}: {self.log.read_text()[-2000:]}")
        pid = self.process.pid
        self.samples.append((descriptors(pid), threads(pid), memory_kib(pid)))

    def check_growth(self):
        """Compares the last quarter of the runs with the second, since the first fills caches. Compares maxima, because a
        daemon that is just trying to join has a few more threads and descriptors."""
        if len(self.samples) < FEWEST_RUNS_FOR_MEMORY:
            return
        quarter = len(self.samples) // 4
        for index, (what, allowed) in enumerate(GROWTH_ALLOWED.items()):
            early = max(sample[index] for sample in self.samples[quarter:2 * quarter])
            late = max(sample[index] for sample in self.samples[-quarter:])
            if late > early + allowed:
                raise Failure(f"the daemon's {what} grew from {early} to {late} in {len(self.samples)} runs")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=program.PATIENCE_S)
        except subprocess.TimeoutExpired as hung:
            self.process.kill()
            raise Failure("the daemon does not end on SIGTERM") from hung
        if code != 0:
            raise Failure(f"the daemon ended with {code} on SIGTERM: {self.log.read_text()[-2000:]}")


class OneRun:
    def __init__(self, daemon, place, seed):
        self.daemon, self.place, self.seed = daemon, place, seed
        self.draw = random.Random(seed)
        self.fault = self.draw.choices(FAULTS, [fault.weight for fault in FAULTS])[0]
        self.tag = uuid.uuid4().hex
        self.target, self.out = place / "target", place / "out"
        self.target.mkdir(parents=True)
        self.env = program.clean_environment(FAULT_CASE=self.tag)
        self.workers, self.proxy, self.stopped = [], None, []

    def start(self):
        command = [program.BINARY, *self.draw.choice(OPERATIONS), "--repeat", str(REPEAT), "--time", str(SECONDS), "-+O", "50",
                   "--lease", str(LEASE_S), "--lost-after", str(LOST_AFTER_S), "--stall-timeout", str(STALL_S), "-t",
                   str(self.draw.choice((1, 1, 4))), "--path", str(self.target), "--out", str(self.out), "--live-csv",
                   str(self.place / "live.csv"), "--listen", f"127.0.0.1:{self.daemon.port}", "--workers", str(WORKERS)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=open(self.place / "stdout", "w"),
                                        stderr=open(self.place / "stderr", "w"), env=self.env, start_new_session=True)
        self.add_worker()
        if self.fault.name == "worker joins late":
            time.sleep(self.draw.uniform(0.2, 3))
        self.add_worker(through_proxy=self.fault.name == "connection cut")

    def add_worker(self, through_proxy=False):
        address = f"127.0.0.1:{self.daemon.port}"
        if through_proxy:
            self.proxy = Proxy(self.daemon.port)
            address = self.proxy.address
        log = open(self.place / f"stderr-worker-{len(self.workers)}", "w")
        self.workers.append(subprocess.Popen(
            [program.BINARY, "worker", "--join", address, "--root", "/", "--join-timeout", "20"], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=log, env=self.env, start_new_session=True))

    def wait_for_ops(self):
        deadline = time.monotonic() + program.PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError, IndexError, ValueError):
                rows = [line.split(",") for line in (self.place / "live.csv").read_text().splitlines()]
                ops = rows[0].index("ops")
                if any(int(row[ops]) > 0 for row in rows[1:]):
                    return
            time.sleep(0.02)
        raise Failure("no lane has done an op")

    def signal_for(self, seconds, pid):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)

    def strike(self):
        name = self.fault.name
        if name in ("nothing", "worker joins late"):
            return
        time.sleep(self.draw.uniform(0, 0.4 * SECONDS * REPEAT))  # a busy machine adds its own delays, and the run must last
        pid_of = {"worker": self.workers[-1].pid, "daemon": self.daemon.process.pid, "coordinator": self.process.pid}
        for part in name.split(", then "):
            who, _, what = part.partition(" ")
            if part == "a fourth worker":
                self.add_worker()
            elif part == "Ctrl-C":
                self.process.send_signal(signal.SIGINT)
            elif part == "connection cut":
                self.proxy.cut.set()
            elif part == "two workers killed":
                for worker in self.workers:
                    worker.kill()
            elif what == "stopped for a second":
                self.signal_for(SHORT_STOP_S, pid_of[who])
            elif what == "stopped" and who == "coordinator":
                self.signal_for(LONG_STOP_S, pid_of[who])
            elif what == "stopped":
                os.kill(pid_of[who], signal.SIGSTOP)
                self.stopped.append(pid_of[who])
            elif what == "killed":
                os.kill(pid_of[who], signal.SIGKILL)
            else:
                assert what == "leaves", part
                os.kill(pid_of[who], signal.SIGTERM)
            time.sleep(self.draw.uniform(0, 0.3))

    def run(self):
        try:
            self.start()
            self.wait_for_ops()
            self.strike()
            try:
                self.process.wait(timeout=program.PATIENCE_S)
            except subprocess.TimeoutExpired as hung:
                raise Failure("the coordinator hangs") from hung
            self.wake()
            if self.fault.name == "a fourth worker":
                self.workers[-1].terminate()  # otherwise it would wait for another run
            self.check()
        finally:
            self.wake()
            if self.proxy:
                self.proxy.close()
            for pid in fault_case.tagged(self.tag):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in (self.process, *self.workers):
                process.wait()

    def wake(self):
        """Wakes stopped processes, which learn that nobody waits for them."""
        for pid in self.stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self.stopped.clear()

    def check(self):
        code = self.process.returncode
        # If every worker was lost, none is left to remove the data, and the user is told where they are.
        may_leave_data = self.fault.may_leave_data or "data may still be at" in (self.place / "stderr").read_text()
        if code not in self.fault.codes:
            raise Failure(f"exit code {code}, expected {self.fault.codes}")
        self.check_result(code)
        deadline = time.monotonic() + SETTLE_S
        data = self.target / program.DATA_DIRECTORY
        while time.monotonic() < deadline:
            for worker in self.workers:
                worker.poll()
            left = fault_case.tagged(self.tag)
            if not left and (may_leave_data or not data.exists()):
                break
            time.sleep(0.05)
        else:
            raise Failure(f"processes {left} or data {sorted(map(str, data.rglob('*')))} are left")
        if data.exists() and (cleaned := program.plain("clean", self.target)).code != 0:
            raise Failure(f"clean: {cleaned}")
        strange = sorted(str(file) for file in self.target.rglob("*"))
        strange += [str(file) for file in self.out.rglob("*") if ".partial" in file.name and code >= 0]
        if strange:
            raise Failure(f"files are left: {strange}")

    def check_result(self, code):
        saved = json.loads((self.out / "result.json").read_text())
        if problems := schema.problems(saved):
            raise Failure(f"result.json: {problems}")
        expected = code if code >= 0 else None
        if saved["run"]["exit_code"] != expected or saved["run"]["finished"] != (code >= 0):
            raise Failure(f"result.json says exit code {saved['run']['exit_code']}, finished {saved['run']['finished']}")
        lost = [phase["workers_lost"] for phase in saved["phases"]]
        if (3 in self.fault.codes) != any(lost) and code in (0, 3):
            raise Failure(f"workers lost in its phases: {lost}")
        report = program.plain("report", self.out)
        if report.code != 0 or not report.stdout:
            raise Failure(f"report: {report}")

    def story(self):
        texts = [f"--- {file.name}\n{file.read_text()[-3000:]}" for file in sorted(self.place.glob("std*"))]
        return "\n".join(texts)


class Job(threading.Thread):
    def __init__(self, place, seed, until):
        super().__init__()
        self.place, self.seed, self.until = place, seed, until
        self.counts, self.failure, self.staying = {}, None, None

    def run(self):
        try:
            self.staying = Daemon(self.place)
            number = 0
            # At least one run, then more until the time is over.
            while number == 0 or time.monotonic() < self.until:
                self.one_run(self.seed + number, self.place / f"run-{number}")
                number += 1
            self.staying.check_growth()
            self.staying.end()
        except Exception as failure:  # in a thread it would only be printed, and the exit code would be 0
            self.failure = failure
        finally:
            if self.staying is not None and self.staying.process.poll() is None:
                self.staying.process.kill()
                self.staying.process.wait()

    def one_run(self, seed, place):
        run = OneRun(self.staying, place, seed)
        begin = time.monotonic()
        try:
            run.run()
            self.staying.sample()
        except Exception as failure:
            raise Failure(f"seed {seed}, {run.fault.name}: {failure}\n{run.story()}\n--- daemon\n"
                          f"{self.staying.log.read_text()[-2000:]}") from failure
        print(f"seed {seed}: {run.fault.name}: exit code {run.process.returncode} after {time.monotonic() - begin:.1f} s; daemon: "
              "{} descriptors, {} threads, {} KiB".format(*self.staying.samples[-1]), flush=True)
        self.counts[run.fault.name] = self.counts.get(run.fault.name, 0) + 1
        subprocess.run(["rm", "-rf", place], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6) * 10**6)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    program.require_binary()
    print(f"seed {options.seed}", flush=True)
    until = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="soak-") as place:
        jobs = []
        for number in range(options.jobs):
            (pathlib.Path(place) / str(number)).mkdir()
            jobs.append(Job(pathlib.Path(place) / str(number), options.seed + 1000 * number, until))
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
    failures = [job.failure for job in jobs if job.failure]
    for job in jobs:
        if job.staying and job.staying.samples:
            first, last = job.staying.samples[0], job.staying.samples[-1]
            print(f"daemon of {len(job.staying.samples)} runs: descriptors {first[0]} to {last[0]}, threads {first[1]} to {last[1]}, "
                  f"memory {first[2]} to {last[2]} KiB")
    for failure in failures:
        print(f"FAILED {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
