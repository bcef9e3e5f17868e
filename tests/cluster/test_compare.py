"""compare and history: they compare saved runs, from the command line to the exit code."""
import csv
import io
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import xml.etree.ElementTree as ElementTree

import jsonschema
import program
import pytest
import reruns
import schema

SCHEMA_PATH = schema.ROOT / "docs" / "compare.schema.json"
GOLDEN = schema.ROOT / "tests" / "unit" / "golden"
FORMATS = ("text", "json", "junit", "markdown")
# Paced lanes do the same number of ops per second on any machine, so that one run is an eighth as fast as another. The pace
# makes up for a delay of one interval: 12.5 ms and 91 ms are long enough that a busy machine loses few ops.
FAST, SLOW = "80", "11"


def measure(path, out, pace, *more, seconds="0.5"):
    return program.run(["-i", "0", "-+n", "-r", "4k", "-s", "1m", "-t", "2", "--time", seconds, "-+O", pace, *more],
                       path=path, out=out).expect(0)


def load(text):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")
    document = json.loads(text, parse_constant=refuse)
    jsonschema.Draft202012Validator(schema.load(SCHEMA_PATH)).validate(document)
    return document


def compare(*arguments, code=0):
    return load(program.plain("compare", *arguments, "--format", "json").expect(code).stdout)


@pytest.fixture(scope="module")
@reruns.measures
def runs(tmp_path_factory):
    """Results of runs with three repetitions each: two at the same pace, one at an eighth of it."""
    base = tmp_path_factory.mktemp("runs")
    (base / "target").mkdir()
    for name, pace in (("fast", FAST), ("again", FAST), ("slow", SLOW)):
        measure(base / "target", base / name, pace, "--repeat", "3", "--label", f"the {name} one")
    return base


def student_tail(t, degrees):
    """P(T > t), integrated numerically, with no code of the program."""
    def density(x):
        return math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
                        - (degrees + 1) / 2 * math.log1p(x * x / degrees)) / math.sqrt(degrees * math.pi)
    steps = 20000
    width = t / steps
    inner = sum((4 if i % 2 else 2) * density(i * width) for i in range(1, steps))
    return 0.5 - width / 3 * (density(0) + inner + density(t))


def test_an_eighth_of_the_pace_is_worse_and_the_figures_follow_from_the_repetitions(runs):
    report = compare(runs / "fast", runs / "slow")
    (phase,) = report["phases"]
    before, after = ([phase["headline"]["bytes_per_s"] for phase in schema.load(runs / name / "result.json")["phases"]]
                     for name in ("fast", "slow"))
    assert len(before) == len(after) == 3
    assert phase["baseline"]["rate"] == pytest.approx(statistics.mean(before))
    assert phase["compared"]["rate"] == pytest.approx(statistics.mean(after))
    rate = phase["rate"]
    assert rate["ratio"] == pytest.approx(statistics.mean(after) / statistics.mean(before))
    assert rate["verdict"] == "worse" and phase["method"] == "repetitions" and 0.06 < rate["ratio"] < 0.5
    # Scatter of the mean, and half the square of the drift over three values.
    a, b = (math.sqrt(statistics.variance(values) / 3 + (3 * (values[2] - values[0]) / 2) ** 2 / 2) / statistics.mean(values)
            for values in (before, after))
    error, degrees = math.hypot(a, b), (a * a + b * b) ** 2 / (a ** 4 / 2 + b ** 4 / 2)
    reach = math.log(rate["high"] / rate["ratio"])
    assert math.log(rate["ratio"] / rate["low"]) == pytest.approx(reach)
    assert student_tail(reach / error, degrees) == pytest.approx(0.025, rel=1e-4)


@pytest.fixture(scope="module")
@reruns.measures
def single(tmp_path_factory):
    """Results of runs with one measurement each. Their paces give each time slice an op or two."""
    base = tmp_path_factory.mktemp("single")
    (base / "target").mkdir()
    for name, pace in (("fast", "200"), ("again", "200"), ("slow", "50")):
        measure(base / "target", base / name, pace, "--label", f"the {name} one", seconds="1")
    return base


