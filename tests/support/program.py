"""Starts cluster-iobench as users do, on every transport, and holds what a run left behind."""
import contextlib
import csv
import io
import itertools
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import pytest
import schema

BINARY = os.environ.get("CLUSTER_IOBENCH", "")
DATA_DIRECTORY = "cluster-iobench.data"
RESULT_FILES = ("result.json", "phases.csv", "clients.csv", "result.csv")      # every run has these, besides raw/
# Sanitizers make everything several times slower: this only ends a hang.
PATIENCE_S = int(os.environ.get("PATIENCE_S", 120))
# The transport "mpi" among a test's parameters, with the marker by which ctest tells its tests from the others.
MPI = pytest.param("mpi", marks=pytest.mark.mpi)
LAUNCHER_VARIABLES = ("OMPI_", "PMIX_", "PMI_", "SLURM_", "FLUX_", "PALS_", "JSM_")


def require_binary():
    """Ends the session if the program is missing, without which no test of the folder can run. For conftest.py."""
    if not BINARY or not pathlib.Path(BINARY).is_file():
        raise pytest.UsageError("set CLUSTER_IOBENCH to the built program, or use ctest")


def clean_environment(**extra):
    """Our environment without variables that an MPI launcher or batch system around the tests may have set."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER_VARIABLES) and k != "COLUMNS"}
    env.update(extra)
    return env


class Outcome:
    """A finished run: exit code, what it printed, what it saved."""

    def __init__(self, command, code, stdout, stderr, out, path):
        self.command, self.code = command, code
        self.stdout, self.stderr = stdout, stderr
        self.out, self.path = pathlib.Path(out), pathlib.Path(path)

    @property
    def result(self):
        return schema.load(self.out / "result.json")

    @property
    def rows(self):
        return list(csv.DictReader(io.StringIO((self.out / "result.csv").read_text())))

    @property
    def phases(self):
        return self.result["phases"]

    @property
    def data(self):
        return self.path / DATA_DIRECTORY

    def phase(self, operation):
        found = [phase for phase in self.phases if phase["operation"] == operation]
        assert found, f"no phase {operation}: {[phase['operation'] for phase in self.phases]}"
        return found[0]

    def expect(self, code):
        assert self.code == code, f"exit code {self.code}, expected {code}\n{self}"
        return self

    def __str__(self):
        return (f"$ {' '.join(map(str, self.command))}\nexit code {self.code}\n"
                f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}")


class Running:
    """A run that has been started. Always used as a context manager: nothing of it outlives the test."""

    def __init__(self, command, out, path, env, helpers=()):
        self.command, self.out, self.path = command, pathlib.Path(out), pathlib.Path(path)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=env, start_new_session=True)
        self.workers = [subprocess.Popen(helper, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True, env=env, start_new_session=True)
                        for helper in helpers]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in (self.process, *self.workers):
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()

    def interrupt(self, number=signal.SIGINT):
        self.process.send_signal(number)

    def data_bytes(self):
        """The size of all data files so far."""
        total = 0
        with contextlib.suppress(FileNotFoundError):  # the directory vanishes
            for file in self.path.glob(f"{DATA_DIRECTORY}/*"):
                with contextlib.suppress(FileNotFoundError):
                    total += 0 if file.name.startswith("manifest") else file.stat().st_size
        return total

    def wait_until(self, condition, what):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if self.process.poll() is not None:
                raise AssertionError(f"the run ended before {what}\n{self.wait()}")
            assert time.monotonic() < deadline, f"{what} did not happen"
            time.sleep(0.02)

    def wait(self, timeout=PATIENCE_S):
        try:
            stdout, stderr = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as hung:
            os.killpg(self.process.pid, signal.SIGKILL)
            stdout, stderr = self.process.communicate()
            raise AssertionError(f"hung: {' '.join(self.command)}\n{stdout}\n{stderr}") from hung
        for worker in self.workers:
            worker.wait(timeout=timeout)
        return Outcome(self.command, self.process.returncode, stdout, stderr, self.out, self.path)


@contextlib.contextmanager
def beside(command, what):
    """Runs a command beside the block, after which it must have ended: `what` says what it waits for.

    It is killed if it has not. Otherwise it would go on for ever, and hold pytest's outputs, whose end ctest awaits.
    """
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            yield process
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired as hung:
            raise AssertionError(f"still waits for {what}: {' '.join(map(str, command))}") from hung
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def start(args, *, path, out, env=None, prefix=(), helpers=()):
    command = [*prefix, BINARY, *args, "--path", str(path), "--out", str(out)]
    return Running(command, out, path, env or clean_environment(), helpers)


def run(args, *, path, out, env=None, prefix=(), helpers=()):
    with start(args, path=path, out=out, env=env, prefix=prefix, helpers=helpers) as running:
        return running.wait()


def start_bare(command):
    """Starts a complete command, for runs without --path and --out."""
    return Running(list(map(str, command)), "/nonexistent", "/nonexistent", clean_environment())


def plain(*args, env=None, cwd=None):
    """Runs the program with exactly these arguments."""
    command = [BINARY, *map(str, args)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S,
                          env=env or clean_environment(), cwd=cwd, check=False)
    return Outcome(command, done.returncode, done.stdout, done.stderr, "/nonexistent", "/nonexistent")


# Put before a command to run it as the user nobody; tests use conftest.py's nobody().
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


class Ports:
    """Ports that no other test process is given, and that no outgoing connection gets from the kernel: they lie below the
    ephemeral range. A process has a block of its own for as long as it lives, by an abstract socket of the block's name."""
    FIRST, BLOCK = 10_000, 400

    def __init__(self):
        ephemeral = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
        end = ephemeral if ephemeral >= self.FIRST + 10 * self.BLOCK else 32_768
        self.claim = socket.socket(socket.AF_UNIX)
        for first in range(self.FIRST, end - self.BLOCK, self.BLOCK):
            with contextlib.suppress(OSError):
                self.claim.bind(f"\0cluster-iobench-tests-{first}")
                self.ports = itertools.cycle(range(first, first + self.BLOCK))
                return
        raise AssertionError("every block of ports is taken")

    def free(self, family):
        for port in itertools.islice(self.ports, self.BLOCK):
            with contextlib.suppress(OSError), socket.socket(family) as probe:
                probe.bind(("", port))
                return port
        raise AssertionError("no port is free")


