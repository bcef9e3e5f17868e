"""capacity: it finds the parameters that a simulated storage was given, and refuses bad questions."""
import json
import math
import re
import signal
import subprocess
import time

import jsonschema
import program
import pytest
import reruns
import schema
from test_client_list import clients  # noqa: F401  (a fixture)

BRIEFLY = ["--time", "0.7", "--warmup", "0.2", "--repeat", "2"]
LAMBDA, SIGMA, KAPPA = 40, 0.05, 0.002  # an op takes 25 ms when alone, which makes the delays of a busy machine small


def storage(service_ms):
    return f"sim:service={service_ms}ms,contention={SIGMA},crosstalk={KAPPA},distribution=constant"


STORAGE = storage(10)


def law(lanes):
    return LAMBDA * lanes / (1 + SIGMA * (lanes - 1) + KAPPA * lanes * (lanes - 1))


def capacity(*options, path, out=None):
    where = ["--out", out] if out else []
    return program.plain("capacity", *options, *where, path)


@pytest.fixture(scope="module")
@reruns.measures
def measured(tmp_path_factory):
    base = tmp_path_factory.mktemp("capacity")
    (base / "mnt").mkdir()
    outcome = capacity("--engine", storage(1000 / LAMBDA), "-t", "16", *BRIEFLY, "--points", "5", "--slo", "mean<=75ms",
                       "--load", "80", "--need", "180", "--users", "20", "--user-rate", "4", path=base / "mnt",
                       out=base / "out").expect(0)
    return outcome, json.loads((base / "out" / "capacity.json").read_text()), base


def test_the_law_of_the_storage_is_found(measured):
    """Bounds are loose, for real time on a shared machine; tests/unit/usl_test.cc, without real time, has tight ones."""
    _, report, _ = measured
    scaling, = report["scalings"]
    assert scaling["over"] == "lanes" and [level["n"] for level in scaling["levels"]] == [1, 2, 4, 8, 12, 16]
    for level in scaling["levels"]:
        assert level["median_ops_per_s"] == pytest.approx(law(level["n"]), rel=0.3)
        assert len(level["ops_per_s"]) == 2
    assert scaling["usl"]["lambda"]["value"] == pytest.approx(LAMBDA, rel=0.3)
    assert report["max"]["ops_per_s"] == max(level["median_ops_per_s"] for level in scaling["levels"])


def test_the_report_is_as_its_schema_says(measured):
    """The report has every message of the format, so that no new field can be forgotten in docs/capacity.schema.json."""
    _, report, _ = measured
    document = schema.load(schema.ROOT / "docs" / "capacity.schema.json")
    jsonschema.Draft202012Validator(document).validate(report)
    assert all(report[part] for part in ("scalings", "max", "curve", "overall_response", "slo", "load", "answers"))
    report = {**report, "invented": 1}
    assert not jsonschema.Draft202012Validator(document).is_valid(report)


def test_the_load_curve_goes_up_to_the_highest_rate(measured):
    _, report, _ = measured
    assert [point["share_of_max"] for point in report["curve"]] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1])
    for point in report["curve"]:
        assert point["offered_per_s"] == pytest.approx(point["share_of_max"] * report["max"]["ops_per_s"])
        assert point["repetitions"] == 2 and point["mean_us"] > 20_000
    assert report["curve"][0]["achieved_per_s"] == pytest.approx(report["curve"][0]["offered_per_s"], rel=0.7)  # 30 ops


def test_the_answers_follow_from_the_figures(measured):
    outcome, report, _ = measured
    limit = report["slo"]["max_ops_per_s"]
    assert report["slo"]["outcome"] in ("found", "met_up_to_max", "generator_bound"), report["slo"]["text"]
    assert 0 < limit <= report["max"]["ops_per_s"]
    assert report["load"]["factor"] == pytest.approx(limit / 80)
    answers = {entry["question"]: entry["answer"] for entry in report["answers"]}
    usl = report["scalings"][0]["usl"]
    needed = next(n for n, rate in zip(usl["curve_n"], usl["curve_ops_per_s"]) if rate >= 180)
    assert answers["lanes for 180 ops/s"].startswith(f"{math.ceil(needed)} lanes")
    assert f"allows {math.floor(limit / 4)} users" in answers["20 users with 4 ops/s each"]
    for heading in ("highest", "Scaling over lanes", "Load curve", "Search for the highest load with mean<=75ms"):
        assert heading in outcome.stdout


