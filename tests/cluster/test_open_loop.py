"""--rate: ops begin when they are due, on every transport and engine, and bad rates are refused."""
import csv
import io
import json
import pathlib
import re

import openpyxl
import program
import pytest
import reruns
from prometheus_client.openmetrics.parser import text_string_to_metric_families
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
        # The latency of an op is its response time: what it took, and the wait before it.
        assert figures["response_us"] == outcome.phase(phase)["latency_us"]
        assert figures["response_us"]["mean"] == pytest.approx(figures["service_us"]["mean"] + figures["lag_us"]["mean"], rel=0.01)


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


# One lane, 2 ms of service, and twice the rate that it can do: ops wait for a second at the end.
OVERLOAD = ("-i", "1", "-+n", "-r", "4k", "-s", "64k", "-t", "1", "--engine", "sim:service=2ms", "--rate", "1000", "--even-rate",
            "--time", "2")


@pytest.fixture(scope="module")
@reruns.measures
def overloaded(tmp_path_factory):
    base = tmp_path_factory.mktemp("overloaded")
    (base / "path").mkdir()
    return program.run([*OVERLOAD, "--require", "read:p90<=40ms"], path=base / "path", out=base / "out").expect(4)


def microseconds_in(text):
    """Times such as "482 ms" in a text, in us."""
    return [float(number.replace(",", "")) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]
            for number, unit in re.findall(r"([\d.,]*\d) (us|ms|s)\b", text)]


def test_the_latency_of_ops_with_a_rate_is_their_response_time_everywhere_in_the_result(overloaded):
    phase = overloaded.phase("read")
    figures = phase["open_loop"]
    response, service = figures["response_us"], figures["service_us"]
    assert response["p50"] > 50 * service["p50"] and service["p50"] == pytest.approx(2000, rel=0.5)
    client, = phase["clients"]
    for latency in (phase["latency_us"], client["latency_us"], phase["by_kind"]["read"]["latency_us"]):
        assert latency == response
    lane, = lanes_of(phase)
    assert (lane["p50_us"], lane["p99_us"], lane["max_us"]) == (response["p50"], response["p99"], response["max"])


def test_a_criterion_judges_response_times_and_is_undecided_where_the_generator_was_late(overloaded):
    phase = overloaded.phase("read")
    criterion, = overloaded.result["criteria"]
    assert criterion["measured"] == phase["latency_us"]["p90"] > 40_000
    assert not criterion["met"] and "generator_bound" in criterion["problem"]


def check_text(text, phase, overloaded):
    """The formats for people have rounded figures, and no latency in them is a service time that is not called so."""
    figures = phase["open_loop"]
    named = [line for line in text.splitlines() if re.search("service|lag", line)]
    others = "\n".join(line for line in text.splitlines() if line not in named)
    for key in ("p50", "p99"):
        assert any(time == pytest.approx(figures["response_us"][key], rel=0.01) for time in microseconds_in(others)), (key, text)
    assert any(time == pytest.approx(figures["service_us"]["p50"], rel=0.01) for line in named for time in microseconds_in(line)) or \
        any(time == pytest.approx(figures["service_us"]["p50"], rel=0.01) for time in microseconds_in(text)), text


@pytest.mark.parametrize("name", [None, "markdown"])
def test_formats_for_people_show_response_times(name, overloaded):
    text = program.plain("report", overloaded.out, *(("--format", name) if name else ())).expect(0).stdout
    check_text(text, overloaded.phase("read"), overloaded)


def test_formats_for_programs_show_response_times(overloaded, tmp_path):
    phase = overloaded.phase("read")
    figures = phase["open_loop"]
    response, service, lag = figures["response_us"], figures["service_us"], figures["lag_us"]

    def shown(name):
        return program.plain("report", overloaded.out, "--format", name).expect(0).stdout

    row, = csv.DictReader(io.StringIO(shown("csv")))
    for key in ("p50", "p90", "p99", "p99_9", "max"):
        assert float(row[f"phase_{key}_us"]) == response[key]
    for part, times in (("service", service), ("lag", lag)):
        for key in ("p50", "p99", "max"):
            assert float(row[f"{part}_{key}_us"]) == times[key]
    row, = csv.DictReader(io.StringIO(shown("lanes-csv")))
    assert float(row["p99_us"]) == float(row["phase_p99_us"]) == response["p99"]

    families = {family.name: family for family in text_string_to_metric_families(shown("openmetrics"))}
    for name, times in (("latency", response), ("service", service), ("lag", lag)):
        median, = (sample.value for sample in families[f"iobench_phase_{name}_seconds"].samples if sample.labels.get("quantile") == "0.5")
        assert median == pytest.approx(times["p50"] / 1e6)
    longest = shown("hlog").splitlines()[-1].split(",")[3]
    assert float(longest) == pytest.approx(response["max"] / 1e3, rel=1e-6)
    assert f"{round(response['max'] / 1e3)}ms" in shown("bonnie-csv")

    book = tmp_path / "report.xlsx"
    program.plain("report", overloaded.out, "--format", "workbook", "--output", book).expect(0)
    cells = [cell.value for sheet in openpyxl.load_workbook(book) for line in sheet.iter_rows() for cell in line]
    for times in (response, service):
        assert times["p99"] in cells
    assert service["p99"] not in [cell.value for line in openpyxl.load_workbook(book)["summary"].iter_rows() for cell in line]


def test_comparisons_and_histories_use_response_times(overloaded, path, tmp_path):
    again = program.run(OVERLOAD, path=path, out=tmp_path / "again").expect(0)
    for command in ("compare", "history"):
        report = json.loads(program.plain(command, overloaded.out, again.out, "--format", "json").expect(0).stdout)
        p99 = report["phases"][0]["baseline"]["p99_us"] if command == "compare" else report["phases"][0]["points"][0]["figure"]["p99_us"]
        assert p99 == overloaded.phase("read")["latency_us"]["p99"]


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
