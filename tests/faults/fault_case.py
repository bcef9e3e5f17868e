"""A run of three workers, one of which is disturbed, and what the run leaves behind.

Each lane keeps a pace of PACE ops per second, so that runs use little of the machine and the work of undisturbed lanes can
be computed. The fault strikes in the second of three repetitions.
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import time
import uuid

import cable
import program


PACE = 50
SECONDS = 3
# Long enough that a busy machine loses no worker without a fault.
PATIENCE_S, STALL_S = 6, 4
# The options for each load. A record is a page, to keep the data small.
LOADS = {
    "write": ("-i", "0", "-+n", "-r", "4k", "-s", "256k"),
    "random": ("--op", "random-mix", "-+p", "50", "-r", "4k", "-s", "256k"),
    "metadata": ("--op", "stat", "--items", "50"),
}
# Workers leave while their lanes run, and at least one second before these end.
LEFT_ALONE_PATIENCE_S, LEFT_ALONE_SECONDS = 3, 8
# Back before TCP tries for the fifth time, 3 s after the first.
SHORT_CUT_S = 2.5
SHORT_STOP_S = 3.5
WORKERS = 3


@dataclasses.dataclass
class Case:
    fault: str
    transport: str
    load: str

    @property
    def name(self):
        return f"{self.fault}-{self.transport}-{self.load}"

    @property
    def seconds(self):
        return LEFT_ALONE_SECONDS if self.fault == "coordinator stopped for good" else SECONDS

    @property
    def patience_s(self):
        return LEFT_ALONE_PATIENCE_S if self.fault == "coordinator stopped for good" else PATIENCE_S


@dataclasses.dataclass
class Outcome:
    code: int
    stderr: str
    result: dict | None         # the output of `report` for the result directory
    saved_code: int | None      # in result.json
    report_code: int
    left_processes: list
    data_left: bool             # the data directory is there
    clean_code: int             # of `clean`, afterwards


def tagged(tag):
    """Ids of all processes of the case, by the tag in their environment."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state not in "ZX" and f"FAULT_CASE={tag}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def workers_of(tag, coordinator):
    """Worker processes of a coordinator, in the order in which they were started."""
    found = []
    for pid in tagged(tag):
        with contextlib.suppress(OSError):
            parent = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == coordinator and b"\0worker\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return sorted(found)


def ranks_of(tag):
    """rank -> process id, without the processes that ranks have started"""
    found = {}
    for pid in tagged(tag):
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{pid}/comm").read_text() in ("iobench-janitor\n", "iobench-files\n"):
                continue
            for entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                    found[int(entry.split(b"=")[1])] = pid
    return found