def test_the_run_is_an_ordinary_result_with_every_phase(measured):
    outcome, report, base = measured
    result = json.loads((base / "out" / "result.json").read_text())
    names = [phase["name"] for phase in result["phases"]]
    assert len(names) == report["phase_count"] + 1 == len(result["run"]["plan"]["phases"]) == len(set(names))
    again = program.plain("report", base / "out").expect(0)
    assert names[-1] in again.stdout
    assert again.stdout.lstrip().startswith(outcome.stdout.split("\nresults:")[0].strip()), "the answers come before the phases"
    assert (base / "out" / "report.html").exists() and "report.html, capacity.json" in outcome.stdout


def test_saved_runs_are_shown_again_and_laid_over_each_other(measured):
    outcome, report, base = measured
    again = program.plain("capacity", "--saved", base / "out").expect(0)
    assert again.stdout.strip() == outcome.stdout.split("\nresults:")[0].strip()
    both = program.plain("capacity", "--saved", base / "out", "--saved", base / "out", "--format", "json").expect(0)
    first, second = json.loads(both.stdout)
    assert first == report and second["name"] == f"{report['name']} (2)"
    assert "capacity.pb cannot be read" in program.plain("capacity", "--saved", base).expect(1).stderr


def test_a_saved_run_answers_other_questions(measured):
    _, report, base = measured
    saved = ["capacity", "--saved", base / "out"]
    asked = json.loads(program.plain(*saved, "--load", "20", "--need", "150", "--format", "json").expect(0).stdout)
    limit = report["slo"]["max_ops_per_s"]
    assert asked["load"]["factor"] == pytest.approx(limit / 20) and asked["curve"] == report["curve"]
    assert {answer["question"] for answer in asked["answers"]} >= {"lanes for 180 ops/s", "lanes for 150 ops/s"}
    assert "none: 90,000 ops/s is over" in program.plain(*saved, "--load", "90000").expect(4).stdout
    for options in (["--slo", "p99<=10ms"], ["--dry-run"], ["--points", "5"], ["--max-duration", "60"], ["--spawn", "2"]):
        refused = program.plain(*saved, *options).expect(1).stderr
        assert refused.strip().endswith(f"it cannot be combined with {options[0]}")
    assert "--users N and --user-rate OPS" in program.plain(*saved, "--users", "5").expect(1).stderr


def test_a_load_is_not_too_high_where_nothing_was_measured(tmp_path):
    """The saved report has nothing but its schema, field 1 of the message."""
    text = b"cluster-iobench capacity 1"
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "capacity.pb").write_bytes(bytes([0x0A, len(text)]) + text)
    shown = program.plain("capacity", "--saved", tmp_path, "--load", "100").expect(0).stdout
    assert "headroom at 100 ops/s: unknown, nothing was measured" in " ".join(shown.split())


def test_clients_and_lanes_are_swept_apart(path, out):
    """Workers of one host are one client; lanes count over all workers."""
    capacity("--engine", STORAGE, "--spawn", "2", "-t", "4", *BRIEFLY, "--points", "2", path=path, out=out).expect(0)
    report = json.loads((out / "capacity.json").read_text())
    assert [scaling["over"] for scaling in report["scalings"]] == ["lanes"]
    assert [level["n"] for level in report["scalings"][0]["levels"]] == [2, 4, 6, 8]
    assert not (path / program.DATA_DIRECTORY).exists(), "data was left"


def test_real_files_are_measured(path, out):
    outcome = capacity("-t", "2", "-s", "1m", *BRIEFLY, "--points", "2", path=path, out=out).expect(0)
    assert re.match(r"cluster-iobench: this takes about [\d.]+ s, plus the time to create the files\n", outcome.stderr)
    report = json.loads((out / "capacity.json").read_text())
    assert report["workload"] == "random-mix, 70 % reads, records of 8 KiB, O_DIRECT"
    assert report["max"]["bytes_per_s"] == pytest.approx(8192 * report["max"]["ops_per_s"], rel=0.01)
    assert report["scalings"][0]["usl_refused"], "two levels give no fit"
    assert not (path / program.DATA_DIRECTORY).exists(), "data was left"


