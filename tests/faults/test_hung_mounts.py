"""A mount of the coordinator's host hangs: the program says which call on what it waits for, ends on Ctrl-C, and gives up."""
import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import uuid

import hanging_mount
import program
import pytest

pytestmark = pytest.mark.skipif(not hanging_mount.is_possible(), reason="needs root and /dev/fuse")

SMALL = ("-i", "0", "-+n", "-r", "4k", "-s", "64k", "-t", "1")
TARGET, RESULTS, INTERRUPTED = 3, 2, 130
KILLED = -signal.SIGINT
PLAN = "targets: [{path: /tmp}]\n"


@dataclasses.dataclass
class Case:
    """What is on the mount HUNG, and what happens. Other paths begin with FINE."""
    name: str
    words: tuple
    path: str  # that the line on stderr names
    code: int  # when the wait is given up
    env: dict = dataclasses.field(default_factory=dict)
    in_hung: bool = False  # the current directory is on the mount


WORKERS = {"here": (), "spawned": ("--spawn", "2"), "listening": ("--listen", "127.0.0.1:0", "--workers", "2")}
ON_TARGET = [
    Case(f"{command}, {where}: target", (command, *words, *more, "--path", "HUNG/target"), "HUNG/target", TARGET)
    for command, more in (("run", SMALL), ("preflight", ()), ("validate", ()), ("capacity", ()))
    for where, words in WORKERS.items()]
ON_RESULTS = [
    Case("run: out", (*SMALL, "--path", "FINE", "--out", "HUNG/out"), "HUNG/out", RESULTS),
    Case("run --spawn: out", (*SMALL, "--path", "FINE", "--out", "HUNG/out", "--spawn", "2"), "HUNG/out", RESULTS),
    Case("run: current directory", (*SMALL, "--path", "FINE"), "HUNG", RESULTS, in_hung=True),
    Case("capacity: out", ("capacity", "--path", "FINE", "--out", "HUNG/out"), "HUNG/out", RESULTS),
    Case("run: resume", ("run", "--resume", "HUNG/saved"), "HUNG/saved", RESULTS),
    Case("run: workbook", (*SMALL, "--path", "FINE", "--out", "FINE/o", "-b", "HUNG/x.xlsx"), "HUNG/x.xlsx", RESULTS),
    Case("run: live CSV", (*SMALL, "--path", "FINE", "--out", "FINE/o", "--live-csv", "HUNG/l.csv"), "HUNG/l.csv", RESULTS),
    Case("validate: output", ("validate", "--path", "FINE", "--spawn", "2", "--output", "HUNG/x.json", "--format", "json"),
         "HUNG/x.json", RESULTS),
]
ON_INPUT = [
    Case("run: plan", ("--plan", "HUNG/plan.yaml", "--out", "FINE/o"), "HUNG/plan.yaml", RESULTS),
    Case("run: client list", (*SMALL, "-+m", "HUNG/clients"), "HUNG/clients", RESULTS),
    Case("run: host list", (*SMALL, "--path", "FINE", "--hosts", "@HUNG/hosts"), "HUNG/hosts", RESULTS),
    Case("run: token", (*SMALL, "--path", "FINE", "--out", "FINE/o", "--listen", "127.0.0.1:0", "--workers", "1",
                        "--token-file", "HUNG/token"), "HUNG/token", RESULTS),
    Case("run: certificate", (*SMALL, "--path", "FINE", "--out", "FINE/o", "--listen", "127.0.0.1:0", "--workers", "1",
                              "--tls-cert", "HUNG/cert", "--tls-key", "HUNG/key"), "HUNG/cert", RESULTS),
    Case("run: TMPDIR", (*SMALL, "--path", "FINE", "--out", "FINE/o", "--spawn", "1"), "HUNG", RESULTS, {"TMPDIR": "HUNG"}),
    Case("selftest: TMPDIR", ("selftest", "--spawn", "1"), "HUNG", RESULTS, {"TMPDIR": "HUNG"}),
    Case("run: mix", ("--mix", "HUNG/mix.yaml", "--path", "FINE", "--out", "FINE/o"), "HUNG/mix.yaml", RESULTS),
    Case("validate: expect", ("validate", "--path", "FINE", "--spawn", "2", "--expect", "HUNG/e.yaml"), "HUNG/e.yaml", RESULTS),
    Case("validate: waive", ("validate", "--path", "FINE", "--spawn", "2", "--waive", "HUNG/w.yaml"), "HUNG/w.yaml", RESULTS),
]
# They have no limit of their own, and Ctrl-C ends them.
WITHOUT_LIMIT = [
    Case("report", ("report", "HUNG/saved"), "HUNG/saved", RESULTS),
    Case("compare", ("compare", "HUNG/saved", "HUNG/other"), "HUNG/saved", RESULTS),
    Case("history", ("history", "HUNG/saved", "HUNG/other"), "HUNG/saved", RESULTS),
    Case("clean", ("clean", "HUNG/target"), "HUNG/target", TARGET),
    Case("observe", ("observe", "--for", "1h", "--path", "HUNG/target"), "HUNG/target", TARGET),
    Case("observe: counters", ("observe", "--for", "1h", "--path", "FINE", "--mountstats", "HUNG/s"), "HUNG/s", RESULTS),
]
WITH_LIMIT = [*ON_TARGET, *ON_RESULTS, *ON_INPUT]