class Runner:
    def __init__(self, case, place, shim):
        self.case, self.place = case, place
        self.tag = uuid.uuid4().hex
        self.path, self.out = place / "target", place / "out"
        self.path.mkdir(parents=True)
        self.order = place / "order"
        self.env = program.clean_environment(FAULT_CASE=self.tag)
        self.shim = {"LD_PRELOAD": str(shim), "FAULT_ORDER": str(self.order)}
        self.process, self.workers, self.cable, self.mounted = None, [], None, False

    def arguments(self):
        case = self.case
        return [*LOADS[case.load], "--repeat", "3", "--time", str(case.seconds), "-+O", str(PACE), "-t", "1",
                "--lease", str(case.patience_s), "--lost-after", str(case.patience_s), "--stall-timeout", str(STALL_S),
                "--path", str(self.path), "--out", str(self.out), "--live-csv", str(self.place / "live.csv")]

    def at(self, end):
        return self.cable.at(end) if self.cable else []

    def popen(self, words, name, env=None):
        with open(self.place / f"stderr{name}", "w") as stderr:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr,
                                    env=env or self.env, start_new_session=True)

    def start(self):
        if self.case.fault == "results disk full":
            self.out.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.out], check=True)
            self.mounted = True
            self.out = self.out / "results"
        if self.case.fault.startswith("connection cut"):
            self.cable = cable.Cable(self.place)
        getattr(self, f"start_{self.case.transport}")()

    def start_mpi(self):
        """The last rank is the victim: it alone has the library, and is at the other end of a cable, if there is one."""
        shim = [word for name, value in self.shim.items() for word in ("-x", f"{name}={value}")]
        near = ["--host", f"localhost:{WORKERS - 1}"] if self.cable else []
        far = ["--host", "far:1"] if self.cable else []
        network = self.cable.mpirun_options() if self.cable else []
        self.process = self.popen(
            [*self.at("near"), "mpirun", "--oversubscribe", "--allow-run-as-root", *network, "-x", "FAULT_CASE", *near,
             "-np", str(WORKERS - 1), program.BINARY, *self.arguments(), ":", *shim, "-x", "FAULT_CASE", *far, "-np", "1",
             program.BINARY, *self.arguments()], "")

    def start_spawn(self):
        self.process = self.popen([program.BINARY, *self.arguments(), "--spawn", str(WORKERS)], "",
                                  {**self.env, **self.shim})

    def start_tcp(self):
        address = f"{cable.NEAR if self.cable else '127.0.0.1'}:{program.free_port()}"
        unprotected = ["--insecure"] if self.cable else []
        self.process = self.popen([*self.at("near"), program.BINARY, *self.arguments(), "--listen", address, "--workers",
                                   str(WORKERS), *unprotected], "")
        for index in range(WORKERS):
            is_victim = index == WORKERS - 1
            self.workers.append(self.popen(
                [*self.at("far" if is_victim else "near"), program.BINARY, "worker", "--join", address, *unprotected, "--root",
                 "/"], f"-worker-{index}", {**self.env, **(self.shim if is_victim else {})}))

    def wait_for_second_repetition(self):
        """Waits until lanes have done ops in the second repetition."""
        deadline = time.monotonic() + program.PATIENCE_S
        while time.monotonic() < deadline and self.process.poll() is None:
            with contextlib.suppress(OSError, IndexError, ValueError):
                rows = [line.split(",") for line in (self.place / "live.csv").read_text().splitlines()]
                phase, ops = rows[0].index("phase_index"), rows[0].index("ops")
                if any(row[phase] == "1" and int(row[ops]) > 0 for row in rows[1:]):
                    return
            time.sleep(0.05)
        raise AssertionError(f"{self.case.name}: no second repetition\n{(self.place / 'stderr').read_text()}")

    def victim(self):
        if self.case.transport == "mpi":
            return ranks_of(self.tag)[WORKERS - 1]
        return self.workers[-1].pid if self.workers else workers_of(self.tag, self.process.pid)[-1]

    def coordinator(self):
        return ranks_of(self.tag)[0] if self.case.transport == "mpi" else self.process.pid

    def strike(self):
        fault = self.case.fault
        if fault == "worker killed":
            os.kill(self.victim(), signal.SIGKILL)
        elif fault == "worker stopped":
            os.kill(self.victim(), signal.SIGSTOP)
        elif fault.startswith("connection cut"):
            self.cable.pull()
        elif fault == "coordinator killed":
            os.kill(self.coordinator(), signal.SIGKILL)
        elif fault.startswith("coordinator stopped"):
            os.kill(self.coordinator(), signal.SIGSTOP)
        elif fault == "results disk full":
            with contextlib.suppress(OSError), open(self.out.parent / "filler", "wb") as filler:
                while True:
                    filler.write(bytes(4096))
                    filler.flush()
        elif fault in ORDERS:
            # Over spawn, every process has the library.
            (self.place / "order.new").write_text(f"{ORDERS[fault]}@{self.victim()}")
            os.rename(self.place / "order.new", self.order)
        else:
            assert fault == "nothing"

    def texts(self):
        return "\n".join(text.read_text() for text in sorted(self.place.glob("stderr*")))

    def wait_for(self, what, condition):
        deadline = time.monotonic() + program.PATIENCE_S
        while not condition():
            assert time.monotonic() < deadline, f"{self.case.name}: no {what}\n{self.texts()}"
            time.sleep(0.05)

    def is_saved(self):
        """The run has ended and says so. mpirun may still wait for a host."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self.out / "result.json").read_text())["run"]["exit_code"] is not None
        return self.process.poll() is not None

    def relieve(self):
        """Ends the fault, if it ends."""
        fault = self.case.fault
        if fault == "connection cut for a while":
            time.sleep(SHORT_CUT_S)
            self.cable.plug()
        elif fault == "connection cut for good":
            self.wait_for("end", self.is_saved)
            self.cable.plug()  # mpirun waits for its daemon there, by default for eight minutes
        elif fault == "coordinator stopped for a while":
            time.sleep(SHORT_STOP_S)
            os.kill(self.coordinator(), signal.SIGCONT)
        elif fault == "coordinator stopped for good":
            coordinator = self.coordinator()
            if self.case.transport == "mpi":  # the others stay as processes
                self.wait_for("end of leases", lambda: self.texts().count("its lanes are stopped") == WORKERS - 1)
                time.sleep(1)  # they clear up
            else:
                self.wait_for("end of workers", lambda: all(worker.poll() is not None for worker in self.workers) and
                              (self.workers or not workers_of(self.tag, coordinator)))
            os.kill(coordinator, signal.SIGCONT)

    def run(self):
        try:
            self.start()
            if self.case.fault != "nothing":
                self.wait_for_second_repetition()
                self.strike()
                self.relieve()
            self.process.wait(timeout=program.PATIENCE_S)
            if self.case.fault == "worker stopped" and self.case.transport == "tcp":
                os.kill(self.victim(), signal.SIGCONT)  # it learns that it was dropped from the run
            return self.outcome()
        finally:
            for pid in tagged(self.tag):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in filter(None, (self.process, *self.workers)):
                process.wait()
            if self.cable:
                self.cable.close()
            if self.mounted:
                subprocess.run(["umount", self.out.parent], check=True)

    def outcome(self):
        deadline = time.monotonic() + 15
        while (left := tagged(self.tag)) and time.monotonic() < deadline:
            for worker in self.workers:
                worker.poll()
            time.sleep(0.05)
        if self.mounted:
            (self.out.parent / "filler").unlink()
        report = program.plain("report", self.out, "--format", "json")
        saved = self.out / "result.json"
        saved_code = json.loads(saved.read_text())["run"]["exit_code"] if saved.exists() else None
        data_left = (self.path / program.DATA_DIRECTORY).exists()
        clean = program.plain("clean", self.path).code if data_left else 0
        return Outcome(code=self.process.returncode, stderr=self.texts(),
                       result=json.loads(report.stdout) if report.stdout.startswith("{") else None,
                       saved_code=saved_code, report_code=report.code, left_processes=left, data_left=data_left,
                       clean_code=clean)


# The victim's orders to the fault library.
ORDERS = {"EIO": "5", "ESTALE": "116", "hung lane": "hang", "slow lane": "slow"}