def slices_of(out):
    """The throughput of the cluster in the slices that lie wholly in the headline's window."""
    (phase,) = schema.load(out / "result.json")["phases"]
    window_s = min(phase["measured_ops"] / phase["headline"]["ops_per_s"], phase["stonewall"]["at_s"])
    rows = csv.DictReader(io.StringIO(program.plain("report", out, "--format", "timeline-csv").expect(0).stdout))
    return [float(row["bytes_per_s"]) for row in rows
            if row["scope"] == "all" and float(row["time_s"]) + float(row["slice_s"]) <= window_s * (1 + 1e-6)]


def test_single_runs_are_compared_by_their_time_slices(single):
    report = compare(single / "fast", single / "slow")
    (phase,) = report["phases"]
    assert phase["method"] == "slices" and phase["baseline"]["count"] == phase["compared"]["count"] == 1
    before, after = (schema.load(single / name / "result.json")["phases"][0]["headline"]["bytes_per_s"]
                     for name in ("fast", "slow"))
    rate = phase["rate"]
    assert rate["ratio"] == pytest.approx(after / before) and rate["verdict"] == "worse" and 0.15 < rate["ratio"] < 0.5
    reach = math.log(rate["high"] / rate["ratio"])
    assert math.log(rate["ratio"] / rate["low"]) == pytest.approx(reach)
    # The slices of a lane at a steady pace vary less than independent ones, so their means are more certain than stdev/sqrt(n).
    slices = [slices_of(single / name) for name in ("fast", "slow")]
    assert all(len(each) >= 20 for each in slices)
    independent = math.hypot(*(statistics.stdev(each) / math.sqrt(len(each)) / statistics.mean(each) for each in slices))
    assert 0 < reach < 20 * independent
    text = program.plain("compare", single / "fast", single / "slow").expect(0).stdout
    assert re.search(r"intervals of single measurements come from time\s+slices within them", text)


def test_the_gate_judges_single_runs_too(single):
    program.plain("compare", single / "fast", single / "slow", "--fail-under", "95").expect(4)
    program.plain("compare", single / "fast", single / "slow", "--fail-under", "5").expect(0)
    program.plain("compare", single / "fast", single / "again", "--fail-under", "50").expect(0)
    assert compare(single / "slow", single / "fast")["phases"][0]["rate"]["verdict"] == "better"


def test_single_runs_that_are_too_short_for_slices_cannot_be_told_apart(path, tmp_path):
    for name in ("a", "b"):
        program.run(["-i", "0", "-+n", "-r", "4k", "-s", "16k", "-t", "1"], path=path, out=tmp_path / name).expect(0)
    (phase,) = compare(tmp_path / "a", tmp_path / "b")["phases"]
    assert phase["rate"]["verdict"] == "not shown" and "slices" in phase["rate"]["why"]


def test_a_gate_exits_with_4_below_the_limit_and_with_0_above(runs):
    failed = program.plain("compare", runs / "fast", runs / "slow", "--fail-under", "95").expect(4)
    assert "failed: 1 phase below 95 % of the baseline" in failed.stdout
    passed = program.plain("compare", runs / "fast", runs / "slow", "--fail-under", "2").expect(0)
    assert "passed: 1 phase shown to reach 2 % of the baseline" in passed.stdout
    program.plain("compare", runs / "fast", runs / "slow").expect(0)
    program.plain("compare", runs / "fast", runs / "again", "--fail-under", "50").expect(0)
    program.plain("compare", runs / "slow", runs / "fast", "--fail-under", "95").expect(0)


def test_unlike_plans_are_the_first_thing_said_like_ones_are_not_called_so(runs):
    text = program.plain("compare", runs / "fast", runs / "slow").expect(0).stdout
    assert text.startswith("UNLIKE PLANS: ")
    assert "plan phases[0].assignments[0].operation.between.ops_per_s: A 80; B 11" in text
    assert "the fast one" in text and "the slow one" in text
    like = compare(runs / "fast", runs / "again")
    assert like["like_plans"] and not [each for each in like["differences"] if each["of"] == "plan"]
    assert not program.plain("compare", runs / "fast", runs / "again").expect(0).stdout.startswith("UNLIKE")