class Running(contextlib.ExitStack):
    """The program, with its outputs in files: a process that hangs would keep pipes open. It begins on go()."""

    WAIT = 'cd "$1" && shift && touch "$GO.ready" && until [ -e "$GO" ]; do sleep 0.02; done; exec "$@"'

    def __init__(self, words, place, env, cwd):
        super().__init__()
        self.order = place / "go"
        self.mark = {"IOBENCH_TEST_RUN": uuid.uuid4().hex}
        self.outputs = {name: place / name for name in ("stdout", "stderr")}
        files = {name: self.enter_context(file.open("w")) for name, file in self.outputs.items()}
        environment = program.clean_environment(**env, **self.mark, GO=str(self.order))
        self.process = subprocess.Popen(["bash", "-c", self.WAIT, "bash", str(cwd), program.BINARY, *words], env=environment,
                                        stdin=subprocess.DEVNULL, start_new_session=True, **files)
        self.callback(self.process.kill)
        assert hanging_mount.wait_until(self.order.with_suffix(".ready").exists, program.PATIENCE_S)

    def go(self):
        self.order.touch()

    @property
    def stderr(self):
        return self.outputs["stderr"].read_text()

    @property
    def stdout(self):
        return self.outputs["stdout"].read_text()

    def wait_for(self, condition, what):
        hanging_mount.wait_until(lambda: condition() or self.process.poll() is not None, program.PATIENCE_S)
        assert condition(), (what, self.process.poll(), self.stderr)

    def wait_for_line(self, path):
        line = re.compile(rf"does not answer: \w+( \w+)? {re.escape(path)}\S* has taken .*Ctrl-C stops waiting")
        self.wait_for(lambda: line.search(self.stderr), f"a line about {path}")

    def end(self):
        try:
            return self.process.wait(program.PATIENCE_S)
        except subprocess.TimeoutExpired as deaf:
            raise AssertionError(f"deaf: {self.process.args}\n{self.stderr}") from deaf

    def has_left(self):
        mark = "=".join(*self.mark.items()).encode()
        for each in pathlib.Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in each.read_bytes():
                    return True
        return False


@pytest.fixture
def mount():
    """Its path is short enough for one of a socket."""
    with tempfile.TemporaryDirectory(prefix="hung-", dir="/tmp") as place, hanging_mount.HangingMount(place) as mounted:
        for directory in ("target", "saved", "other"):
            (mounted.place / directory).mkdir()
        yield mounted


@pytest.fixture
def begin(mount, tmp_path):
    """Starts a case; returns it as it runs, and the path that it must name."""
    with contextlib.ExitStack() as ends:
        def start(case, *more):
            fine = tmp_path / "fine"
            fine.mkdir()

            def placed(text):
                return text.replace("HUNG", str(mount.place)).replace("FINE", str(fine))

            running = ends.enter_context(Running([*map(placed, case.words), *more], tmp_path,
                                                 {name: placed(value) for name, value in case.env.items()},
                                                 mount.place if case.in_hung else tmp_path))
            return running, placed(case.path)
        yield start


def name_of(case):
    return case.name


@pytest.mark.parametrize("case", WITH_LIMIT, ids=name_of)
def test_a_mount_that_hangs_before_the_start_is_named_and_given_up(case, mount, begin):
    running, path = begin(case, "--stall-timeout", "1")
    mount.hang()
    running.go()
    running.wait_for_line(path)
    assert running.end() == case.code, running.stderr
    last = running.stderr.splitlines()[-1]
    assert path in last and "the file system does not answer" in last, running.stderr
    mount.answer()
    assert hanging_mount.wait_until(lambda: not running.has_left(), program.PATIENCE_S)


@pytest.mark.parametrize("case", [*WITH_LIMIT, *WITHOUT_LIMIT], ids=name_of)
def test_ctrl_c_ends_the_wait_for_it(case, mount, begin):
    running, path = begin(case)
    mount.hang()
    running.go()
    running.wait_for_line(path)
    os.killpg(running.process.pid, signal.SIGINT)
    assert running.end() in (INTERRUPTED, KILLED), running.stderr
    mount.answer()
    assert hanging_mount.wait_until(lambda: not running.has_left(), program.PATIENCE_S)


LONG = ("--path", "FINE", "--out", "HUNG/out", "--repeat", "50", "--time", "1")
LATER = [Case(f"{name}: {what}", (*SMALL, *words, *LONG, *more), "HUNG/out", RESULTS)
         for name, words in (("run", ()), ("run --spawn", ("--spawn", "2")))
         for what, more in (("console", ()), ("JSON", ("--format", "json")))]


@pytest.mark.parametrize("case", LATER, ids=name_of)
@pytest.mark.parametrize("ends", ["limit", "Ctrl-C"])
def test_results_that_hang_after_the_first_phase_are_printed_instead(case, ends, mount, begin):
    running, path = begin(case, "--stall-timeout", "4" if ends == "limit" else "0")
    running.go()
    running.wait_for(lambda: (mount.place / "out" / "raw" / "phase-000.pb").exists(), "a phase")
    mount.hang()
    running.wait_for_line(path)
    if ends == "Ctrl-C":
        os.killpg(running.process.pid, signal.SIGINT)
    assert running.end() == (RESULTS if ends == "limit" else INTERRUPTED), running.stderr
    assert "results are incomplete" in running.stdout + running.stderr, running.stdout
    assert re.search(r"^  write(, \d of 50)? +[\d.,]+ ", running.stdout, re.M), running.stdout
    mount.answer()
    assert hanging_mount.wait_until(lambda: not running.has_left(), program.PATIENCE_S)


def test_a_mount_that_answers_in_time_costs_nothing(mount, begin):
    case = Case("", (*SMALL, "--path", "FINE", "--out", "HUNG/out", "--repeat", "2", "--spawn", "2"), "HUNG/out", 0)
    running, path = begin(case, "--stall-timeout", "0")
    mount.hang()
    running.go()
    running.wait_for_line(path)
    mount.answer()
    assert running.end() == 0, running.stderr
    assert "answers again" in running.stderr
    assert (mount.place / "out" / "result.json").exists() and not running.has_left()
