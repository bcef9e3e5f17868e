"""--background measures some clients, or workers of a single client, undisturbed and while the others keep up a load."""
import json
import re

import program
import pytest
from report_checks import check_csv, check_report

def server(service_ms):
    """One server that takes this long for each op. 5 ms: it does 200 ops/s in all."""
    return ("--engine", f"sim:service={service_ms}ms", "-r", "4k", "-s", "64k", "-t", "1")


def run(*args, path, out, workers=2, prefix=()):
    return program.run([*args, *(("--spawn", str(workers)) if workers else ())], path=path, out=out, prefix=prefix)


def rows(outcome, phase):
    (entry,) = [each for each in outcome.result["interference"] if each["phase"] == phase]
    return entry["rows"]


def test_a_load_on_a_shared_server_takes_the_share_that_queueing_gives_it(path, out):
    """Each lane has one op waiting: beside one lane of the load, the victim gets half; beside three of them, a quarter."""
    service_ms = 20  # the time in which a busy machine wakes a lane counts little
    outcome = run("--op", "random-read", "--background", "read@4k", "--background-clients", "3", "--time", "2",
                  *server(service_ms), path=path, out=out, workers=4).expect(0)
    check_report(outcome.result)
    check_csv(outcome)
    assert [phase["name"] for phase in outcome.phases] == ["random-read, undisturbed", "random-read beside read@4k"]
    undisturbed, beside = rows(outcome, "random-read")
    assert (undisturbed["background"], beside["background"]) == ("", "read@4k")
    assert (undisturbed["others"], beside["others"]) == (0, 3)
    assert beside["of_undisturbed"] == pytest.approx(0.25, abs=0.06)
    assert beside["p50_us"] == pytest.approx(4000 * service_ms, rel=0.25)
    assert beside["background_rate"] == pytest.approx(3 * beside["rate"], rel=0.2)
    victims, load = outcome.phases[1]["parts"]
    assert (victims["background"], load["background"]) == (False, True)
    assert beside["rate"] == victims["bytes_per_s"] and victims["worker_count"] == 1 and load["worker_count"] == 3
    assert outcome.phases[0]["lane_count"] == 1
    text = re.sub(r"\s+", " ", outcome.stdout)
    assert "beside a background load" in text and "they also share its processors" in text
    again = json.loads(program.plain("report", out, "--format", "json").expect(0).stdout)
    assert again["interference"] == outcome.result["interference"]


@pytest.mark.parametrize("workers, prefix", [(4, ()), pytest.param(0, program.mpirun(4), marks=pytest.mark.mpi)])
def test_several_loads_of_all_kinds(workers, prefix, path, out):
    outcome = run("--op", "write,stat", "--background", "write@64k,random-read@4k", "--background", "file-mix", "--time", "0.5",
                  "-r", "16k", "-s", "256k", "-t", "1", "--items", "50", "-c", "-e", path=path, out=out, workers=workers,
                  prefix=prefix)
    outcome.expect(0)
    check_report(outcome.result)
    names = ["", "write@64k", "random-read@4k", "file-mix"]
    for phase in ("write", "stat"):
        assert [row["background"] for row in rows(outcome, phase)] == names
        for row in rows(outcome, phase)[1:]:
            assert row["rate"] > 0 and row["background_rate"] > 0 and row["count"] == 1
            assert row["background_in_ops"] == (row["background"] == "file-mix")
    assert [entry["in_ops"] for entry in outcome.result["interference"]] == [False, True]


def test_a_plan_of_loads_and_repetitions(path, out, tmp_path):
    loads = tmp_path / "loads.yaml"
    loads.write_text("phases:\n- name: neighbour\n  assignments:\n  - operation: {name: random-write, record_bytes: 8k}\n")
    outcome = run("--op", "read", "--background", str(loads), "--time", "0.5", "--repeat", "2", "-r", "4k", "-s", "256k", "-t", "1",
                  path=path, out=out).expect(0)
    undisturbed, beside = rows(outcome, "read")
    assert beside["background"] == "neighbour" and undisturbed["count"] == beside["count"] == 2
    load = outcome.phases[1]["parts"][1]
    assert (load["operation"], load["record_bytes"]) == ("random-write", 8192)
    # Data that it overwrites repeatedly is flushed; otherwise it would stay in memory.
    assert outcome.result["run"]["plan"]["phases"][1]["region"]["flush_passes"]