def test_an_slo_that_cannot_be_met_is_said_in_one_line(path, out):
    outcome = capacity("--engine", STORAGE, "-t", "2", *BRIEFLY, "--points", "1", "--slo", "mean<=1ms", path=path, out=out)
    assert "mean<=1ms cannot be met at the lowest load" in outcome.expect(4).stdout
    questions = ["--load", "10", "--users", "5", "--user-rate", "2"]
    asked = program.plain("capacity", "--saved", out, *questions).expect(4).stdout
    assert "none: no load is known to meet mean<=1ms" in asked
    assert "10 ops/s: no load is known to meet mean<=1ms" in " ".join(asked.split())


def test_a_high_percentile_needs_few_ops_to_be_missed_by_far(path, out):
    """10,000 ops of 10 ms on one lane would take 100 s."""
    outcome = capacity("--engine", STORAGE, "-t", "1", *BRIEFLY, "--points", "1", "--slo", "p99<=1ms", path=path, out=out)
    assert "p99<=1ms cannot be met at the lowest load" in outcome.expect(4).stdout


def test_a_mix_that_cannot_be_sustained_is_a_missed_threshold(path, out):
    mix = ["--spawn", "2", "-t", "1", "-s", "64k", "--items", "20", "--mix", "70r:30w@8k 90% + stat 10%", *BRIEFLY]
    outcome = capacity(*mix, "--rate", "1e9", "--points", "1", path=path, out=out).expect(4)
    assert "highest     unknown" in outcome.stdout
    assert "not even 1/64 of the mix's load" in " ".join(outcome.stdout.split())


def test_times_the_mix_are_those_of_its_file_wherever_the_search_begins(path, out, tmp_path):
    mix = tmp_path / "mix.yaml"
    mix.write_text("parts: [{operation: random-read, record_bytes: 8k, ops_per_s: 20}]")
    capacity("--engine", "sim:service=10ms", "-t", "2", *BRIEFLY, "--points", "1", "--mix", mix, "--mix-factor", "2", path=path,
             out=out).expect(0)
    found = json.loads((out / "capacity.json").read_text())["max"]
    assert found["times_mix"] == pytest.approx(found["ops_per_s"] / 20)


def test_a_load_that_is_too_much_is_a_missed_threshold(path, out):
    outcome = capacity("--engine", STORAGE, "-t", "2", *BRIEFLY, "--points", "1", "--load", "5000", path=path, out=out)
    assert "none: 5,000 ops/s is over the highest rate" in outcome.expect(4).stdout


def test_a_dry_run_says_what_it_would_do_and_how_long_it_takes(path, out):
    outcome = capacity("--engine", STORAGE, "-t", "16", "--dry-run", "--slo", "p99<=20ms", path=path, out=out).expect(0)
    assert "18 phases: lanes per worker 1 2 4 8 12 16; 3 repetitions" in outcome.stdout
    assert "time  about" in outcome.stdout and not out.exists()


def test_less_time_gives_fewer_measurements(path, out):
    begin = time.monotonic()
    outcome = capacity("--engine", STORAGE, "-t", "8", "--time", "2", "--warmup", "0.2", "--max-duration", "25", path=path,
                       out=out).expect(0)
    assert "--max-duration: 1 repetition instead of 3" in outcome.stdout
    assert time.monotonic() - begin < 60
    report = json.loads((out / "capacity.json").read_text())
    assert {len(level["ops_per_s"]) for level in report["scalings"][0]["levels"]} == {1}


