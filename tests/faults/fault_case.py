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
import socket
import subprocess
import threading
import time
import uuid

import program

PACE = 50
SECONDS = 3
# Long enough that a busy machine loses no worker without a fault.
LEASE_S, LOST_AFTER_S, STALL_S = 4, 6, 4
# The options for each operation. A record is a page, to keep the data small.
OPERATIONS = {
    "write": ("-i", "0", "-+n", "-r", "4k", "-s", "256k"),
    "read": ("-i", "1", "-+n", "-r", "4k", "-s", "256k"),
    "metadata": ("--op", "stat", "--items", "50"),
}
COMMON = ("--repeat", "3", "--time", str(SECONDS), "-+O", str(PACE), "--lease", str(LEASE_S), "--lost-after", str(LOST_AFTER_S),
          "--stall-timeout", str(STALL_S), "-t", "1")
WORKERS = 3


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


@dataclasses.dataclass
class Case:
    fault: str
    transport: str
    operation: str

    @property
    def name(self):
        return f"{self.fault}-{self.transport}-{self.operation}"


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
    leaves_after_s: float | None  # from the fault in the coordinator until the last worker had ended


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


def ranks_of(tag):
    """rank -> process id, without the janitors of ranks"""
    found = {}
    for pid in tagged(tag):
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{pid}/comm").read_text() == "iobench-janitor\n":
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
        self.workers, self.proxy, self.mounted = [], None, False

    def arguments(self):
        return [*OPERATIONS[self.case.operation], *COMMON, "--path", str(self.path), "--out", str(self.out), "--live-csv",
                str(self.place / "live.csv")]

    def start(self):
        if self.case.fault == "results disk full":
            self.out.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.out], check=True)
            self.mounted = True
            self.out = self.out / "results"
        if self.case.transport == "mpi":
            # The last rank is the victim: it alone has the library.
            shim = [word for name, value in self.shim.items() for word in ("-x", f"{name}={value}")]
            command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-x", "FAULT_CASE", "-np", str(WORKERS - 1),
                       program.BINARY, *self.arguments(), ":", *shim, "-x", "FAULT_CASE", "-np", "1", program.BINARY,
                       *self.arguments()]
        else:
            port = program.free_port()
            command = [program.BINARY, *self.arguments(), "--listen", f"127.0.0.1:{port}", "--workers", str(WORKERS)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.place / "stderr", "w"), env=self.env, start_new_session=True)
        if self.case.transport == "mpi":
            return
        for index in range(WORKERS):
            is_victim = index == WORKERS - 1
            address = f"127.0.0.1:{port}"
            if is_victim and self.case.fault == "connection cut":
                self.proxy = Proxy(port)
                address = self.proxy.address
            self.workers.append(subprocess.Popen(
                [program.BINARY, "worker", "--join", address, "--root", "/"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=open(self.place / f"stderr-worker-{index}", "w"),
                env={**self.env, **(self.shim if is_victim else {})}, start_new_session=True))

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
        return ranks_of(self.tag)[WORKERS - 1] if self.case.transport == "mpi" else self.workers[-1].pid

    def coordinator(self):
        return ranks_of(self.tag)[0] if self.case.transport == "mpi" else self.process.pid

    def strike(self):
        fault = self.case.fault
        if fault == "worker killed":
            os.kill(self.victim(), signal.SIGKILL)
        elif fault == "worker stopped":
            os.kill(self.victim(), signal.SIGSTOP)
        elif fault == "connection cut":
            self.proxy.cut.set()
        elif fault == "coordinator killed":
            os.kill(self.coordinator(), signal.SIGKILL)
        elif fault == "coordinator stopped":
            os.kill(self.coordinator(), signal.SIGSTOP)
        elif fault == "results disk full":
            with contextlib.suppress(OSError), open(self.out.parent / "filler", "wb") as filler:
                while True:
                    filler.write(bytes(4096))
                    filler.flush()
        elif fault in ORDERS:
            (self.place / "order.new").write_text(ORDERS[fault])
            os.rename(self.place / "order.new", self.order)
        else:
            assert fault == "nothing"

    def run(self):
        self.start()
        leaves_after_s = None
        try:
            if self.case.fault != "nothing":
                self.wait_for_second_repetition()
                self.strike()
            struck = time.monotonic()
            if self.case.fault.startswith("coordinator") and self.case.transport == "grpc":
                for worker in self.workers:
                    worker.wait(timeout=program.PATIENCE_S)
                leaves_after_s = time.monotonic() - struck
                self.process.send_signal(signal.SIGCONT)
            self.process.wait(timeout=program.PATIENCE_S)
            if self.case.fault == "worker stopped" and self.case.transport == "grpc":
                os.kill(self.victim(), signal.SIGCONT)  # it learns that it was dropped from the run
            return self.outcome(leaves_after_s)
        finally:
            if self.proxy:
                self.proxy.close()
            for pid in tagged(self.tag):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for process in (self.process, *self.workers):
                process.wait()
            if self.mounted:
                subprocess.run(["umount", self.out.parent], check=True)

    def outcome(self, leaves_after_s):
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
        texts = sorted(self.place.glob("stderr*"))
        return Outcome(code=self.process.returncode, stderr="\n".join(text.read_text() for text in texts),
                       result=json.loads(report.stdout) if report.stdout.startswith("{") else None,
                       saved_code=saved_code, report_code=report.code, left_processes=left, data_left=data_left,
                       clean_code=clean, leaves_after_s=leaves_after_s)


# The victim's orders to the fault library.
ORDERS = {"EIO": "5", "ESTALE": "116", "hung lane": "hang", "slow lane": "slow"}
