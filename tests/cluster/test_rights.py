"""What a worker may do for a coordinator, which user it runs as, and the commands around phases."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import program
import pytest
from report_checks import check_report

SMALL = ("-i", "0", "-i", "1", "-+n", "-ce", "-r", "4k", "-s", "64k")
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")


def worker_for(address, *words):
    return (program.BINARY, "worker", "--join", address, "--join-timeout", "30", *map(str, words))


def run_with(path, out, *rights, options=SMALL, code=0):
    address = f"127.0.0.1:{program.free_port()}"
    return program.run([*options, "--listen", address, "--workers", "1"], path=path, out=out,
                       helpers=(worker_for(address, *rights),)).expect(code)


# ------------------------------------------------------------------------------------------------ --root


@pytest.mark.parametrize("address", ["127.0.0.1:9", "unix:/run/nobody.sock"])
def test_a_worker_that_joins_must_be_told_where_it_may_work(address):
    outcome = program.plain("worker", "--join", address).expect(1)
    line, = outcome.stderr.strip().splitlines()
    assert f"worker --join {address} --root DIR" in line, outcome


def test_a_worker_works_below_its_root(path, out):
    check_report(run_with(path, out, "--root", path.parent).result)


def test_the_directory_of_a_worker_that_brings_its_own_is_its_root(path, out):
    check_report(run_with(path, out, "--path", path).result)


@pytest.mark.parametrize("way", ["elsewhere", "link", "parent"])
def test_a_run_outside_of_a_workers_root_is_refused_and_nothing_is_made(path, out, tmp_path, way):
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (root / "link").symlink_to(other)
    asked = {"elsewhere": other, "link": root / "link", "parent": f"{root}/../other"}[way]
    address = f"127.0.0.1:{program.free_port()}"
    command = [program.BINARY, *SMALL, "--listen", address, "--workers", "1", "--path", str(asked), "--out", str(out)]
    with program.Running(command, out, other, program.clean_environment(), (worker_for(address, "--root", root),)) as running:
        outcome = running.wait()
    assert outcome.code == 1, outcome
    assert "--root" in outcome.stderr and str(root) in outcome.stderr, outcome
    assert list(other.iterdir()) == [] and [entry.name for entry in root.iterdir()] == ["link"]


def test_what_a_worker_does_besides_is_on_its_command_line(path, out, tmp_path):
    trace = tmp_path / "trace"
    options = ("--op", "write", "-r", "4k", "-s", "64k", "-X", str(trace))
    outcome = run_with(path, out, "--root", tmp_path, options=options, code=1)
    assert "--allow log-files" in outcome.stderr, outcome
    run_with(path, out, "--root", tmp_path, "--allow", "log-files", options=options)
    assert (tmp_path / "trace.0").exists()


def test_a_worker_without_the_right_to_drop_caches_says_so_in_the_report(path, out):
    options = ("-i", "0", "-i", "1", "-r", "4k", "-s", "64k", "--drop-caches")
    outcome = run_with(path, out, "--root", path, options=options)
    steps = {step["name"]: step["outcome"] for step in outcome.phase("read")["steps"]}
    assert "without --allow drop-caches" in steps["drop-caches"], steps


@pytest.mark.parametrize("words, said", [(("--root", "/nonexistent/dir"), "/nonexistent/dir"),
                                         (("--root", "/etc/passwd"), "not a directory"),
                                         (("--root", "/", "--allow", "shell"), "--allow shell"),
                                         (("--root", "nfs://"), "--root"),
                                         (("--root", "/", "--max-memory", "much"), "--max-memory"),
                                         (("--root", "/", "--max-lanes", "0"), "--max-lanes")])
def test_rights_that_mean_nothing_are_refused(words, said):
    outcome = program.plain("worker", "--join", "127.0.0.1:9", *words).expect(1)
    line, = outcome.stderr.strip().splitlines()
    assert said in line, outcome


@pytest.mark.parametrize("limit, options, said", [
    (("--max-lanes", "3"), ("-t", "4"), "the worker takes at most 3 lanes, and the plan has 4 per worker"),
    (("--max-memory", "16m"), ("-r", "64m", "-s", "64m"), "--max-memory"),
])
def test_a_worker_refuses_phases_above_its_limits(path, out, limit, options, said):
    outcome = run_with(path, out, "--root", path, *limit, options=("-i", "0", "-r", "4k", "-s", "64k")[:2] + options, code=1)
    assert said in outcome.stderr, outcome
    assert not outcome.data.exists()


# ------------------------------------------------------------------------------------------------ --user


@AS_ROOT
@pytest.mark.parametrize("where", ["run", "worker",
                                   pytest.param("self-contained worker", marks=pytest.mark.unsanitized)])
def test_root_gives_up_its_rights_for_good(tmp_path, reachable_program, where):
    """Files belong to the user, root's groups are gone, and files that only root may read are refused."""
    directory = pathlib.Path(subprocess.run(["mktemp", "-d", "/tmp/iobench-user-XXXXXX"], check=True, capture_output=True,
                                            text=True).stdout.strip())
    os.chown(directory, 65534, 65534)
    out = directory / "out"
    words = [*SMALL, "-w", "--path", str(directory), "--out", str(out)]
    try:
        if where == "run":
            hook = ["--before-phase", "id -u; id -G; grep -E 'NoNewPrivs|CapEff' /proc/self/status; cat /etc/shadow; true"]
            outcome = program_at(reachable_program, *words, "--user", "nobody", *hook).expect(0)
            shown = (out / "hooks" / "phase-000-before.log").read_text()
            assert shown.startswith("65534\n65534\n"), shown
            assert re.search(r"CapEff:\s+0+\n", shown) and re.search(r"NoNewPrivs:\s+1\n", shown), shown
            assert "Permission denied" in shown, shown
            assert out.stat().st_uid == 65534
        else:
            address = f"127.0.0.1:{program.free_port()}"
            binary = reachable_program
            if where == "self-contained worker":
                binary = shutil.copy(pathlib.Path(program.BINARY).with_name("cluster-iobench-worker"),
                                     pathlib.Path(reachable_program).parent)
            helper = (str(binary), "worker", "--join", address, "--root", str(directory), "--user", "nobody")
            outcome = program.run([*SMALL, "-w", "--listen", address, "--workers", "1"], path=directory, out=out,
                                  helpers=(helper,)).expect(0)
        files = list((directory / program.DATA_DIRECTORY).iterdir())
        assert files and {file.stat().st_uid for file in files} == {65534}, files
        steps = outcome.phases[0]["steps"]
        assert steps
    finally:
        subprocess.run(["rm", "-rf", str(directory)], check=True)


