"""The report names what disturbed a client while lanes ran: stops, other processes, clocks that cannot be its own."""
import contextlib
import os
import pathlib
import signal
import subprocess
import time

import program
import pytest
from report_checks import check_schema

NULL_READ = ("-i", "1", "-+n", "--engine", "null", "-r", "4k", "-s", "1m", "-t", "1")


def workers_of(pid):
    found = []
    for file in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the thread may have ended
            found += map(int, file.read_text().split())
    return found


def cpu_seconds_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def marks(phase, code):
    return [mark for mark in phase["marks"] if mark["code"] == code]


def test_a_worker_that_is_stopped_for_a_while_leaves_a_mark(path, out, tmp_path):
    # Starting a worker takes CPU time, too; it is over when the command before the phase runs.
    started = tmp_path / "started"
    with program.start([*NULL_READ, "--time", "15", "--spawn", "2", "--before-phase", f"touch {started}"], path=path,
                       out=out) as running:
        running.wait_until(lambda: len(workers_of(running.process.pid)) == 2, "two workers")
        stopped = workers_of(running.process.pid)[1]
        running.wait_until(started.exists, "the phase is near")
        # Once the phase runs, its lane uses the CPU all the time; until then, the worker is idle.
        idle_s = cpu_seconds_of(stopped)
        running.wait_until(lambda: cpu_seconds_of(stopped) > idle_s + 0.2, "its lane running")
        os.kill(stopped, signal.SIGSTOP)
        began = time.monotonic()
        time.sleep(1.3)
        stopped_s = time.monotonic() - began
        os.kill(stopped, signal.SIGCONT)
        outcome = running.wait().expect(0)
    check_schema(outcome.result)
    phase, = outcome.phases
    mark, = marks(phase, "stalled")
    assert stopped_s - 0.1 < mark["value"], mark
    assert mark["threshold"] == pytest.approx(1)  # a stop need not be a certain part of the phase
    assert "completed no op for" in mark["text"] and "1 of 2 lanes stalled" in mark["text"], mark
    assert "stalled" in outcome.stdout, outcome


def test_pauses_that_were_asked_for_are_no_stalls(path, out):
    outcome = program.run([*NULL_READ, "--time", "2.5", "-+b", "4k,1100"], path=path, out=out).expect(0)
    phase, = outcome.phases
    assert phase["pause_s"] > 1, "it did pause"
    assert not marks(phase, "stalled"), phase["marks"]


def test_what_the_run_itself_computes_is_told_from_the_host(path, out):
    outcome = program.run([*NULL_READ, "--time", "1", "--spawn", "1"], path=path, out=out).expect(0)
    check_schema(outcome.result)
    phase, = outcome.phases
    client, = phase["clients"]
    worker, = client["workers"]
    delta = client["host_delta"]
    all_s = sum(delta[key] for key in ("cpu_user_s", "cpu_system_s", "cpu_idle_s", "cpu_steal_s"))
    assert 0 < client["own_cpu_percent"] <= client["cpu_percent"] <= 100
    own_percent = 100 * (worker["cpu_user_s"] + worker["cpu_system_s"]) / all_s
    assert client["own_cpu_percent"] == pytest.approx(min(own_percent, client["cpu_percent"]))
    lane, = worker["lanes"]
    assert lane["end_s"] < delta["seconds"], "the counters cover the phase"


def can_move_clocks():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--time", "--monotonic", "1", "true"], check=False,
                                                capture_output=True).returncode == 0


def test_clones_of_one_boot_id_with_another_clock_are_clients_of_their_own(path, out, tmp_path):
    """A time namespace is a clone that a test can make: the same boot id, another CLOCK_MONOTONIC."""
    if not can_move_clocks():
        (pytest.fail if os.geteuid() == 0 else pytest.skip)("needs time namespaces, and root to make them")
    address = f"unix:{tmp_path}/s"
    worker = (program.BINARY, "worker", "--join", address, "--root", "/")
    clone = ("unshare", "--time", "--monotonic", "1000", "--", *worker)
    outcome = program.run([*NULL_READ, "--time", "2.5", "--listen", address, "--workers", "2"], path=path, out=out,
                          helpers=(worker, clone)).expect(0)
    result = outcome.result
    check_schema(result)
    assert len(result["clients"]) == 2, result["clients"]
    same, = [client for client in result["clients"] if client["same_clock"]]
    other, = [client for client in result["clients"] if not client["same_clock"]]
    assert same["clock_error_ns"] == 0
    assert 0 < other["clock_error_ns"] < 50e6
    assert abs(other["clock_offset_ns"] - 1000e9) <= other["clock_error_ns"]
    assert other["boot_id"] == same["boot_id"]
    assert (same["clone"], other["clone"]) == (0, 1)
    assert any("cloned machines" in note for note in result["notes"]), result["notes"]
    phase, = outcome.phases
    assert len(phase["clients"]) == 2
    assert phase["start"]["skew_low_us"] <= phase["start"]["skew_us"] <= phase["start"]["skew_high_us"]
    assert not marks(phase, "clock_uncertain") and not marks(phase, "clock_step")
