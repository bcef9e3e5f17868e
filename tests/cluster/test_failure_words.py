"""What is said when something outside the program fails: what it was, once, and what to do about it."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess

import program
import pytest

SMALL = ("-i", "0", "-i", "1", "-+n", "-r", "4k", "-s", "64k")
LONG = ("-i", "0", "-+n", "-r", "4k", "-s", "64k", "--time", "600")


def spawned_workers(pid):
    """The processes that --spawn started, without their janitors."""
    workers = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = pathlib.Path(f"/proc/{entry}/status").read_text()
            command = pathlib.Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if re.search(rf"^PPid:\t{pid}$", status, re.M) and b"--spawned" in command:
            workers.append(int(entry))
    return sorted(workers)


def test_a_killed_worker_is_called_that_and_ps_calls_it_by_the_program_s_name(path, out):
    with program.start([*LONG, "--spawn", "2"], path=path, out=out) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        workers = spawned_workers(running.process.pid)
        assert [pathlib.Path(f"/proc/{worker}/comm").read_text() for worker in workers] == ["cluster-iobench\n"] * 2
        os.kill(workers[0], signal.SIGKILL)
        running.wait_until(lambda: len(spawned_workers(running.process.pid)) == 1, "its parent knows")
        running.interrupt()
        outcome = running.wait()
    assert re.search(r"worker \d on \S+ is lost: .*; its process ended with signal 9 \(KILL\)", outcome.stderr), outcome


def hook_before_second_phase(command):
    return ("--before-phase", f'[ "$IOBENCH_INDEX" = 1 ] || exit 0; cd "$IOBENCH_PATHS/{program.DATA_DIRECTORY}" && {command}')


@pytest.mark.parametrize("transport", ["in-process", "spawn"])
@pytest.mark.parametrize("command, says", [
    ("rm lane-000001.0", "lane-000001.0 is missing: earlier phases of this run wrote it up to 65536"),
    ("truncate -s 100 lane-000001.0", "lane-000001.0 ends at 100"),
    ("cp -p lane-000001.0 x && mv x lane-000001.0", r"lane-000001.0 is another file than in the phase before: its inode "
                                                    r"number is \d+, and was \d+; it has 64 KiB: another process replaced it")],
    ids=["removed", "cut short", "replaced"])
def test_a_file_that_others_changed_before_the_next_phase_is_named(transport, command, says, path, out, tmp_path):
    _, options, _ = program.Transports(tmp_path).parts(transport)
    outcome = program.run([*SMALL, *options, *hook_before_second_phase(command)], path=path, out=out).expect(2)
    (error,) = outcome.phase("read")["errors"]
    assert re.search(says, error["message"]) and error["lane"] == 1 and error["client"], error
    assert error["file"].endswith("lane-000001.0"), error
    assert not outcome.phase("write")["errors"]


@pytest.mark.parametrize("more", [(), ("-i", "2"), ("-+N",), ("--rotate-clients",), ("--repeat", "2"),
                                  ("--shared-file",)], ids=" ".join)
def test_no_file_counts_as_replaced_that_the_run_made_anew(more, path, out):
    program.run([*SMALL, "-i", "4", "--spawn", "2", "-t", "2", *more], path=path, out=out).expect(0)


@pytest.mark.parametrize("transport", ["in-process", "spawn"])
def test_a_removed_data_directory_is_one_error(transport, path, out, tmp_path):
    _, options, _ = program.Transports(tmp_path).parts(transport)
    with program.start([*SMALL, *options, "--time", "2"], path=path, out=out) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        shutil.rmtree(running.path / program.DATA_DIRECTORY)
        outcome = running.wait().expect(2)
    told = " ".join(outcome.stdout.split())
    assert told.count(", the data directory of this run, was removed by another process") <= 1, outcome
    assert re.search(r"lane \d and \d more: .*was removed by another process", told), outcome
    assert outcome.stderr.count("no longer exists") == 1, outcome


@pytest.mark.parametrize("command", [("run", "-i", "0", "-s", "4k", "--spawn", "1"), ("selftest", "--phases", "1")],
                         ids=" ".join)
@pytest.mark.parametrize("where", ["/sys", "/nonexistent"])
def test_a_temporary_directory_that_cannot_be_written_is_what_to_set(command, where, path, tmp_path):
    words = [*command, *([path] if command[0] == "run" else [])]
    outcome = program.plain(*words, env=program.clean_environment(TMPDIR=where), cwd=tmp_path).expect(1)
    (line,) = outcome.stderr.strip().splitlines()
    assert f"cannot create {where}/cluster-iobench-" in line and "set TMPDIR to a directory" in line, outcome


def interrupt_twice(running):
    """Signals within 0.1 s count as one."""
    for _ in range(100):
        running.interrupt()
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.process.wait(timeout=0.2)
            return


def test_a_second_ctrl_c_says_where_the_results_are(path, out, tmp_path):
    hook = ("--after-phase", f"touch {tmp_path}/hook; exec sleep 600")
    with program.start([*SMALL, *hook], path=path, out=out) as running:
        running.wait_until((tmp_path / "hook").exists, "the hook runs")
        interrupt_twice(running)
        outcome = running.wait().expect(130)
    assert f"ended at once; what was measured is in {out}: `cluster-iobench report {out}` prints it" in outcome.stderr, outcome
    assert f"`cluster-iobench clean {path}` removes" in outcome.stderr, outcome
    assert (out / "result.json").exists()


def test_a_second_ctrl_c_before_there_are_results_says_so(path, out, tmp_path):
    launcher = tmp_path / "shell"
    launcher.write_text(f"#!/bin/sh\ntrap '' TERM\ntouch {tmp_path}/started\nwhile [ -e {tmp_path}/started ]; do sleep 0.1; done\n")
    launcher.chmod(0o755)
    with program.start([*SMALL, "--hosts", "a", "--launcher", str(launcher)], path=path, out=out) as running:
        running.wait_until((tmp_path / "started").exists, "the shell runs")
        interrupt_twice(running)
        outcome = running.wait().expect(130)
    (tmp_path / "started").unlink()      # nobody else ends the shell
    assert "ended at once; no results were saved" in outcome.stderr, outcome


def test_a_worker_that_loses_its_coordinator_says_it_in_our_words(path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts("join-tcp")
    with program.start([*LONG, *options, "--lease", "2"], path=path, out=out, prefix=prefix, helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        running.process.kill()
        texts = [worker.communicate(timeout=program.PATIENCE_S)[1] for worker in running.workers]
    for text in texts:
        line = text.strip().splitlines()[-1]
        assert "lost the coordinator at 127.0.0.1:" in line and "within 2 s" in line, text
        assert not re.search(r"gRPC|recvmsg|Socket closed|addresses|UNKNOWN|\d{3} ms|ipv4:", line), text