_ports, _ports_lock = None, threading.Lock()


def free_port(family=socket.AF_INET):
    global _ports
    with _ports_lock:
        _ports = _ports or Ports()
        return _ports.free(family)


def mpirun(ranks):
    return ("mpirun", "--oversubscribe", "--allow-run-as-root", "-np", str(ranks))


class Transports:
    """How four lanes are started on each transport: all in one worker, or two in each of two."""
    lanes = 4

    def __init__(self, scratch, roots=("/",)):
        self.scratch = scratch
        self.roots = roots

    def parts(self, name):
        """(prefix, options, helper commands)"""
        if name == "in-process":
            return (), ("--transport", "local", "-t", "4"), ()
        if name == "spawn":
            return (), ("--spawn", "2", "-t", "2"), ()
        if name == "mpi":
            return mpirun(2), ("-t", "2"), ()
        address = {
            "join-tcp": lambda: f"127.0.0.1:{free_port()}",
            "join-ipv6": lambda: f"[::1]:{free_port(socket.AF_INET6)}",
            "join-unix": lambda: f"unix:{self.scratch}/coordinator.sock",
        }[name]()
        rights = [word for root in self.roots for word in ("--root", root)] + ["--allow", "log-files,drop-caches"]
        worker = (BINARY, "worker", "--join", address, *rights)
        return (), ("--listen", address, "--workers", "2", "-t", "2"), (worker, worker)

    @staticmethod
    def workers(name):
        return 1 if name == "in-process" else 2
