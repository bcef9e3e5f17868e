"""--until steady repeats a plan in rounds until its figures are steady; a throttle within a phase is found and named."""
import csv
import json
import re
import signal
import time

import program
import pytest
from report_checks import check_report

ROUNDS = ("-r", "64k", "-s", "1m", "--time", "0.3", "-t", "2")
STEADY = ("--engine", "sim:service=1ms", "--op", "write,read", *ROUNDS, "--until", "steady")


def by_hand(figures, window):
    """Mean, range and slope in percent, by the definitions."""
    last = figures[-window:]
    mean = sum(last) / window
    middle = (window - 1) / 2
    rise = sum((i - middle) * figure for i, figure in enumerate(last)) / sum((i - middle) ** 2 for i in range(window))
    return mean, 100 * (max(last) - min(last)) / mean, 100 * rise * (window - 1) / mean


def check_rows(outcome, window):
    """The report's figures are those of its phases, by the rule."""
    steady = outcome.result["steady"]
    assert [row["name"] for row in steady["rows"]] == ["write", "read"]
    assert len(outcome.phases) == 2 * steady["rounds"]
    for place, row in enumerate(steady["rows"]):
        figures = [phase["headline"]["bytes_per_s"] for phase in outcome.phases[place::2]]
        assert row["rounds"] == figures
        mean, range_percent, slope_percent = by_hand(figures, window)
        assert row["mean"] == pytest.approx(mean) and row["first_round"] == steady["rounds"] - window + 1
        assert row["range_percent"] == pytest.approx(range_percent)
        assert row["slope_percent"] == pytest.approx(slope_percent, abs=1e-9)
    return steady