def test_an_interrupt_keeps_what_was_measured(path, out):
    process = subprocess.Popen([program.BINARY, "capacity", "--engine", STORAGE, "-t", "4", *BRIEFLY, "--progress", "--out",
                                str(out), str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("phase 4:"):
            break
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "incomplete" in stdout
    report = json.loads((out / "capacity.json").read_text())
    assert not report["complete"] and report["phase_count"] >= 2 and report["exit_code"] == 130
    assert not (path / program.DATA_DIRECTORY).exists(), "data was left"


def test_a_directory_must_be_named():
    for words in ([], ["--slo", "p99<=10ms"]):
        assert "capacity needs a directory to test in: --path DIR" in program.plain("capacity", *words).expect(1).stderr


def test_a_plan_has_its_own_lanes_and_times(path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(program.plain("run", "--print-plan", "--op", "random-read", "-r", "4k", "-s", "64k", "-t", "2", "--time", "0.5",
                                  path).expect(0).stdout)
    outcome = program.plain("capacity", "--plan", plan, "--points", "1", "--out", out).expect(0)
    assert "random-read, records of 4 KiB" in outcome.stdout
    assert [level["n"] for level in json.loads((out / "capacity.json").read_text())["scalings"][0]["levels"]] == [1, 2]


@pytest.mark.parametrize("repeat, said", [(["--repeat", "5"], "5 repetitions"), ([], "3 repetitions")], ids=["five", "none"])
def test_a_plan_says_how_often_each_level_is_measured(repeat, said, path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(program.plain("run", "--print-plan", "--op", "random-read", "-r", "4k", "-s", "64k", "-t", "2", "--time", "0.5",
                                  *repeat, path).expect(0).stdout)
    outcome = program.plain("capacity", "--plan", plan, "--dry-run", "--out", out).expect(0)
    assert f"lanes per worker 1 2; {said}" in outcome.stdout


@pytest.mark.parametrize("options, message", [
    (["--max-ops", "10"], "--max-ops (stop.max_ops) cannot be combined with capacity"),
    (["-J", "1"], "-J (think_ms) cannot be combined with capacity"),
    (["--rate", "5..9"], "give one rate")], ids=lambda value: value[0] if isinstance(value, list) else None)
def test_a_plan_that_sets_the_load_is_refused(options, message, path, out, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(program.plain("run", "--print-plan", "--op", "random-read", "-r", "4k", "-s", "64k", "--time", "0.5", *options,
                                  path).expect(0).stdout)
    outcome = program.plain("capacity", "--plan", plan, "--out", out).expect(1)
    assert message in outcome.stderr and len(outcome.stderr.splitlines()) == 1
    assert not out.exists() and not (path / program.DATA_DIRECTORY).exists()


def test_each_line_of_a_client_list_is_a_worker_with_all_lanes(clients, path, out):  # noqa: F811
    listed = clients.list(*[f"localhost {path} {program.BINARY}"] * 2)
    planned = clients.run("capacity", "--engine", STORAGE, "--dry-run", *listed).expect(0)
    assert "lanes per worker 1 2 4 8 12 16" in planned.stdout, "by default, whatever the number of lines"
    clients.run("capacity", "--engine", STORAGE, "-t", "2", "-s", "64m", "-+k", *BRIEFLY, "--points", "1", *listed,
                out=out).expect(0)
    run = json.loads((out / "result.json").read_text())["run"]
    assert run["worker_count"] == 2
    assert run["plan"]["files"]["bytes_per_lane"] == 16 << 20, "-+k: -s is for all lanes of all workers together"


@pytest.mark.parametrize("options, message", [
    (["--slo", "p98<=10ms"], "write FIGURE<=TIME"),
    (["--need", "fast"], "write a rate such as 5GiB/s"),
    (["--need", "0/s"], "write a rate such as 5GiB/s"),
    (["--need", "inf"], "write a rate such as 5GiB/s"),
    (["--load", "nan"], '"nan" is not a number from 0.001 to 1e+12'),
    (["--load", "20k"], '"20k" is not a number'),
    (["--users", "5"], "--users N and --user-rate OPS belong together"),
    (["--rate", "100"], "use --load for today's load"),
    (["-t", "2,4"], "capacity measures one workload, but these options give 2 phases"),
    (["-i", "0", "-i", "1"], "capacity measures one workload"),
    (["--max-duration", "2"], "is too short"),
    (["--deadline", "5"], "chooses lanes, loads"),
    (["-+b", "4m,20"], "-+b (--burst) cannot be combined with capacity"),
    (["-+q", "5"], "-+q (--rest) cannot be combined with capacity"),
    (["--mix", "70r:30w@8k", "--rate", "10..20"], "give one rate"),
    (["--saved", "x", "-r", "4k"], "cannot be combined with options of a workload"),
    (["--format", "html", "--output", "/nowhere/x"], "/nowhere"),
    (["--points", "0"], "--points")], ids=lambda value: value[0] if isinstance(value, list) else None)
def test_bad_questions_are_refused_before_anything_is_written(options, message, path, out):
    outcome = capacity(*options, path=path, out=out).expect(1)
    assert message in outcome.stderr and len(outcome.stderr.splitlines()) == 1
    assert not out.exists() and not (path / program.DATA_DIRECTORY).exists()
