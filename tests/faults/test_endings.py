"""Runs in which a call hangs, is refused or transfers too little end by themselves, and say why."""
import os
import re
import signal
import subprocess
import time

import program
import pytest
import schema

LONG = ("-i", "0", "-+n", "-r", "4k", "-s", "256k", "--time", "100", "-+O", "50")
SHORT = ("-i", "0", "-+n", "-r", "4k", "-s", "256k", "--time", "2", "-+O", "50")


@pytest.fixture
def order(tmp_path):
    """A function that tells the library what to do from now on."""
    def give(text):
        (tmp_path / "order.new").write_text(text)
        os.rename(tmp_path / "order.new", tmp_path / "order")
    return give


@pytest.fixture
def faulty(shim, tmp_path):
    """The environment of a program whose storage calls obey `order`."""
    return program.clean_environment(LD_PRELOAD=str(shim), FAULT_ORDER=str(tmp_path / "order"))


def lost_workers(phase):
    return [worker for client in phase["clients"] for worker in client["workers"] if worker["lost"]]


@pytest.mark.parametrize("transport", ["in-process", "spawn"])
def test_one_ctrl_c_ends_a_run_whose_lanes_hang(transport, path, out, order, faulty, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    with program.start([*LONG, *options], path=path, out=out, prefix=prefix, helpers=helpers, env=faulty) as running:
        running.wait_until(lambda: running.data_bytes() >= 64 << 10, "ops of the lanes")
        order("hang")
        time.sleep(0.2)
        running.interrupt()
        outcome = running.wait().expect(130)
    phase, = outcome.phases
    assert phase["interrupted"] and len(lost_workers(phase)) == program.Transports.workers(transport)
    assert "data may still be at" in outcome.stderr and "clean" in outcome.stderr
    assert program.plain("clean", path).code == 0


def test_a_hung_lane_is_named_and_its_last_bytes_are_known_although_nobody_watches(path, out, order, faulty):
    with program.start([*LONG, "--transport", "local", "-t", "1", "--stall-timeout", "1"], path=path, out=out,
                       env=faulty) as running:
        running.wait_until(lambda: running.data_bytes() >= 128 << 10, "ops of the lane")
        order("hang")
        outcome = running.wait().expect(3)
    phase, = outcome.phases
    lost, = lost_workers(phase)
    assert lost["bytes"] >= 64 << 10
    assert "lane 0 in its ops" in lost["lost_reason"] and "lane-000000.0" in lost["lost_reason"], lost
    assert schema.problems(outcome.result) == []


def test_a_preparation_that_hangs_costs_its_worker(path, out, order, faulty):
    order("hang")
    outcome = program.run(["-i", "1", "-r", "4k", "-s", "256k", "--transport", "local", "-t", "1", "--stall-timeout", "1"],
                          path=path, out=out, env=faulty).expect(3)
    assert "while it still has to prepare the phase (lane 0 in its prefill" in outcome.stderr, outcome


def test_max_errors_lets_a_lane_go_on_and_counts_what_failed(path, out, order, faulty):
    order("5x3")
    outcome = program.run([*SHORT, "--max-errors", "5", "--transport", "local", "-t", "1"], path=path, out=out,
                          env=faulty).expect(2)
    phase = outcome.phases[0]
    assert phase["lanes_failed"] == 0 and phase["ops"] > 20
    assert phase["failed_ops"] == [{"operation": "write", "errno": 5, "error": "EIO", "count": 3, "lanes": 1}]
    assert "failed_ops" in {mark["code"] for mark in phase["marks"]}
    assert schema.problems(outcome.result) == []


def test_one_error_more_than_max_errors_ends_the_lane(path, out, order, faulty):
    order("5x3")
    outcome = program.run([*SHORT, "--max-errors", "2", "--transport", "local", "-t", "1"], path=path, out=out,
                          env=faulty).expect(2)
    phase = outcome.phases[0]
    assert phase["lanes_failed"] == 1 and phase["failed_ops"][0]["count"] == 3


def test_a_soak_goes_on_after_errors_and_takes_what_was_not_acknowledged_for_no_loss(path, out, order, faulty):
    with program.start(["--soak", "5s", "--op", "write,read", "-r", "4k", "-s", "64k", "--time", "0.1", "-+O", "20", "-t", "1", "--spawn", "1"],
                       path=path, out=out, env=faulty) as running:
        running.wait_until((out / "raw" / "phase-001.pb").exists, "a round")
        time.sleep(0.3)  # in the middle of the next write, a single pass that lasts for 0.8 s
        order("5x4")
        outcome = running.wait().expect(2)
    soak = outcome.result["soak"]
    client, = soak["clients"]
    # Calls on names, such as open, may fail too. Then a lane sits out until its file is written again.
    assert client["failed_ops"] or client["phases_failed"], soak
    assert {failed["error"] for failed in client["failed_ops"]} <= {"EIO"}
    assert soak["failed_ops"] == client["failed_ops"]
    assert soak["complete_rounds"] >= 2 and soak["rounds"][-1]["failed_ops"] == 0
    loss = soak["loss"]
    assert loss["lost"] == loss["stale"] == loss["torn"] == loss["wrong"] == loss["short_reads"] == 0, loss
    assert schema.problems(outcome.result) == []


def test_phase_timeout_ends_lanes_that_get_on_too_slowly(path, out):
    outcome = program.run([*LONG, "--spawn", "2", "--phase-timeout", "2"], path=path, out=out).expect(3)
    assert "--phase-timeout" in outcome.stderr
    assert len(lost_workers(outcome.phases[0])) == 2


def test_on_lost_abort_ends_the_run_at_the_loss(path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts("join-unix")
    with program.start([*LONG, "--repeat", "3", "--on-lost", "abort", *options], path=path, out=out, prefix=prefix,
                       helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() >= 64 << 10, "ops of the lanes")
        running.workers[0].send_signal(signal.SIGKILL)
        outcome = running.wait().expect(3)
    assert len(outcome.phases) == 1 and len(lost_workers(outcome.phases[0])) == 1
    assert not outcome.data.exists()


@pytest.mark.parametrize(("lease_s", "stopped_s"), [("10", 3), ("4", 7)], ids=["shorter than the lease", "lanes end meanwhile"])
@pytest.mark.parametrize("transport", ["join-unix", "join-tcp"])
def test_a_coordinator_that_is_stopped_loses_no_worker_whose_lanes_end_within_the_lease(transport, lease_s, stopped_s, path, out,
                                                                                        tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    with program.start([*SHORT, "--repeat", "3", "--lease", lease_s, *options], path=path, out=out, prefix=prefix,
                       helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() >= 64 << 10, "ops of the lanes")
        running.process.send_signal(signal.SIGSTOP)
        time.sleep(stopped_s)
        running.process.send_signal(signal.SIGCONT)
        outcome = running.wait().expect(0)
    assert len(outcome.phases) == 3 and outcome.phases[0]["workers_lost"] == 0
    assert "this coordinator stood still for" in outcome.stderr, outcome
    assert "coordinator_stopped" in {mark["code"] for mark in outcome.phases[0]["marks"]}


@pytest.mark.parametrize(("word", "operation", "part"), [
    ("gate", "0", "while its lanes ran (lane 0"), ("gate", "1", "in its preparation (lane 0 in its prefill"),
    ("flush", "0", "while its lanes ran (lane 0")])
def test_an_outage_is_a_stall_also_where_nothing_shows_what_is_usual(word, operation, part, path, out, order, faulty, tmp_path):
    """In the only op of a lane, its preparation, its flush."""
    gate = tmp_path / "order.gate"
    os.mkfifo(gate)
    order(word)
    with program.start(["-i", operation, "-+n", "-e", "-r", "4k", "-s", "4k", "--transport", "local", "-t", "1"], path=path, out=out,
                       env=faulty) as running:
        running.wait_until((path / program.DATA_DIRECTORY).exists, "its data directory")
        time.sleep(8)
        with open(gate, "wb"):  # stays open for later calls
            outcome = running.wait().expect(0)
    mark, = [mark for mark in outcome.phases[0]["marks"] if mark["code"] == "stalled"]
    assert part in mark["text"] and mark["value"] >= 3, mark
    assert schema.problems(outcome.result) == []


def test_too_few_descriptors_are_an_error_before_anything_is_started(path, out):
    def run_with(descriptors):
        command = f"ulimit -n {descriptors}; exec {program.BINARY} -i 0 -r 4k -s 64k --spawn 30 --path {path} --out {out}"
        return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=program.PATIENCE_S, check=False,
                              env=program.clean_environment())

    refused = run_with(40)
    assert refused.returncode == 1, refused
    needed = re.search(r"30 workers need (\d+) open files in this process, but its limit is 40", refused.stderr)
    assert needed, refused
    assert not out.exists()
    # The number is the smallest limit that is accepted, and with it the run succeeds.
    refused = run_with(int(needed[1]) - 1)
    assert refused.returncode == 1 and f"its limit is {int(needed[1]) - 1}" in refused.stderr, refused
    assert not out.exists()
    done = run_with(int(needed[1]))
    assert done.returncode == 0, done


def test_a_join_that_hangs_for_want_of_memory_is_bounded(tmp_path):
    listener = f"127.0.0.1:{program.free_port()}"
    command = f"ulimit -d 8192; exec {program.BINARY} worker --join {listener} --root / --join-timeout 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=program.PATIENCE_S, check=False,
                          env=program.clean_environment())
    assert done.returncode != 0


# ------------------------------------------------------------- what happens after the timed part of a phase
# Two records per lane are timed. The rest of the file, which the random read needs, takes 20 ms a record: 20 s.
TAIL = ("--op", "write,random-read", "-+n", "-r", "4k", "-s", "4m", "--max-ops", "2")


def start_with_long_tail(transport, path, out, order, faulty, tmp_path, *more):
    order("slow")
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    return program.start([*TAIL, *options, *more], path=path, out=out, prefix=prefix, helpers=helpers, env=faulty)


def is_in_tail(running):
    return running.data_bytes() > 4 * 3 * 4096


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("transport", ["in-process", "spawn", "join-tcp", program.MPI])
def test_a_phase_that_was_measured_counts_although_its_files_were_not_finished(transport, number, path, out, order, faulty,
                                                                               tmp_path):
    with start_with_long_tail(transport, path, out, order, faulty, tmp_path) as running:
        running.wait_until(lambda: is_in_tail(running), "the tail")
        running.interrupt(number)
        outcome = running.wait()
    if transport != "mpi":
        outcome.expect(130)
    phase, = outcome.phases
    assert not phase["interrupted"] and phase["workers_lost"] == 0, phase
    assert phase["ops"] == 8 and phase["bytes"] == 8 * 4096 and phase["headline"]["bytes_per_s"] > 0
    assert "nothing was measured" not in outcome.stdout
    assert not outcome.data.exists(), outcome


def test_a_worker_that_is_lost_in_the_tail_has_given_its_results(path, out, order, faulty, tmp_path):
    with start_with_long_tail("join-tcp", path, out, order, faulty, tmp_path, "--lease", "2") as running:
        running.wait_until(lambda: is_in_tail(running), "the tail")
        running.workers[0].send_signal(signal.SIGKILL)
        time.sleep(0.3)
        running.interrupt()
        outcome = running.wait()
    phase = outcome.phases[0]
    assert phase["ops"] == 8, "both workers' lanes"
    assert schema.problems(outcome.result) == []


def test_a_tail_that_hangs_keeps_what_was_measured_and_a_second_ctrl_c_ends_at_once(path, out, order, faulty, tmp_path):
    with start_with_long_tail("in-process", path, out, order, faulty, tmp_path) as running:
        running.wait_until(lambda: is_in_tail(running), "the tail")
        order("hang")
        time.sleep(0.2)
        running.interrupt()
        running.wait_until((out / "raw" / "phase-000.pb").exists, "the phase is saved")
        time.sleep(0.2)  # more than between the signals of one timeout(1)
        running.interrupt()
        outcome = running.wait().expect(130)
    report = program.plain("report", out, "--format", "json")
    assert '"ops": 8' in report.stdout, report
    program.plain("clean", "--force", path)


def test_max_duration_ends_the_tail(path, out, order, faulty, tmp_path):
    with start_with_long_tail("spawn", path, out, order, faulty, tmp_path, "--max-duration", "3") as running:
        outcome = running.wait().expect(0)
    phase, = outcome.phases
    assert 0 < phase["measured_ops"] <= 8 < phase["ops"] and not phase["interrupted"], "what was written later counts in no rate"
    assert phase["regions_s"]["settle"] < 15, "of 20 s"
    assert "finishing files for random-read: " in outcome.stderr and not outcome.data.exists()
