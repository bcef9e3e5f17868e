"""Bonnie++'s formats agree with result.json, and Debian's bon_csv2html and bon_csv2txt accept them."""
import html.parser
import math
import re
import shutil
import subprocess

import program
import pytest
import reruns

# (operation, whether the items are in random order), in the order of Bonnie++'s columns.
TESTS = [("putc", False), ("write", False), ("update", False), ("getc", False), ("read", False), ("seeks", False),
         ("create", False), ("stat", False), ("unlink", False), ("create", True), ("stat", True), ("unlink", True)]
DATA_TESTS = 5                # those with a rate in KiB/s
# 256 records at 400 per second take more than half a second, so that figures are printed.
SUITE = "--suite bonnie -s 2m -t 2 --items 256 --tree-depth 1 --tree-branching 3".split()
SLOW = ["--ops-per-second", "400"]
NAME = 'lab, "rack 3" <b>'
SAFE_NAME = "lab_ _rack 3_ _b_"


@pytest.fixture(scope="module")
@reruns.measures
def slow(tmp_path_factory):
    """A run in which every test takes more than half a second."""
    path = tmp_path_factory.mktemp("slow")
    return program.run([*SUITE, *SLOW, "--label", NAME], path=path, out=path / "out").expect(0)


@pytest.fixture(scope="module")
@reruns.measures
def fast(tmp_path_factory):
    """A run in which no test takes half a second on most machines."""
    path = tmp_path_factory.mktemp("fast")
    return program.run(SUITE, path=path, out=path / "out").expect(0)


def shown(outcome, name):
    return program.plain("report", outcome.out, "--format", name).expect(0).stdout


def csv_line(outcome, name="bonnie-csv"):
    lines = shown(outcome, name).splitlines()
    assert len(lines) == 1, "one client is the whole run"
    return lines[0]


def phase_of(result, test):
    operation, at_random = test
    return next(phase for phase in result["phases"]
                if phase["operation"] == operation and phase.get("tree", {}).get("random_order", False) == at_random)


def half_up(value):
    return str(math.floor(value + 0.5))


def rate_and_cpu(result, number):
    """What Bonnie++ would print, computed from result.json."""
    phase = phase_of(result, TESTS[number])
    headline = phase["headline"]
    if phase["measured_ops"] / headline["ops_per_s"] < 0.5:
        return "+++++", "+++"
    if number < DATA_TESTS:
        rate = half_up(headline["bytes_per_s"] / 1024)
    elif number == DATA_TESTS and headline["ops_per_s"] < 999.95:
        rate = f"{headline['ops_per_s']:.1f}"
    else:
        rate = half_up(headline["ops_per_s"])
    cpu_s = phase["lanes_cpu_user_s"] + phase["lanes_cpu_system_s"]
    return rate, half_up(100 * cpu_s / phase["lanes_wall_s"]) if phase["lanes_wall_s"] else ""


def latency(result, number):
    us = phase_of(result, TESTS[number])["latency_us"]["max"]
    return half_up(us) + "us" if us < 99_999.5 else half_up(us / 1e3) + "ms"