def test_a_rate_is_the_victims(path, out):
    outcome = run("--op", "random-read", "--rate", "50", "--background", "read@4k", "--time", "1.5", *server(5),
                  path=path, out=out).expect(0)
    undisturbed, beside = rows(outcome, "random-read")
    victims, load = outcome.phases[1]["parts"]
    assert "open_loop" in victims and "open_loop" not in load
    assert load["ops_per_s"] > 50
    assert beside["p99_us"] == victims["open_loop"]["response_us"]["p99"] and beside["p99_us"] > undisturbed["p50_us"]


def test_the_saved_plan_repeats_the_run(path, out, tmp_path):
    options = ("--op", "read", "--background", "write@64k", "--time", "0.3", "-r", "4k", "-s", "256k", "-t", "1")
    first = run(*options, path=path, out=out).expect(0)
    plan = first.result["run"]["plan"]
    assert not any(phase["background"] for phase in plan["phases"]) and plan["background_clients"] == 0
    printed = program.plain(*options, "--background-clients", "1", "--path", path, "--print-plan").expect(0).stdout
    assert "background: true" in printed and "background_clients: 1" in printed
    file = tmp_path / "plan.yaml"
    file.write_text(printed)
    again = program.run(["--plan", str(file), "--spawn", "2"], path=path, out=tmp_path / "again").expect(0)
    assert [phase["name"] for phase in again.phases] == [phase["name"] for phase in first.phases]


def test_a_criterion_of_the_operation_is_one_of_the_victims_undisturbed(path, out):
    outcome = run("--op", "read", "--background", "write@64k", "--time", "0.3", "-r", "4k", "-s", "256k", "-t", "1", "--require",
                  "read:max<=100s", "--require", "read beside write@64k:max<=100s", path=path, out=out)
    assert [each["phase"] for each in outcome.result["criteria"]] == ["read, undisturbed", "read beside write@64k"]


@pytest.mark.parametrize("options, message", [
    (["--op", "read", "--background", "noise@4k", "--time", "1"], '"noise" is no operation'),
    (["--op", "read", "--background", "create@4k", "--time", "1"], "metadata operations have no record size"),
    (["--op", "read", "--background", "write@", "--time", "1"], "--background write@"),
    (["--op", "read", "--background", "none.yaml", "--time", "1"], "none.yaml"),
    (["--op", "read", "--background", "write@4k"], "add --time"),
    (["--op", "read", "--background", "write@4k", "--time", "1", "--background-clients", "2"], "leaving none to measure"),
    (["--op", "read", "--background", "write@4m", "--time", "1"], "record"),
    (["--op", "read", "--background", "write@4k", "--per-client", "--time", "1"], "both divide the clients"),
    (["--mix", "70r:30w@4k", "--rate", "10", "--background", "write@4k"], "cannot be combined with --mix"),
    (["--op", "read", "--background-clients", "1"], "needs --background")])
def test_a_bad_background_is_refused_before_anything_is_written(options, message, path, out):
    outcome = run(*options, "-r", "4k", "-s", "256k", "-t", "1", path=path, out=out) if "--mix" not in options else \
        run(*options, path=path, out=out)
    assert outcome.code == 1 and message in re.sub(r"\s+", " ", outcome.stderr), outcome.stderr
    assert not outcome.data.exists()


def test_one_worker_is_refused(path, out):
    outcome = run("--op", "read", "--background", "write@4k", "--time", "1", "-r", "4k", "-s", "256k", path=path, out=out,
                  workers=0)
    assert outcome.code == 1 and "of the 1 worker of this run" in outcome.stderr
    assert not outcome.data.exists()
