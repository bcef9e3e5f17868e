"""A run that is interrupted, runs out of space or loses workers saves what it has measured."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import program
import pytest
from report_checks import check_csv, check_schema, lanes_of

LONG_WRITE = ("-i", "0", "-+n", "-r", "64k", "-s", "1m", "--time", "100")
LONG_NULL = ("-i", "0", "-i", "1", "-+n", "--engine", "null", "-r", "64k", "-s", "1m", "--time", "100")


@contextlib.contextmanager
def tiny_file_system(place, size):
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def start_long_write(transport, path, out, tmp_path, *more):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    return program.start([*LONG_WRITE, *options, *more], path=path, out=out, prefix=prefix, helpers=helpers)


# ------------------------------------------------------------------------------------------ interrupted


@pytest.mark.parametrize("keep", [False, True], ids=["removed", "kept"])
@pytest.mark.parametrize("transport", ["in-process", "spawn", "join-unix", program.MPI])
def test_ctrl_c_saves_what_was_done(transport, keep, path, out, tmp_path):
    with start_long_write(transport, path, out, tmp_path, *(["-w"] if keep else [])) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        running.interrupt()
        outcome = running.wait()
    if transport != "mpi":       # mpirun answers with a code of its own
        outcome.expect(130)
    result = outcome.result
    check_schema(result)
    assert result["run"]["exit_code"] == 130
    phase, = result["phases"]
    assert phase["interrupted"] and phase["bytes"] >= 4 << 20
    assert outcome.data.exists() == keep
    if keep:
        manifest = json.loads((outcome.data / "manifest.json").read_text())
        assert manifest["program"] == "cluster-iobench"


def test_ctrl_c_reaches_the_whole_process_group_as_in_a_shell(path, out, tmp_path):
    with start_long_write("spawn", path, out, tmp_path) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        os.killpg(running.process.pid, signal.SIGINT)
        outcome = running.wait().expect(130)
    assert outcome.phases[0]["interrupted"] and not outcome.data.exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_and_a_closed_terminal_are_interrupts_too(number, path, out, tmp_path):
    with start_long_write("in-process", path, out, tmp_path) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        running.interrupt(number)
        outcome = running.wait().expect(130)
    assert outcome.phases[0]["bytes"] > 0 and not outcome.data.exists()


def test_ctrl_c_while_waiting_for_workers(path, out, tmp_path):
    with program.start([*LONG_WRITE, "--listen", f"unix:{tmp_path}/s", "--workers", "2", "--progress"], path=path,
                       out=out) as running:
        running.wait_until((tmp_path / "s").exists, "the coordinator listens")
        running.interrupt()
        outcome = running.wait().expect(130)
    assert not outcome.data.exists()


# ------------------------------------------------------------------------------------------- lane fails


# A record of one page is written or refused; a larger one may first be cut short, which is an error without an errno.
@pytest.mark.parametrize("record, errnos", [("4k", {28}), ("64k", {0, 28})])
def test_a_full_file_system_ends_its_lanes_and_the_others_run_on(record, errnos, path, out, tmp_path):
    with tiny_file_system(tmp_path / "tiny", "2m") as tiny:
        outcome = program.run(["-i", "0", "-i", "1", "-+n", "-r", record, "-s", "2m", "-t", "2", "--spawn", "2", "--force",
                               "--path", tiny], path=path, out=out).expect(2)
        assert not (tiny / program.DATA_DIRECTORY).exists()
    result = outcome.result
    check_schema(result)
    check_csv(outcome)
    write, read = result["phases"]
    # With --path A --path B, worker 0 has A and worker 1 has B.
    errors = {error["lane"]: error for error in write["errors"]}
    assert errors and set(errors) <= {0, 1}
    for error in errors.values():
        assert error["errno"] in errnos and error["worker"] == 0 and error["operation"] == "write"
        assert str(tiny) in error["file"] and error["offset"] < 2 << 20 and error["client"] and error["message"]
    lanes = {lane["lane"]: lane for lane in lanes_of(write)}
    for lane in (2, 3):
        assert lanes[lane]["bytes"] == 2 << 20 and not lanes[lane]["failed"]
    assert write["lanes_failed"] == len(errors)
    assert "partial" in {mark["code"] for mark in write["marks"]}
    lanes = {lane["lane"]: lane for lane in lanes_of(read)}
    for lane in range(4):
        assert lanes[lane]["sat_out"] == (lane in errors), "a lane that failed sits out phases that need its file"
    assert read["lanes_sat_out"] == len(errors)
    assert result["run"]["exit_code"] == 2


def test_a_short_file_is_an_error_of_its_lane(path, out, tmp_path):
    options = ("-r", "4k", "-s", "64k", "-t", "2", "-+n")
    program.run(["-i", "0", "-w", *options], path=path, out=out).expect(0)
    files = sorted(file for file in (path / program.DATA_DIRECTORY).iterdir() if not file.name.startswith("manifest"))
    os.truncate(files[0], 10_000)
    outcome = program.run(["-i", "1", *options], path=path, out=tmp_path / "second").expect(2)
    phase = outcome.phase("read")
    assert len(phase["errors"]) == 1 and files[0].name in phase["errors"][0]["file"]
    assert {lane["bytes"] for lane in lanes_of(phase)} >= {64 << 10}


# ---------------------------------------------------------------------------------------- workers lost


def test_a_killed_worker_is_lost_and_the_rest_is_reported(path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts("join-tcp")
    arguments = ["-i", "0", "-i", "1", "-+n", "-r", "64k", "-s", "1m", "--time", "3", "--lease", "2", *options]
    with program.start(arguments, path=path, out=out, prefix=prefix, helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        running.workers[0].send_signal(signal.SIGKILL)
        outcome = running.wait().expect(3)
    result = outcome.result
    check_schema(result)
    write = result["phases"][0]
    assert write["workers_lost"] == 1 and "partial" in {mark["code"] for mark in write["marks"]}
    workers = {worker["worker"]: worker for client in write["clients"] for worker in client["workers"]}
    lost, = [worker for worker in workers.values() if worker["lost"]]
    kept, = [worker for worker in workers.values() if not worker["lost"]]
    assert lost["lost_reason"] and kept["bytes"] > 0
    assert result["run"]["exit_code"] == 3
    if len(result["phases"]) > 1:
        assert result["phases"][1]["bytes"] > 0, "the worker that is left runs on"
    assert not outcome.data.exists(), "the data of the lost worker are removed by another one"


def children_of(pid):
    found = []
    for file in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread may have ended
            found += map(int, file.read_text().split())
    return found


def test_a_killed_coordinator_leaves_no_worker_behind(path, out, tmp_path):
    with program.start([*LONG_NULL, "--spawn", "2"], path=path, out=out) as running:
        running.wait_until(lambda: len(children_of(running.process.pid)) >= 2, "two workers")
        workers = children_of(running.process.pid)
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        deadline = program.time.monotonic() + program.PATIENCE_S
        while any(alive(pid) for pid in workers):
            assert program.time.monotonic() < deadline, "workers outlive their coordinator"
            program.time.sleep(0.05)


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


@pytest.mark.parametrize("transport", ["spawn", "join-tcp", program.MPI])
def test_a_worker_that_is_stopped_is_told_of_and_given_up(transport, path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    arguments = ["-i", "0", "-i", "1", "-+n", "-r", "64k", "-s", "1m", "--time", "2.5", "--lost-after", "3", *options]
    with program.start(arguments, path=path, out=out, prefix=prefix, helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        parent = running.process.pid
        if transport == "join-tcp":
            stopped = running.workers[1].pid
        else:
            stopped = children_of(parent)[1]
        os.kill(stopped, signal.SIGSTOP)
        running.process.wait(timeout=program.PATIENCE_S)
        if transport == "join-tcp":     # when it wakes up it learns that it was dropped from the run
            os.kill(stopped, signal.SIGCONT)
        outcome = running.wait()
    if transport != "mpi":      # mpirun answers with a code of its own
        outcome.expect(3)
    assert f"(process {stopped}) has not answered for 1.5 s" in outcome.stderr, outcome
    assert "is lost: it has not answered for 3 s" in outcome.stderr, outcome
    result = outcome.result
    check_schema(result)
    assert result["run"]["exit_code"] == 3
    assert result["phases"][0]["workers_lost"] == 1
    assert result["phases"][1]["bytes"] > 0, "the worker that is left runs on"
    deadline = time.monotonic() + program.PATIENCE_S      # mpirun does not wait until a rank that it kills has ended
    while alive(stopped):
        assert time.monotonic() < deadline, "nothing stays behind"
        time.sleep(0.02)


def test_a_worker_that_is_stopped_ends_with_a_coordinator_that_is_killed(path, out):
    with program.start([*LONG_NULL, "--spawn", "2"], path=path, out=out) as running:
        running.wait_until(lambda: len(children_of(running.process.pid)) >= 2, "two workers")
        stopped = children_of(running.process.pid)[0]
        os.kill(stopped, signal.SIGSTOP)
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        deadline = program.time.monotonic() + program.PATIENCE_S
        while alive(stopped):
            assert program.time.monotonic() < deadline, "it outlives its coordinator"
            program.time.sleep(0.05)


def wait_until_gone(file):
    deadline = time.monotonic() + program.PATIENCE_S
    while file.exists():
        assert time.monotonic() < deadline, f"{file} stays"
        time.sleep(0.05)


def coordinator_of(process):
    """The process id of the coordinator: mpirun's first rank, otherwise the program itself."""
    ranks = [pid for pid in children_of(process.pid)
             if b"OMPI_COMM_WORLD_RANK=0" in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")]
    return ranks[0] if ranks else process.pid


@pytest.mark.parametrize("transport", ["spawn", program.MPI])
def test_the_data_of_a_coordinator_that_is_killed_go_with_its_workers(transport, path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    arguments = ["-i", "0", "-+n", "-r", "64k", "-s", "1m", "--time", "100", *options]
    with program.start(arguments, path=path, out=out, prefix=prefix, helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        os.kill(coordinator_of(running.process), signal.SIGKILL)
        running.process.wait(timeout=program.PATIENCE_S)
        wait_until_gone(path / program.DATA_DIRECTORY)


def start_on_joined_workers(path, out, tmp_path, seconds):
    _, options, helpers = program.Transports(tmp_path).parts("join-tcp")
    arguments = ["-i", "0", "-+n", "-r", "64k", "-s", "1m", "--time", seconds, "--lease", "2", *options]
    env = program.clean_environment(JANITORS_OF=str(path))
    return program.start(arguments, path=path, out=out, helpers=helpers, env=env)


def wait_for_end_of_janitors(path):
    deadline = time.monotonic() + program.PATIENCE_S
    while janitors_of(path):
        assert time.monotonic() < deadline, "janitors stay"
        time.sleep(0.05)


def test_the_data_of_workers_that_joined_over_tcp_go_when_all_are_killed(path, out, tmp_path):
    with start_on_joined_workers(path, out, tmp_path, "100") as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        assert len(janitors_of(path)) == 2
        for process in (*running.workers, running.process):
            process.kill()
        wait_until_gone(path / program.DATA_DIRECTORY)
        wait_for_end_of_janitors(path)


def test_a_joined_worker_that_is_killed_leaves_the_data_to_those_who_go_on(path, out, tmp_path):
    with start_on_joined_workers(path, out, tmp_path, "4") as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        running.workers[0].kill()
        deadline = time.monotonic() + program.PATIENCE_S
        while len(janitors_of(path)) > 1:
            assert time.monotonic() < deadline, "its janitor stays"
            time.sleep(0.05)
        assert running.data_bytes() > 0, "its janitor removed what the other uses"
        outcome = running.wait()
    outcome.expect(3)
    assert outcome.phases[0]["workers_lost"] == 1
    assert not outcome.data.exists()


@pytest.mark.parametrize("transport", ["spawn", program.MPI])
def test_data_that_are_to_be_kept_outlive_a_coordinator_that_is_killed(transport, path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    arguments = ["-i", "0", "-+n", "-w", "-r", "64k", "-s", "1m", "--time", "100", *options]
    env = program.clean_environment(JANITORS_OF=str(path))
    with program.start(arguments, path=path, out=out, prefix=prefix, helpers=helpers, env=env) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        assert len(janitors_of(path)) == 2
        os.kill(coordinator_of(running.process), signal.SIGKILL)
        running.process.wait(timeout=program.PATIENCE_S)
        wait_for_end_of_janitors(path)
    assert len(list((path / program.DATA_DIRECTORY).glob("lane-*"))) == 4


def janitors_of(tag):
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_janitor = (process / "comm").read_text() == "iobench-janitor\n"
            if is_janitor and f"JANITORS_OF={tag}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found


@pytest.mark.parametrize("transport", ["spawn", program.MPI])
def test_the_directory_of_validate_goes_with_a_coordinator_that_is_killed(transport, path, out, tmp_path):
    spawned, ranks = (("--spawn", "2"), ()) if transport == "spawn" else ((), program.mpirun(2))
    command = [*ranks, program.BINARY, "validate", *spawned, "--path", str(path)]
    running = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=program.clean_environment(), start_new_session=True)
    try:
        deadline = time.monotonic() + program.PATIENCE_S
        while not list(path.glob("cluster-iobench.validate-*/*")):
            assert time.monotonic() < deadline and running.poll() is None, "validate has no directory"
            time.sleep(0.001)
        os.kill(coordinator_of(running), signal.SIGKILL)
        running.wait(timeout=program.PATIENCE_S)
        while list(path.glob("cluster-iobench.*")):
            assert time.monotonic() < deadline, list(path.rglob("*"))
            time.sleep(0.05)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def test_a_coordinator_that_was_stopped_itself_gives_nobody_up(path, out):
    arguments = ["-i", "1", "-+n", "--engine", "null", "-r", "64k", "-s", "1m", "--time", "8", "--lost-after", "4", "--spawn", "2",
                 "-t", "1", "-+O", "50"]
    with program.start(arguments, path=path, out=out) as running:
        running.wait_until((out / "raw" / "run.pb").exists, "the run")
        program.time.sleep(1.5)
        os.kill(running.process.pid, signal.SIGSTOP)
        program.time.sleep(5)
        os.kill(running.process.pid, signal.SIGCONT)
        outcome = running.wait().expect(0)
    assert "answer" not in outcome.stderr, outcome


@pytest.mark.strace
def test_a_file_system_that_hangs_is_told_of_before_the_run_begins(path, out, tmp_path):
    """The worker keeps answering, so it is not given up."""
    delay = ("strace", "-f", "-qq", "-o", str(tmp_path / "log"), "-P", str(path), "-e", "trace=faccessat2,faccessat",
             "-e", "inject=faccessat2,faccessat:delay_enter=4000000")
    outcome = program.run(["-i", "0", "-r", "4k", "-s", "64k", "--transport", "local", "--lost-after", "2"], path=path,
                          out=out, prefix=delay).expect(0)
    line, = outcome.stderr.strip().splitlines()
    assert "worker 0" in line and "still has to check its paths after 2 s" in line and "hang" in line, outcome


def test_a_worker_says_that_it_waits_for_a_coordinator(tmp_path):
    address = f"127.0.0.1:{program.free_port()}"
    outcome = program.plain("worker", "--join", address, "--root", str(tmp_path), "--join-timeout", "2.5").expect(3)
    first, last = outcome.stderr.strip().splitlines()
    assert f"waiting for a coordinator at {address} (for up to 2.5 s)" in first, outcome
    assert "no coordinator" in last and address in last, outcome
    assert "default 600" in " ".join(program.plain("worker", "--help").stdout.split())


@pytest.fixture
def short_directory():
    """A temporary directory with a short name, as a socket's path may have only about 100 characters."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield pathlib.Path(name)


def test_the_sockets_directory_of_a_killed_coordinator_goes_with_the_next_run(path, out, tmp_path, short_directory):
    temporary = short_directory
    env = program.clean_environment(TMPDIR=str(temporary))
    bystander = temporary / "cluster-iobench-backup"   # empty, but not ours
    bystander.mkdir()
    def sockets():
        return sorted(name for name in temporary.iterdir() if name != bystander)

    def running(place, out):
        return program.start([*LONG_NULL, "--spawn", "1"], path=place, out=out, env=env)

    with running(path, out) as killed:
        killed.wait_until(sockets, "a socket")
        killed.wait_until((out / "raw" / "run.pb").exists, "the run")
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait()
        stale, = sockets()
    with running(path, tmp_path / "2") as living:
        living.wait_until((tmp_path / "2" / "raw" / "run.pb").exists, "the run")
        held, = sockets()
        assert held != stale, "what the killed one left is gone"
        program.run([*LONG_NULL[:-1], "0.1", "--spawn", "1"], path=path, out=tmp_path / "3", env=env).expect(0)
        assert sockets() == [held], "what is in use stays"
        living.interrupt()
        living.wait().expect(130)
    assert sockets() == [] and bystander.exists()


def test_a_pipe_that_is_closed_early_leaves_no_data_behind(path, out):
    """cluster-iobench ... | head -1"""
    command = [program.BINARY, "-i", "0", "-i", "1", "-r", "4k", "-s", "64k", "--path", str(path), "--out", str(out)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=program.clean_environment())
    process.stdout.close()
    process.wait(timeout=program.PATIENCE_S)
    assert not (path / program.DATA_DIRECTORY).exists()
    assert (out / "result.json").exists()


# ---------------------------------------------------------------------------------------- what checks leave behind


@pytest.mark.strace
def test_clean_removes_the_check_file_of_a_preflight_that_was_killed_and_not_of_one_that_is_alive(path, tmp_path):
    delay = ("strace", "-f", "-qq", "-o", str(tmp_path / "log"), "-e", "trace=unlinkat", "-e",
             "inject=unlinkat:delay_enter=100000000")
    running = subprocess.Popen([*delay, program.BINARY, "preflight", "--path", str(path)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=program.clean_environment(),
                               start_new_session=True)
    try:
        deadline = time.monotonic() + program.PATIENCE_S
        while not [file for file in path.glob("cluster-iobench.check-*") if file.stat().st_size]:
            assert time.monotonic() < deadline and running.poll() is None, "no check file"
            time.sleep(0.02)
        refused = program.plain("clean", "--force", path).expect(1)
        assert "cluster-iobench.check-" in refused.stderr and "is in use" in refused.stderr, refused
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    cleaned = program.plain("clean", path).expect(0)
    assert f"removed 1 check files and 0 directories of validate below {path}" in cleaned.stdout, cleaned
    assert not list(path.glob("cluster-iobench.*"))


def test_clean_removes_the_directory_of_a_validate_that_was_killed_with_its_workers_and_janitors(path):
    address = f"127.0.0.1:{program.free_port()}"
    env = program.clean_environment(JANITORS_OF=str(path))
    silent = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": env}
    processes = [subprocess.Popen([program.BINARY, *words], **silent) for words in (
        ("validate", "--listen", address, "--workers", "2", "--path", str(path)),
        ("worker", "--join", address, "--root", str(path)), ("worker", "--join", address, "--root", str(path)))]
    try:
        deadline = time.monotonic() + program.PATIENCE_S
        while not list(path.glob("cluster-iobench.validate-*/d*")):
            assert time.monotonic() < deadline and processes[0].poll() is None, "validate has no directory"
            time.sleep(0.001)
        refused = program.plain("clean", "--force", path).expect(1)
        assert "cluster-iobench.validate-" in refused.stderr and "is in use" in refused.stderr, refused
    finally:
        for janitor in janitors_of(path):
            os.kill(janitor, signal.SIGKILL)
        for process in processes:
            process.kill()
            process.wait()
    tree, = path.glob("cluster-iobench.validate-*")
    (tree / "notes").write_text("mine")
    cleaned = program.plain("clean", path).expect(0)
    assert f"left alone, not ours: {tree}/notes" in cleaned.stdout, cleaned
    assert sorted(entry.name for entry in tree.iterdir()) == ["notes", "owner"]
    (tree / "notes").unlink()
    assert "1 directories of validate" in program.plain("clean", f"{path}/{program.DATA_DIRECTORY}").expect(0).stdout
    assert not tree.exists()