def converted(tool, text):
    """The text converted by a tool of Debian's bonnie++, a package that the tests need."""
    assert shutil.which(tool), f"{tool} is missing: install Debian's bonnie++ (deploy/bootstrap.sh test does)"
    done = subprocess.run([tool], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and not done.stderr and "Can't process" not in done.stdout, done
    return done.stdout


class Cells(html.parser.HTMLParser):
    """The rows of all tables, and the tags that occur."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


@pytest.mark.parametrize("which", ["slow", "fast"])
def test_the_figures_of_the_csv_are_those_of_the_result(which, slow, fast):
    outcome = {"slow": slow, "fast": fast}[which]
    result, fields = outcome.result, csv_line(outcome).split(",")
    assert len(fields) == 50
    assert fields[:2] == ["1.98", "2.00a"]
    assert fields[3:9] == ["1", str(result["run"]["plan"]["seed"]), "2M", "8k", "512", "2"]
    assert fields[21:26] == ["0.25", "", "", "3", ""]
    rates = [tuple(fields[i:i + 2]) for i in (*range(9, 21, 2), *range(26, 38, 2))]
    assert rates == [rate_and_cpu(result, i) for i in range(12)]
    assert fields[38:] == [latency(result, i) for i in range(12)]
    if which == "slow":
        assert "+++++" not in fields, "every test of the slow run has figures"


def test_the_older_layout_has_the_same_figures(slow):
    newer, older = csv_line(slow).split(","), csv_line(slow, "bonnie-csv-1.96").split(",")
    assert older == ["1.96", "1.96", *newer[2:7], *newer[9:]] and len(older) == 48


def test_the_name_is_the_label_or_the_host(slow, fast):
    assert csv_line(slow).split(",")[2] == SAFE_NAME
    assert csv_line(fast).split(",")[2] == fast.result["run"]["coordinator_host"]


def figures_of(text):
    """The cells of each line of rates and of latencies, by their columns."""
    lines, found = text.splitlines(), []
    for line, latencies in zip(lines, lines[1:]):
        if latencies.startswith("Latency"):
            found.append([line[begin:begin + 10].split() for begin in range(19, 79, 10)])
            found.append(latencies.split()[1:])
    return found


def test_the_text_has_the_figures_that_bonnies_own_tool_makes_of_the_csv(slow):
    """bon_csv2txt prints the rows under the same titles; only the text to the left of the figures differs."""
    ours, theirs = shown(slow, "bonnie"), converted("bon_csv2txt", csv_line(slow) + "\n")
    assert all(len(line) <= 80 for line in ours.splitlines()), ours
    found = figures_of(ours)
    assert len(found) == 4 and found == figures_of(theirs), f"{ours}\n{theirs}"


def test_bonnies_own_tool_makes_a_page_of_the_csv(slow, fast):
    fields = csv_line(slow).split(",")
    page = Cells(converted("bon_csv2html", csv_line(slow) + "\n" + csv_line(fast) + "\n"))
    assert "b" in page.tags and not any("<b>" in cell for row in page.rows for cell in row)
    row = next(row for row in page.rows if row and row[0] == SAFE_NAME)
    assert row[1:3] == ["2M", "8k"]
    figures = [cell for cell in row if re.fullmatch(r"[\d.]+", cell)]
    for value in (fields[19], *(fields[i] for i in range(26, 38, 2))):      # the page gives data rates in MiB/s
        assert value in figures, (value, row)
    assert any(row and row[0] == fast.result["run"]["coordinator_host"] for row in page.rows)


def test_seeks_are_told_in_ops_on_the_screen_too(slow):
    seeks = phase_of(slow.result, TESTS[5])
    assert seeks["headline_in_ops"] and not seeks["metadata"]
    assert not phase_of(slow.result, ("read", False))["headline_in_ops"]
    assert phase_of(slow.result, ("stat", False))["headline_in_ops"]
    line = next(line for line in slow.stdout.splitlines() if line.startswith("seeks "))
    assert re.match(r"seeks +[\d,.]+ ops/s .* [\d.]+ [KMG]iB/s", line), line


def test_the_head_says_how_large_the_files_really_are(path, out):
    outcome = program.run("--suite bonnie -s 4m --items 20 -w".split(), path=path, out=out).expect(0)
    text = " ".join(outcome.stdout.split())
    assert ("files 3 MiB to 4 MiB per lane, 4 MiB in all; in seeks, all lanes of a worker use the file of its first; "
            "records of 8 KiB") in text, outcome.stdout
    assert sum(file.stat().st_size for file in outcome.data.glob("lane-*")) == 4 << 20


def test_a_run_without_any_of_bonnies_tests_says_what_to_run(path, out):
    program.run("--op random-read -s 64k -r 4k".split(), path=path, out=out).expect(0)
    for name in ("bonnie", "bonnie-csv", "bonnie-csv-1.96"):
        refused = program.plain("report", out, "--format", name)
        assert refused.code != 0 and "--suite bonnie" in refused.stderr, refused


def test_a_run_prints_and_keeps_the_text(path, out):
    outcome = program.run([*SUITE, "--format", "bonnie"], path=path, out=out).expect(0)
    saved = (out / "report.bonnie.txt").read_text()
    assert saved.startswith("Version 2.00a ") and saved in outcome.stdout
