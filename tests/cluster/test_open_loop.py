"""--rate: ops begin when they are due, on every transport and engine, and bad rates are refused."""
import json
import pathlib

import program
import pytest
from report_checks import lanes_of

POISSON_SLACK = 0.15  # of 1,000 ops: five standard deviations


def open_loop_of(outcome, phase="random-read"):
    return outcome.phase(phase)["open_loop"]


@pytest.mark.parametrize("options", [["-t", "3"], ["-t", "2", "--engine", "uring", "--depth", "8"],
                                     ["-t", "1", "--engine", "posix-aio", "--depth", "4"],
                                     ["--spawn", "3", "-t", "1"]],
                         ids=["posix", "uring", "posix-aio", "spawn"])
def test_the_rate_is_that_of_all_lanes_together(options, path, out):
    outcome = program.run(["-i", "2", "-r", "4k", "-s", "1m", "--rate", "500", "--time", "2", *options],
                          path=path, out=out).expect(0)
    for phase in ("random-read", "random-write"):
        figures = open_loop_of(outcome, phase)
        assert figures["asked_ops_per_s"] == 500
        assert figures["due_ops"] == pytest.approx(1000, rel=POISSON_SLACK)
        done = figures["due_ops"] - figures["missed_ops"]
        assert sum(lane["ops"] for lane in lanes_of(outcome.phase(phase))) == done == figures["response_us"]["count"]
        # Response times include the latencies, which begin later.
        assert figures["response_us"]["mean"] >= outcome.phase(phase)["latency_us"]["mean"]


def test_even_rates_of_lanes_leave_equal_gaps_over_the_workers(path, out):
    """Four lanes on two workers at 25 ops/s each: one op every 10 ms, the workers in turn."""
    outcome = program.run(["-i", "1", "-+n", "-r", "4k", "-s", "64k", "--lane-rate", "25", "--even-rate", "--time", "2",
                           "--spawn", "2", "-t", "2"], path=path, out=out).expect(0)
    figures = open_loop_of(outcome, "read")
    assert figures["asked_ops_per_s"] == 100 and figures["even"]
    assert 198 <= figures["due_ops"] <= 202


def test_a_ramp_has_the_mean_of_its_ends(path, out):
    outcome = program.run(["-i", "1", "-+n", "-r", "4k", "-s", "64k", "--rate", "100..300", "--even-rate", "--time", "2"],
                          path=path, out=out).expect(0)
    figures = open_loop_of(outcome, "read")
    assert (figures["asked_ops_per_s"], figures["asked_end_ops_per_s"]) == (100, 300)
    assert 395 <= figures["due_ops"] <= 405


def test_operations_on_names_have_a_rate_too(path, out):
    outcome = program.run(["--op", "stat", "--items", "50", "--rate", "400", "--time", "2", "-t", "2"],
                          path=path, out=out).expect(0)
    assert open_loop_of(outcome, "stat")["due_ops"] == pytest.approx(800, rel=POISSON_SLACK)


def test_the_same_seed_has_the_same_schedule(path, tmp_path):
    due = [open_loop_of(program.run(["-i", "2", "-r", "4k", "-s", "64k", "--rate", "800", "--time", "1", "--seed", seed],
                                    path=path, out=tmp_path / f"out{number}").expect(0))["due_ops"]
           for number, seed in enumerate(("5", "5", "6"))]
    assert abs(due[0] - due[1]) <= 2, "its end is not the same to the microsecond"
    assert abs(due[0] - due[2]) > 2, "another seed has another schedule"


def test_a_rate_that_cannot_be_kept_is_marked_and_ends_in_time(path, out):
    outcome = program.run(["-i", "1", "-+n", "-r", "4k", "-s", "64k", "--rate", "50000000", "--time", "1.2"],
                          path=path, out=out).expect(0)
    phase = outcome.phase("read")
    assert "generator_bound" in {mark["code"] for mark in phase["marks"]}
    assert open_loop_of(outcome, "read")["done_percent"] < 50
    assert phase["duration_s"] < 5


@pytest.mark.parametrize("options, message", [
    (["--rate", "0"], "is not a number from 0.001"), (["--rate", "5..", "--time", "1"], "is not a number"),
    (["--rate", "100..500"], "add --time"), (["--rate", "5", "--lane-rate", "5"], "both set the rate"),
    (["--rate", "5", "-+O", "5"], "both determine when ops begin"), (["--even-rate"], "--rate"),
    (["--rate", "5", "--deadline", "1", "--wear-out"], "use only one")])
def test_a_bad_rate_is_refused_before_anything_is_written(options, message, path, out):
    outcome = program.run(["-i", "1", "-r", "4k", "-s", "64k", *options], path=path, out=out)
    assert outcome.code == 1 and message in outcome.stderr
    assert not outcome.data.exists()


def test_a_saved_run_reports_the_same_open_loop(path, out):
    outcome = program.run(["-i", "2", "-r", "4k", "-s", "64k", "--rate", "300", "--time", "1"], path=path, out=out).expect(0)
    again = program.plain("report", out, "--format", "json")
    phases = {phase["name"]: phase for phase in json.loads(again.stdout)["phases"]}
    assert phases["random-read"]["open_loop"] == open_loop_of(outcome)


def test_simulated_storage_is_shared_by_all_workers_and_leaves_nothing_behind(path, out, tmp_path):
    """One server that takes 5 ms for each op does 200 ops/s, however many lanes and workers use it."""
    seed = 0x1d1e5  # the shared memory of a run is named after its seed; other runs have others
    for number, lanes in enumerate((["-t", "1"], ["-t", "4"], ["--spawn", "2", "-t", "2"])):
        outcome = program.run(["-i", "1", "-+n", "-r", "4k", "-s", "64k", "--engine", "sim:service=5ms", "--time", "1.5",
                               "--seed", str(seed), *lanes], path=path, out=tmp_path / f"out{number}").expect(0)
        phase = outcome.phase("read")
        assert phase["ops"] / phase["duration_s"] <= 201
        assert phase["headline"]["ops_per_s"] > 50, "an op takes 5 ms and the time to wake the lane"
    assert not list(pathlib.Path("/dev/shm").glob(f"cluster-iobench.sim-*-{seed:016x}"))


def test_more_servers_and_a_deeper_queue_do_more(path, tmp_path):
    rates = []
    for number, options in enumerate((["--depth", "1"], ["--depth", "8"])):
        outcome = program.run(["-i", "2", "-r", "4k", "-s", "64k", "--time", "1", "-t", "1", *options, "--engine",
                               "sim:servers=4,service=5ms"], path=path, out=tmp_path / f"out{number}").expect(0)
        rates.append(outcome.phase("random-read")["headline"]["ops_per_s"])
    assert rates[0] <= 201 and rates[1] <= 830
    assert rates[1] > 1.5 * rates[0]


def test_bad_parameters_of_simulated_storage_are_refused(path, out):
    outcome = program.run(["-i", "1", "--engine", "sim:servers=0"], path=path, out=out)
    assert outcome.code == 1 and '"servers=0" is not a number of servers' in outcome.stderr