def test_a_phase_of_one_run_only_is_listed(runs, path, out):
    program.run("-i 0 -i 1 -+n -r 4k -s 1m".split(), path=path, out=out).expect(0)
    report = compare(runs / "fast", out)
    assert not report["like_plans"]
    assert [(each["phase"]["name"], each["only_in_baseline"]) for each in report["unmatched"]] == [("read", False)]
    assert report["phases"][0]["rate"]["verdict"] == "not shown"
    assert "complete repetitions: 3 and 1" in report["phases"][0]["rate"]["why"]
    text = program.plain("compare", runs / "fast", out).expect(0).stdout
    assert "read: only in B" in text and "not shown" in text


def test_three_runs_are_two_comparisons(runs):
    report = compare(runs / "fast", runs / "again", runs / "slow")
    assert [phase["run"] for phase in report["phases"]] == [1, 2]
    assert len(report["counts"]) == 2 and report["counts"][1]["worse"] == 1
    text = program.plain("compare", runs / "fast", runs / "again", runs / "slow").expect(0).stdout
    assert "B against A" in text and "C against A" in text


def test_one_run_lists_its_repetitions(runs):
    report = compare(runs / "fast")
    (listed,) = report["repetitions"]
    rates = [phase["headline"]["bytes_per_s"] for phase in schema.load(runs / "fast" / "result.json")["phases"]]
    assert [each["rate"] for each in listed["repetitions"]] == pytest.approx(rates)
    assert listed["figures"]["median"] == pytest.approx(statistics.median(rates))
    assert listed["repetitions"][1]["of_median"] == pytest.approx(rates[1] / statistics.median(rates))
    assert "of median" in program.plain("compare", runs / "fast").expect(0).stdout


def test_a_sweep_is_a_map(path, tmp_path):
    for name, pace in (("a", "400"), ("b", "200")):
        program.run(["-i", "0", "-+n", "-r", "4k", "-r", "16k", "-s", "256k", "-s", "512k", "--time", "0.1", "-+O", pace,
                     "--repeat", "3"], path=path, out=tmp_path / name).expect(0)
    report = compare(tmp_path / "a", tmp_path / "b")
    (found,) = report["maps"]
    assert found["sizes_bytes"] == [256 << 10, 512 << 10] and found["records_bytes"] == [4096, 16384]
    ratios = [cell["ratio"] for cell in found["cells"]]
    assert len(ratios) == found["cell_count"] == 4
    assert found["geometric_mean"]["ratio"] == pytest.approx(statistics.geometric_mean(ratios))
    text = program.plain("compare", tmp_path / "a", tmp_path / "b").expect(0).stdout
    assert "geometric mean" in text and "size \\ record" in text


def check_junit(text):
    """The rules of the JUnit schema that CI servers rely on. Returns the suites."""
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"} == set(suite.attrib)
        assert len(suite.attrib["timestamp"]) == len("2026-03-01T10:15:00")
        tags = [child.tag for child in suite]
        assert [tag for tag, _ in itertools.groupby(tags)] in (
            ["properties", "testcase", "system-out", "system-err"], ["properties", "system-out", "system-err"])
        for entry in suite.find("properties"):
            assert entry.tag == "property" and set(entry.attrib) == {"name", "value"}
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))
        for case in cases:
            assert {"name", "classname", "time"} == set(case.attrib) and case.attrib["name"]
            assert [child.tag for child in case] in (["failure"], ["skipped"], ["system-out"])
    return list(root)


def test_junit_fails_where_the_gate_does(runs):
    arguments = ("compare", runs / "fast", runs / "slow", "--format", "junit")
    (suite,) = check_junit(program.plain(*arguments, "--fail-under", "95").expect(4).stdout)
    assert suite.attrib["failures"] == "1" and suite.find("testcase").attrib["classname"] == "write"
    (suite,) = check_junit(program.plain(*arguments).expect(0).stdout)
    assert suite.attrib["failures"] == "0"
    check_junit(program.plain("compare", runs / "fast", "--format", "junit").expect(0).stdout)