def program_at(binary, *args):
    done = subprocess.run([str(binary), *map(str, args)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=program.PATIENCE_S, env=program.clean_environment(), check=False)
    out = args[args.index("--out") + 1] if "--out" in args else "/nonexistent"
    return program.Outcome([binary, *args], done.returncode, done.stdout, done.stderr, out, "/nonexistent")


@AS_ROOT
@pytest.mark.parametrize("user", ["no-such-user-here", "4294967295", "99999999999", "-1", "0x0"])
def test_a_user_that_cannot_be_become_is_refused_before_anything_happens(path, out, user):
    outcome = program.run([*SMALL, f"--user={user}"], path=path, out=out).expect(1)
    assert "no such user" in outcome.stderr and not out.exists() and not outcome.data.exists(), outcome


@AS_ROOT
@pytest.mark.parametrize("user, owner", [("root", 0), ("0", 0), ("65534", 65534), ("54321", 54321)])
def test_a_user_may_be_a_number_and_root_stays_root(reachable_program, user, owner):
    """65534 is nobody, 54321 has no name. Users of Bonnie++ give -u 0."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="iobench-user-", dir="/tmp"))
    os.chown(directory, owner, owner)
    out = directory / "out"
    try:
        program_at(reachable_program, *SMALL, "-w", "--path", str(directory), "--out", str(out), "--user", user).expect(0)
        files = list((directory / program.DATA_DIRECTORY).iterdir())
        assert files and {file.stat().st_uid for file in files} == {owner}, files
        assert out.stat().st_gid == owner
    finally:
        shutil.rmtree(directory)


@AS_ROOT
def test_only_root_becomes_somebody_else(reachable_program):
    done = subprocess.run([*program.NOBODY, str(reachable_program), "worker", "--join", "127.0.0.1:9", "--root", "/",
                           "--user", "daemon"], capture_output=True, text=True, timeout=program.PATIENCE_S, check=False)
    assert done.returncode == 1 and "only root" in done.stderr, done


# ------------------------------------------------------------------------------------------------ hooks


def test_commands_around_phases_know_them_and_are_steps_of_the_report(path, out):
    outcome = program.run([*SMALL, "--before-phase", "env | grep ^IOBENCH_ | sort", "--after-phase",
                           'echo "$IOBENCH_STATUS $IOBENCH_BYTES_PER_S"'], path=path, out=out).expect(0)
    shown = dict(line.split("=", 1) for line in (out / "hooks" / "phase-001-before.log").read_text().splitlines())
    assert shown == {"IOBENCH_PHASE": "read", "IOBENCH_INDEX": "1", "IOBENCH_REPETITION": "0", "IOBENCH_OPERATION": "read",
                     "IOBENCH_RECORD_BYTES": "4096", "IOBENCH_PATHS": str(path), "IOBENCH_OUT": str(out)}
    status, rate = (out / "hooks" / "phase-001-after.log").read_text().split()
    assert status == "ok" and int(rate) == pytest.approx(outcome.phase("read")["headline"]["bytes_per_s"], abs=1)
    names = [step["name"] for step in outcome.phase("read")["steps"]]
    assert names[0] == "before-phase" and names[-1] == "after-phase", names
    again = program.plain("report", out, "--format", "json").expect(0)
    assert "after-phase" in again.stdout, "hooks are in the raw data"


def test_a_command_that_hangs_is_killed_with_its_children_and_ends_the_run(path, out, tmp_path):
    mark = tmp_path / "pid"
    outcome = program.run([*SMALL, "--before-phase", f"sleep 1000 & echo $! > {mark}; wait", "--hook-timeout", "500ms"],
                          path=path, out=out).expect(2)
    assert "--before-phase" in outcome.stderr and "killed after 500 ms (--hook-timeout)" in outcome.stderr, outcome
    child = int(mark.read_text())
    assert not pathlib.Path(f"/proc/{child}").exists() or "Z" in pathlib.Path(f"/proc/{child}/stat").read_text().split()[2]
    assert outcome.phases == [] and not outcome.data.exists()


def test_a_command_that_fails_after_a_phase_ends_the_run_with_what_was_measured(path, out):
    outcome = program.run([*SMALL, "--after-phase", "echo why >&2; exit 7"], path=path, out=out).expect(2)
    phase, = outcome.phases
    assert phase["operation"] == "write" and phase["steps"][-1]["outcome"].endswith("exit code 7"), phase["steps"]
    assert "phase-000-after.log" in outcome.stderr and (out / "hooks" / "phase-000-after.log").read_text() == "why\n"


def test_a_command_that_fails_is_noticed_although_the_program_s_parent_ignored_its_children(path, out):
    """A process that ignores SIGCHLD passes this on, and the kernel then keeps no exit codes of children."""
    ignoring = (sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                "os.execv(sys.argv[1], sys.argv[1:])")
    outcome = program.run([*SMALL, "--before-phase", "exit 7"], path=path, out=out, prefix=ignoring).expect(2)
    assert "exit code 7" in outcome.stderr, outcome


def test_what_was_ignored_when_the_program_started_stays_ignored_in_what_it_starts(path, out):
    """nohup reaches workers on this host and hooks; what the program ignores for itself (SIGPIPE) does not."""
    nohup = (sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
             "signal.signal(signal.SIGPIPE, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])")
    masks = path.parent / "masks"
    hook = f"for child in $(cat /proc/$PPID/task/*/children); do grep SigIgn /proc/$child/status; done > {masks}"
    program.run([*SMALL, "--spawn", "2", "--before-phase", hook], path=path, out=out, prefix=nohup).expect(0)
    ignored = [int(line.split()[1], 16) for line in masks.read_text().splitlines()]
    assert len(ignored) == 3, "two workers and the hook's shell"
    assert all(mask >> signal.SIGHUP - 1 & 1 for mask in ignored), ignored
    # A worker ignores SIGPIPE for itself. The shell that runs the hook does not.
    assert any(not mask >> signal.SIGPIPE - 1 & 1 for mask in ignored), ignored


@pytest.mark.parametrize("words, said", [(("--hook-timeout", "5"), "--before-phase"),
                                         (("--before-phase", ""), "--before-phase")])
def test_hooks_that_make_no_sense_are_refused(path, out, words, said):
    outcome = program.run([*SMALL, *words], path=path, out=out).expect(1)
    assert said in outcome.stderr, outcome
