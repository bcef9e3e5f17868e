"""What a process gets from whoever starts it: standard descriptors that are closed, limits of processes, threads and memory."""
import contextlib
import errno
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import pytest

import preloaded
import program

SMALL = ("-i", "0", "-i", "1", "-s", "1m", "-r", "64k", "-t", "1")

# ------------------------------------------------------------------------------------------- closed descriptors

CLOSED = [closed for count in (1, 2, 3) for closed in itertools.combinations((0, 1, 2), count)]


def without(descriptors, *command):
    """The command, started with these of the standard descriptors closed."""
    closing = "".join(f" {number}{'<' if number == 0 else '>'}&-" for number in descriptors)
    return ("bash", "-c", f'exec "$@"{closing}', "bash", *command)


@pytest.mark.parametrize("closed", CLOSED, ids=str)
def test_closed_standard_descriptors_are_not_taken_by_files(closed, path, out):
    outcome = program.run([*SMALL, "--spawn", "2", "--verify", "-w"], path=path, out=out, prefix=without(closed)).expect(0)
    assert [phase["name"] for phase in outcome.phases] == ["write", "rewrite", "read", "reread"]
    assert (outcome.stdout == "") == (1 in closed) and outcome.stderr == ""
    assert program.plain("report", out).expect(0).stdout.count("reread") > 0
    assert [file.stat().st_size for file in sorted(outcome.data.glob("lane-*"))] == [1 << 20] * 2


@pytest.mark.parametrize("closed", [(0,), (1,), (0, 1, 2)], ids=str)
def test_a_hook_and_a_worker_get_all_three_descriptors(closed, path, out, tmp_path):
    """What they print, or read, must not be a file of the run."""
    hook = f"readlink /proc/self/fd/0 > {tmp_path}/hook; cat; echo out; echo err >&2"
    address = f"unix:{tmp_path}/socket"
    worker = without(closed, program.BINARY, "worker", "--join", address, "--root", "/")
    program.run([*SMALL, "--listen", address, "--workers", "1", "--before-phase", hook], path=path, out=out, helpers=(worker,),
                prefix=without(closed)).expect(0)
    assert (tmp_path / "hook").read_text() == "/dev/null\n"
    assert [entry.name for entry in path.iterdir()] == ["somebody-elses"]


def test_a_report_for_a_closed_standard_output_harms_nothing(path, out):
    program.run(SMALL, path=path, out=out).expect(0)
    before = (out / "result.json").read_bytes()
    subprocess.run(without((1,), program.BINARY, "report", str(out)), check=True, timeout=program.PATIENCE_S)
    assert (out / "result.json").read_bytes() == before

# ------------------------------------------------------------------- limits of threads, processes and memory

SUPPORT = pathlib.Path(__file__).resolve().parents[1] / "support"
TINY = ("-i", "0", "-+n", "-s", "1m", "-r", "64k")


def ends_clearly(outcome, *words, codes=(1,)):
    """One line says what is wrong, no library's last words; nothing is left, and nobody was killed."""
    assert outcome.code in codes, outcome
    said = outcome.stderr.splitlines()
    assert said and all(line.startswith("cluster-iobench") for line in said), outcome
    assert any(all(word in line for word in words) for line in said), outcome
    assert not outcome.data.exists(), outcome
    return outcome