@pytest.mark.parametrize("name", ["compare", "history"])
def test_golden_files_are_what_their_readers_expect(name):
    load((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    check_junit((GOLDEN / f"{name}.junit.xml").read_text(encoding="utf-8"))


def test_the_golden_junit_of_a_validation_is_what_its_readers_expect():
    (suite,) = check_junit((GOLDEN / "validate.junit.xml").read_text(encoding="utf-8"))
    assert [suite.attrib[name] for name in ("tests", "failures", "skipped")] == ["7", "1", "3"]


@pytest.mark.parametrize("place, value", [
    (("schema",), "cluster-iobench comparison 1"), (("phases", 0, "rate", "verdict"), "slower"),
    (("phases", 0, "rate", "ratio"), "0.9"), (("phases", 0, "phase", "surprise"), 1), (("runs",), [])])
def test_the_schema_refuses_what_is_wrong(place, value):
    document = schema.load(GOLDEN / "compare.json")
    *path, last = place
    node = document
    for step in path:
        node = node[step]
    node[last] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(schema.load(SCHEMA_PATH)).validate(document)


def test_the_same_results_give_the_same_comparison(runs):
    for name in FORMATS:
        arguments = ("compare", runs / "fast", runs / "again", "--format", name)
        assert program.plain(*arguments).stdout == program.plain(*arguments).stdout


def test_a_file_is_written_and_not_overwritten(runs, tmp_path):
    file = tmp_path / "comparison.json"
    arguments = ("compare", runs / "fast", runs / "slow", "--format", "json", "--output", file)
    assert f"wrote {file}" in program.plain(*arguments).expect(0).stdout
    load(file.read_text())
    assert "exists: name another file" in program.plain(*arguments).expect(1).stderr
    file.write_text("old")
    program.plain(*arguments, "--force").expect(0)
    load(file.read_text())


def test_a_damaged_phase_is_named_and_the_others_are_compared(runs, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(runs / "again", damaged)
    raw = damaged / "raw" / "phase-001.pb"
    raw.write_bytes(raw.read_bytes()[:-10])
    outcome = program.plain("compare", runs / "fast", damaged, "--format", "json").expect(2)
    assert "phase-001.pb" in outcome.stderr
    report = load(outcome.stdout)
    assert report["phases"][0]["compared"]["count"] == 2
    assert any("phase-001.pb" in problem for problem in report["runs"][1]["problems"])
    run_record = damaged / "raw" / "run.pb"
    run_record.write_bytes(run_record.read_bytes()[:20])
    assert "run.pb" in program.plain("compare", runs / "fast", damaged).expect(1).stderr


@pytest.mark.parametrize("arguments, words", [
    ((), "there is no run in ./cluster-iobench.out"),
    (("{fast}", "{fast}"), "are the same directory"),
    (("{fast}", "{fast}/../fast"), "are the same directory"),
    (("{fast}", "/nonexistent"), "/nonexistent"),
    (("{fast}", "{target}"), "target"),
    (("{fast}", "{slow}", "--format", "pdf"), "pdf"),
    (("{fast}", "{slow}", "--level", "100"), "--level"),
    (("{fast}", "{slow}", "--fail-under", "0"), "--fail-under"),
    (("{fast}", "{slow}", "--fail-under", "many"), "--fail-under"),
    (("{fast}", "--fail-under", "95"), "needs a baseline"),
])
def test_bad_usage_is_one_line_and_exit_code_1(runs, arguments, words):
    names = {name: str(runs / name) for name in ("fast", "slow", "target")}
    outcome = program.plain("compare", *(each.format(**names) for each in arguments)).expect(1)
    assert words in outcome.stderr and len(outcome.stderr.splitlines()) == 1 and not outcome.stdout


def test_a_single_run_without_repetitions_is_refused_and_a_gate_that_judges_nothing_fails(runs, path, tmp_path):
    program.run("-i 0 -+n -r 4k -s 64k".split(), path=path, out=tmp_path / "a").expect(0)
    assert "no repetitions" in program.plain("compare", tmp_path / "a").expect(1).stderr
    outcome = program.plain("compare", tmp_path / "a", runs / "fast", "--fail-under", "50").expect(1)
    assert "can be judged" in outcome.stderr


def test_a_gate_that_is_neither_missed_nor_reached_is_inconclusive(runs, path, tmp_path):
    for name in ("a", "b"):
        measure(path, tmp_path / name, FAST)
    gate = ("compare", runs / "fast", tmp_path / "a", "--fail-under", "50")  # three repetitions against one: no interval
    outcome = program.plain(*gate).expect(4)
    assert "inconclusive: 1 phase of 1 not shown to be below or above 50 % of the baseline" in " ".join(outcome.stdout.split())
    program.plain(*gate, "--inconclusive", "0").expect(0)
    program.plain(*gate, "--inconclusive", "7").expect(7)
    (suite,) = check_junit(program.plain(*gate, "--format", "junit").expect(4).stdout)
    assert suite.attrib["failures"] == "0" and suite.attrib["skipped"] == "1"
    assert load(program.plain(*gate, "--format", "json").expect(4).stdout)["gate"]["inconclusive"] == 1


def test_what_is_not_shown_is_never_called_equal(runs):
    text = program.plain("compare", runs / "fast", runs / "again").expect(0).stdout
    assert "no difference" not in text and re.search(r"equal within 5 %|not shown|better|worse", text)
    wide = compare(runs / "fast", runs / "again", "--margin", "99")
    assert wide["margin_percent"] == 99


@pytest.fixture(scope="module")
@reruns.measures
def days(tmp_path_factory):
    """Eight runs in one directory, as runs without --out leave them; the last four are an eighth as fast as the first."""
    base = tmp_path_factory.mktemp("days")
    (base / "target").mkdir()
    (base / "cluster-iobench.out" / "not a run").mkdir(parents=True)
    for number in range(8):
        # The order of the names is not the order in time.
        measure(base / "target", base / "cluster-iobench.out" / f"{(5 * number) % 8}", FAST if number < 4 else SLOW,
                seconds="0.3")
    return base / "cluster-iobench.out"


def test_a_history_finds_the_run_since_which_it_is_slower(days):
    report = load(program.plain("history", days, "--format", "json").expect(0).stdout)
    assert [pathlib.Path(run["name"]).name for run in report["runs"]] == [str((5 * number) % 8) for number in range(8)]
    (phase,) = report["phases"]
    (change,) = phase["changes"]
    assert change["run"] == 4 and change["p"] < 0.05
    rates = [point["figure"]["rate"] for point in phase["points"]]
    assert change["ratio"] == pytest.approx(statistics.median(rates[4:]) / statistics.median(rates[:4]))
    assert not report["like_plans"]
    text = program.plain("history", days).expect(0).stdout
    assert text.startswith("UNLIKE PLANS") and "changed" in text and "trend" in text
    assert " a day" not in text and re.search(r"over [\d.]+ (s|min|h)", text), "eight runs within minutes say nothing of a day"


def test_the_gate_of_a_history_is_its_newest_change(days):
    assert "failed: 1 phase below 90 %" in program.plain("history", days, "--fail-under", "90").expect(4).stdout
    (suite,) = check_junit(program.plain("history", days, "--fail-under", "90", "--format", "junit").expect(4).stdout)
    assert suite.attrib["failures"] == "1"
    program.plain("history", days, "--fail-under", "2").expect(0)
    assert "# History of 8 runs" in program.plain("history", days, "--format", "markdown").expect(0).stdout


def test_a_history_of_nothing_is_refused(days, tmp_path):
    assert "at least two" in program.plain("history", days / "0").expect(1).stderr
    assert "holds no results" in program.plain("history", tmp_path).expect(1).stderr
    assert "same directory" in program.plain("history", days, days / "0").expect(1).stderr
    program.plain("history", days / "0", days / "1", "--fail-under", "90").expect(4)  # inconclusive


def test_both_have_a_help_that_names_their_options():
    for command in ("compare", "history"):
        text = program.plain(command, "--help").expect(0).stdout
        assert all(name in text for name in ("--format", "text|json|junit|markdown|html", "--level", "--margin", "--fail-under", "--inconclusive",
                                        "--output"))


@pytest.mark.parametrize("what", ["directory", "device", "fifo"])
def test_force_replaces_only_a_regular_file(what, runs, tmp_path):
    output = tmp_path / "output"
    if what == "directory":
        output.mkdir()
    elif what == "fifo":
        os.mkfifo(output)
    else:
        output.symlink_to("/dev/null")
    before = os.lstat(output)
    outcome = program.plain("compare", runs / "fast", runs / "slow", "--output", output, "--force").expect(1)
    assert "is not a regular file: name another one" in outcome.stderr, outcome
    assert os.lstat(output).st_ino == before.st_ino and not os.path.exists(f"{output}.partial")