def test_rounds_end_once_all_phases_are_steady(path, out):
    outcome = program.run([*STEADY, "--steady-range", "60", "--steady-slope", "60"], path=path, out=out).expect(0)
    check_report(outcome.result)
    steady = check_rows(outcome, 5)
    assert steady["steady"] and all(row["steady"] for row in steady["rows"])
    assert all(row["range_percent"] <= 60 and abs(row["slope_percent"]) <= 60 for row in steady["rows"])
    # No earlier window was.
    for rounds in range(5, steady["rounds"]):
        judged = [by_hand(row["rounds"][:rounds], 5) for row in steady["rows"]]
        assert any(spread > 60 or abs(slope) > 60 for _, spread, slope in judged)
    lines = re.findall(r"^round (\d+) of at most 25: write .*, read .*; (.*)$", outcome.stdout, re.MULTILINE)
    assert [int(number) for number, _ in lines] == list(range(1, steady["rounds"] + 1))
    assert lines[0][1] == "5 rounds are needed" and lines[-1][1] == "steady"
    assert re.search(rf"^  steady +in rounds {steady['rounds'] - 4} to {steady['rounds']}: within 60 % of the mean", outcome.stdout,
                     re.MULTILINE)
    assert "summary" not in outcome.stdout
    again = program.plain("report", out, "--format", "json").expect(0)
    assert json.loads(again.stdout)["steady"] == steady
    markdown = program.plain("report", out, "--format", "markdown").expect(0).stdout
    assert "## Steady state" in markdown and "| read |" in markdown
    with open(out / "tables" / "steady-rounds.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["rate"]) for row in rows] == [rate for row in steady["rows"] for rate in row["rounds"]]
    assert not (path / program.DATA_DIRECTORY).exists()


def test_what_never_becomes_steady_ends_after_max_rounds_and_says_so(path, out):
    outcome = program.run([*STEADY, "--steady-window", "3", "--steady-range", "0.001", "--steady-slope", "0.001",
                           "--max-rounds", "4"], path=path, out=out).expect(4)
    check_report(outcome.result)
    steady = check_rows(outcome, 3)
    assert not steady["steady"] and steady["rounds"] == 4
    assert re.search(r"^  not steady +after 4 rounds: write range .*\(limit 0.001 %\)", outcome.stdout, re.MULTILINE)
    assert outcome.result["run"]["exit_code"] == 4


def test_a_run_that_was_interrupted_keeps_its_rounds_and_goes_on(path, out):
    args = [*STEADY, "--steady-window", "3", "--steady-range", "0.001", "--steady-slope", "0.001", "--max-rounds", "6"]
    with program.start(args, path=path, out=out) as running:
        running.wait_until((out / "raw" / "phase-002.pb").exists, "the end of a phase of the second round")
        time.sleep(0.1)
        running.process.send_signal(signal.SIGINT)
        interrupted = running.wait().expect(130)
    kept = interrupted.result["steady"]
    assert 1 <= kept["rounds"] < 6 and not kept["steady"]
    with program.start_bare([program.BINARY, "run", "--resume", str(out)]) as running:
        resumed = running.wait()
    resumed.expect(4)
    result = json.loads((out / "result.json").read_text())
    assert result["steady"]["rounds"] == 6 and len(result["phases"]) == 12
    for before, after in zip(kept["rows"], result["steady"]["rows"]):
        assert after["rounds"][:kept["rounds"]] == before["rounds"]


@pytest.mark.parametrize("more, why", [
    (["--soak", "60"], "a soak says how long its rounds go on"),
    (["--repeat", "3"], "--max-rounds says how often everything is repeated at most"),
    (["--per-client"], "compare clients in a run of its own"),
    (["--max-duration", "60"], "--max-rounds limits"),
    (["--max-rounds", "4"], "less than the window of 5 rounds"),
])
def test_what_cannot_be_combined_is_refused_in_one_line(more, why, path, out):
    refused = program.run([*STEADY, *more], path=path, out=out).expect(1)
    assert why in refused.stderr and refused.stderr.count("\n") == 1
    assert not out.exists()


def test_capacity_has_a_rule_of_its_own(path):
    refused = program.plain("capacity", "--path", path, "--until", "steady").expect(1)
    assert "--until" in refused.stderr


# 1 MiB in 4 lanes of 20 ms each: 200 MiB a second, until the bucket is empty; then 40 MiB a second. Ops are so long that it
# matters little when a busy machine runs the lanes late.
RECORD, FAST, SLOW = 1 << 20, 200 << 20, 40 << 20


def throttled(path, out, burst_s, *more):
    burst = int(burst_s * (FAST - SLOW))
    return program.run(["--engine", f"sim:servers=4,service=20ms,baseline={SLOW},burst={burst}", "--op", "read", "-r", "1m",
                        "-s", "4g", "-t", "4", "--time", "5", *more], path=path, out=out).expect(0), burst


def test_a_token_bucket_is_found_where_its_law_says(path, out):
    outcome, burst = throttled(path, out, 2)
    check_report(outcome.result)
    phase, = outcome.phases
    change, = phase["changes"]
    # The machine may be busy, so that the lanes are slower than the model: the law holds for what they did.
    assert change["after_per_s"] == pytest.approx(SLOW, rel=0.05)
    assert change["before_per_s"] <= 1.05 * FAST
    assert change["bytes_until"] == pytest.approx(burst + SLOW * change["at_s"], rel=0.05)
    assert change["at_s"] == pytest.approx(burst / (change["before_per_s"] - SLOW), rel=0.08)
    assert change["low_s"] < change["at_s"] < change["high_s"] and change["ops_until"] * RECORD == change["bytes_until"]
    assert "rate_changed" in [mark["code"] for mark in phase["marks"]]
    assert change["cause"] in ("burst credits used up", "")  # unknown if the machine disturbed the levels
    assert "\n  rate fell   from " in outcome.stdout
    markdown = program.plain("report", out, "--format", "markdown").expect(0).stdout
    assert "## Changes of the rate" in markdown
    with open(out / "tables" / "rate-changes.csv", encoding="utf-8") as file:
        row, = csv.DictReader(file)
    assert float(row["at_s"]) == change["at_s"] and float(row["after"]) == change["after_per_s"]
    assert int(row["bytes_until"]) == change["bytes_until"]


def test_a_bucket_that_lasts_is_no_change_and_a_warm_up_past_it_leaves_one_level(path, out, tmp_path):
    lasting, _ = throttled(path, out, 50)
    assert lasting.phases[0]["changes"] == []
    outcome, _ = throttled(path, tmp_path / "other", 1, "--warmup", "2.5")
    phase, = outcome.phases
    assert phase["changes"] == [] and "rate_changed" not in [mark["code"] for mark in phase["marks"]]
    assert phase["headline"]["bytes_per_s"] == pytest.approx(SLOW, rel=0.05)