@pytest.fixture
def pids_group():
    """A function that makes a control group that holds as many threads, and returns the prefix that puts a command there."""
    mounted = pathlib.Path("/sys/fs/cgroup/pids")
    parent = mounted if mounted.exists() else pathlib.Path("/sys/fs/cgroup")
    made = []

    def make(most):
        group = parent / f"iobench-test-{os.getpid()}-{len(made)}"
        try:
            group.mkdir()
            made.append(group)
            (group / "pids.max").write_text(str(most))
        except OSError as error:
            pytest.skip(f"NOT TESTED: control groups cannot be made here: {error}")
        return ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
    yield make
    for group in made:
        for pid in (group / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        deadline = time.monotonic() + program.PATIENCE_S
        while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
        group.rmdir()


def test_more_processes_than_a_control_group_holds_are_refused(pids_group, path, out):
    outcome = program.run([*TINY, "--spawn", "8", "-t", "1"], path=path, out=out, prefix=pids_group(60))
    ends_clearly(outcome, "8 workers", "needs", "pids.max of the control group", "is 60", "use fewer workers")
    assert len(outcome.stderr.splitlines()) == 1 and not out.exists()


def test_more_lanes_than_a_control_group_holds_are_refused(pids_group, path, out):
    outcome = program.run([*TINY, "-t", "40"], path=path, out=out, prefix=pids_group(30))
    ends_clearly(outcome, "the lanes of a worker need 40 threads", "pids.max", "is 30", "use fewer lanes")


def test_what_a_control_group_holds_runs(pids_group, path, out):
    program.run([*TINY, "--spawn", "2", "-t", "2"], path=path, out=out, prefix=pids_group(120)).expect(0)


@pytest.mark.parametrize("options", [("--spawn", "8", "-t", "1"), ("-t", "64")], ids=" ".join)
def test_the_limit_of_a_users_processes_is_counted(options, nobody):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:    # that of pytest belongs to root alone
        os.chmod(directory, 0o777)
        outcome = program.run([*TINY, *options], path=pathlib.Path(directory), out=f"{directory}/out",
                              prefix=("prlimit", "--nproc=40", *nobody))
        ends_clearly(outcome, "(ulimit -u) is 40")


@pytest.mark.parametrize("options", [("-t", "2"), ("--spawn", "2", "-t", "1")], ids=" ".join)
def test_a_filter_without_clone3_is_named(options, path, out):
    outcome = program.run([*TINY, *options], path=path, out=out, prefix=(sys.executable, SUPPORT / "without_clone3.py"))
    ends_clearly(outcome, "cannot start a thread", "EPERM", "clone3")


@pytest.mark.unsanitized    # sanitizers map terabytes
@pytest.mark.parametrize("megabytes", [110, 160, 220, 300, 500])
@pytest.mark.parametrize("options", [("-t", "8"), ("--spawn", "2", "-t", "4")], ids=" ".join)
def test_little_memory_ends_a_run_clearly_if_it_is_not_enough(options, megabytes, path, out):
    outcome = program.run([*TINY, *options], path=path, out=out, prefix=("prlimit", f"--as={megabytes << 20}"))
    if outcome.code == 0:
        assert outcome.result["run"]["exit_code"] == 0
        return
    if outcome.code != 2:
        ends_clearly(outcome, "ulimit -v", codes=(1, 3))
        return
    # In the middle of a phase: lanes fail, or the run ends, and what it leaves is removed as after any other sudden end.
    assert "memory" in outcome.stdout + outcome.stderr and "terminate" not in outcome.stderr, outcome
    if outcome.data.exists():
        program.plain("clean", path).expect(0)


@pytest.fixture(scope="session")
def refused_threads(tmp_path_factory):
    """A function that returns the environment in which a process can start only so many threads."""
    library = preloaded.build(pathlib.Path(__file__).with_name("thread_shim.c"), tmp_path_factory.mktemp("shim"))

    def environment(allowed, error, of=None):
        more = {"THREADS_OF": of} if of else {}
        return program.clean_environment(LD_PRELOAD=str(library), THREADS_ALLOWED=str(allowed), THREADS_ERRNO=str(error), **more)
    return environment


@pytest.mark.unsanitized    # the library that injects faults must come first
@pytest.mark.parametrize("options, of, last", [
    (("-t", "4"), None, 5),
    (("--spawn", "2", "-t", "2"), None, 12),
    (("--spawn", "2", "-t", "2", "--join-timeout", "5"), "worker", 12),
], ids=["in-process", "coordinator", "worker"])
def test_every_thread_that_is_refused_ends_the_run_clearly(options, of, last, refused_threads, path, out, tmp_path):
    for allowed in range(last):
        outcome = program.run([*TINY, *options], path=path, out=tmp_path / f"out-{allowed}",
                              env=refused_threads(allowed, errno.EAGAIN, of))
        if outcome.code != 0:
            ends_clearly(outcome, codes=(1, 2, 3))
            assert "thread" in outcome.stderr, f"{allowed} threads: {outcome}"
    ends_clearly(program.run([*TINY, *options], path=path, out=out, env=refused_threads(0, errno.EAGAIN, of)),
                 "cannot start a thread", codes=(1, 3))
