"""Runs that are cut off at random instants and resumed, until they are complete: nothing measured is lost, whatever cut them.

    CLUSTER_IOBENCH=build/release/cluster-iobench python3 tests/faults/cut_and_resume.py --repetitions 200 --cuts 30 [--seed N]
        [--transports spawn,tcp,mpi] [--jobs N] [--minutes M]

That is the whole proof: 200 runs for each transport, each cut up to 30 times. `ctest -R faults.cut` does a few. Each cut is a
SIGKILL of the coordinator, a SIGKILL of all processes, Ctrl-C, or a raw file that is damaged or removed while nobody runs.
Then two processes resume the run at once, of which one must be refused by the name of the other. Unless the run ends first,
the next cut follows. At the end, the run is resumed undisturbed. It must then equal an uninterrupted run of its plan: phases,
their order, ops, bytes, no bad data, exit code 0 in result.json too, `report --verify`; and no process and no data may be left.
Whole phases stay as they are to the byte, unless their own file was damaged. A failure prints the seed of its run, and --seed
repeats it (the timing of the machine differs).
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import fault_case  # noqa: E402
import program  # noqa: E402

LEASE_S = 1
WORKERS = 2
# Every phase does the same ops however long it takes, at a pace that lets cuts strike within it. The data are verified.
PLAN = ("-i", "0", "-i", "1", "-i", "2", "-+n", "-r", "4k", "-s", "64k", "-+O", "60", "--verify", "-t", "2", "--repeat", "2")
PHASES = 8      # write, read, random read, random write: twice
TRANSPORTS = ("spawn", "tcp", "mpi")
CUTS = ("coordinator killed", "all killed", "Ctrl-C", "Ctrl-C", "raw file removed", "raw file damaged")


class Failure(Exception):
    pass


class CutRun:
    """One run in a place of its own, with all that is left of it between two cuts."""

    def __init__(self, transport, place, seed):
        self.transport, self.place, self.seed = transport, place, seed
        self.random = random.Random(seed)
        self.path, self.out = place / "target", place / "out"
        self.path.mkdir(parents=True)
        self.tag = f"cut-{os.getpid()}-{transport}-{seed}"
        self.port = program.free_port() if transport == "tcp" else None
        self.env = program.clean_environment(FAULT_CASE=self.tag)
        self.helpers, self.said = [], []
        self.whole = {}         # raw files of finished phases, whose bytes must not change
        self.damaged = {}       # names of raw files -> what is in their place since, None: nothing
        self.refused = self.resumed = 0

    def command(self, begins):
        words = [program.BINARY, "run", *(PLAN if begins else ())]
        if begins:
            words += ["--path", str(self.path), "--out", str(self.out)]
        else:
            words += ["--resume", str(self.out)]
        words += ["--lease", str(LEASE_S), "--lost-after", str(LEASE_S)]
        if self.transport == "spawn":
            return [*words, "--spawn", str(WORKERS)]
        if self.transport == "tcp":
            return [*words, "--listen", f"127.0.0.1:{self.port}", "--workers", str(WORKERS)]
        return [*program.mpirun(WORKERS), "-x", "FAULT_CASE", *words]

    def start(self, begins=False):
        process = subprocess.Popen(self.command(begins), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True, env=self.env, start_new_session=True)
        process.lines = []
        process.reader = threading.Thread(target=lambda: process.lines.extend(process.stderr), daemon=True)
        process.reader.start()
        return process

    def join(self):
        """Workers that join, as many as are missing. Those of a part that was cut off leave by themselves."""
        if self.transport != "tcp":
            return
        self.helpers = [helper for helper in self.helpers if helper.poll() is None]
        for _ in range(WORKERS):
            self.helpers.append(subprocess.Popen(
                [program.BINARY, "worker", "--join", f"127.0.0.1:{self.port}", "--root", "/", "--join-timeout", "60"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.env,
                start_new_session=True))

    def dismiss(self):
        for helper in self.helpers:
            helper.kill()
            helper.wait()
        self.helpers = []

    def end(self, process):
        try:
            process.wait(program.PATIENCE_S)
        except subprocess.TimeoutExpired as hung:
            raise Failure(f"hung: {' '.join(process.args)}") from hung
        process.reader.join(program.PATIENCE_S)
        text = "".join(process.lines)
        self.said.append(f"exit code {process.returncode}: {text}")
        return process.returncode, text

    def raw(self):
        return {file.name: file.read_bytes() for file in sorted((self.out / "raw").glob("phase-*.pb"))}

    def coordinator(self, process):
        if self.transport == "mpi":
            return fault_case.ranks_of(self.tag).get(0, process.pid)
        return process.pid

    def strike(self, cut, process):
        with contextlib.suppress(ProcessLookupError):
            if cut == "coordinator killed":
                os.kill(self.coordinator(process), signal.SIGKILL)
            elif cut == "all killed":
                for pid in fault_case.tagged(self.tag):
                    os.kill(pid, signal.SIGKILL)
            else:
                process.send_signal(signal.SIGINT)

    def damage(self, cut):
        files = sorted((self.out / "raw").glob("phase-*.pb"))
        if not files:
            return
        file = self.random.choice(files)
        if cut == "raw file removed":
            self.damaged[file.name] = None
            file.unlink()
        else:
            content = bytearray(file.read_bytes())
            content[self.random.randrange(len(content))] ^= 0x55
            self.damaged[file.name] = bytes(content)
            file.write_bytes(content)

    def note_whole(self):
        """Checks that finished phases are as they were, and notes those that have finished since."""
        result = json.loads((self.out / "result.json").read_text()) if (self.out / "result.json").exists() else {"phases": []}
        raw = self.raw()
        for name, content in self.whole.items():
            if name not in self.damaged and raw.get(name) != content:
                raise Failure(f"{name} has changed")
        disturbed = {f"phase-{phase['index']:03}.pb" for phase in result["phases"]
                     if phase["interrupted"] or phase["workers_lost"] > 0}
        last = max(raw, default="")
        self.damaged = {name: content for name, content in self.damaged.items() if raw.get(name) == content}
        # The last one may be measured again.
        self.whole = {name: content for name, content in raw.items()
                      if name not in disturbed and name != last and name not in self.damaged}

    def cut(self, process, cut):
        time.sleep(self.random.uniform(0, 1.5))
        if process.poll() is None:
            self.strike(cut if not cut.startswith("raw") else "all killed", process)
        self.end(process)
        self.dismiss()
        self.wait_for_end()
        if (self.out / "raw").exists():
            self.note_whole()
            if cut.startswith("raw"):
                self.damage(cut)

    def wait_for_end(self):
        deadline = time.monotonic() + program.PATIENCE_S
        while fault_case.tagged(self.tag):
            if time.monotonic() > deadline:
                raise Failure(f"processes are left: {fault_case.tagged(self.tag)}")
            time.sleep(0.05)

    def race(self):
        """Two resume the run at once. Returns the one that does, when the other was refused."""
        racers = [self.start(), self.start()]
        if self.random.random() < 0.5:
            racers.reverse()
        self.join()
        deadline = time.monotonic() + program.PATIENCE_S
        while time.monotonic() < deadline:
            ended = [racer for racer in racers if racer.poll() is not None]
            if ended:
                loser = ended[0]
                winner = racers[1 - racers.index(loser)]
                code, text = self.end(loser)
                if "still going on" in text:
                    if code != 1:
                        raise Failure(f"exit code {code} of a racer that was refused: {text}")
                    self.refused += 1
                elif code != 0:
                    raise Failure(f"a racer failed with {code}: {text}")
                # Otherwise the run was complete, or one ended before the other looked.
                self.resumed += 1
                return winner
            time.sleep(0.02)
        raise Failure("neither of two resumers was refused")

    def is_begun(self):
        return (self.out / "raw" / "run.pb").exists()

    def is_complete(self):
        """By the raw data, of which the end is saved last."""
        said = program.plain("report", self.out, "--format", "json")
        with contextlib.suppress(ValueError):
            run = json.loads(said.stdout)["run"]
            return said.code == 0 and run["finished"] and run["exit_code"] == 0
        return False

    def go(self, cuts):
        process = self.start(begins=True)
        self.join()
        done = 0
        for done in range(1, cuts + 1):
            self.cut(process, self.random.choice(CUTS))
            if not self.is_begun():
                process = self.start(begins=True)
                self.join()
                continue
            if self.is_complete() and not self.damaged:
                break
            process = self.race()
        else:
            self.end(process)
            self.dismiss()
            self.wait_for_end()
        self.complete()
        return done

    def complete(self):
        """Resumes what is left, undisturbed, and checks what there is then."""
        for _ in range(3):
            if self.is_complete() and not self.damaged:
                break
            process = self.start(begins=not self.is_begun())
            self.join()
            self.end(process)
            self.dismiss()
            self.wait_for_end()
            self.note_whole()
        self.check()

    def check(self):
        result = json.loads((self.out / "result.json").read_text())
        run = result["run"]
        if not run["finished"] or run["exit_code"] != 0:
            raise Failure(f"it ended with {run['exit_code']}: {run['problems']}")
        whole = [(phase["index"], phase["name"], phase["ops"], phase["bytes"], phase["interrupted"], phase["workers_lost"])
                 for phase in result["phases"]]
        if [phase[0] for phase in whole] != list(range(PHASES)):
            raise Failure(f"phases {[phase[0] for phase in whole]}")
        if whole != UNDISTURBED["phases"]:
            raise Failure(f"other phases than of an uninterrupted run:\n{whole}\n{UNDISTURBED['phases']}")
        bad = [phase["name"] for phase in result["phases"] for error in phase["errors"]]
        if bad:
            raise Failure(f"errors in {bad}")
        verified = program.plain("report", "--verify", self.out)
        if verified.code != 0:
            raise Failure(f"report --verify: {verified}")
        left = [str(file) for file in (*self.path.iterdir(), self.out / "cluster-iobench.lock") if file.exists()]
        # Those of a preflight whose processes were all killed, with their janitors.
        checks = [file for file in left if "/cluster-iobench.check-" in file]
        if left != checks:
            raise Failure(f"left: {left}")
        if checks and (program.plain("clean", self.path).code != 0 or list(self.path.iterdir())):
            raise Failure(f"not cleaned: {checks}")

    def clear(self):
        for pid in fault_case.tagged(self.tag):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.dismiss()


UNDISTURBED = {}


def measure_undisturbed(place):
    """What an uninterrupted run measures, which does not depend on the transport."""
    (place / "target").mkdir()
    outcome = program.run(["run", *PLAN, "--spawn", str(WORKERS)], path=place / "target", out=place / "out").expect(0)
    UNDISTURBED["phases"] = [
        (phase["index"], phase["name"], phase["ops"], phase["bytes"], phase["interrupted"], phase["workers_lost"])
        for phase in outcome.phases]
    assert len(outcome.phases) == PHASES, UNDISTURBED


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=1, help="runs for each transport")
    options.add_argument("--cuts", type=int, default=30, help="most cuts of a run")
    options.add_argument("--transports", default=",".join(TRANSPORTS))
    options.add_argument("--seed", type=int, default=None, help="of the first run; each run has the next one")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--minutes", type=float, default=None, help="begin no run after this time")
    given = options.parse_args()
    program.require_binary()
    first = given.seed if given.seed is not None else random.randrange(1 << 30)
    print(f"seed {first}", flush=True)
    runs = [(transport, first + i) for i in range(given.repetitions) for transport in given.transports.split(",")]
    deadline = time.monotonic() + given.minutes * 60 if given.minutes else float("inf")
    failures, totals, lock = [], {}, threading.Lock()

    with tempfile.TemporaryDirectory(prefix="cut-and-resume-") as scratch:
        measure_undisturbed(pathlib.Path(scratch))

        def work():
            while True:
                with lock:
                    if not runs or time.monotonic() > deadline:
                        return
                    transport, seed = runs.pop(0)
                run = CutRun(transport, pathlib.Path(scratch) / f"{transport}-{seed}", seed)
                problem = ""
                cuts = 0
                try:
                    cuts = run.go(given.cuts)
                except Exception as failure:  # pylint: disable=broad-except
                    problem = f"{transport}, --seed {seed}: {failure!r}\n" + "\n".join(run.said)
                finally:
                    run.clear()
                with lock:
                    total = totals.setdefault(transport, [0, 0, 0, 0])
                    for i, count in enumerate((1, cuts, run.resumed, run.refused)):
                        total[i] += count
                    if problem:
                        failures.append(problem)
                        print(problem, flush=True)

        jobs = [threading.Thread(target=work) for _ in range(given.jobs)]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
    for transport, (count, cuts, resumed, refused) in sorted(totals.items()):
        print(f"{transport}: {count} runs, {cuts} cuts, {resumed} races of two resumers, {refused} of them refused")
    if failures:
        print(f"{len(failures)} runs failed")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
