"""Every format shows the same figures: each is parsed and compared, to its last digit, with result.json, which is rounded
here as the format's description says. tests/web/page.test.mjs does that for the tables of the web page."""
import base64
import csv
import decimal
import gzip
import io
import json
import math
import pathlib
import re
import struct

import openpyxl
import program
import pytest
import reruns
import schema
from iozone_format import check_excel, check_table, check_throughput
from prometheus_client.openmetrics.parser import text_string_to_metric_families

SAVED = pathlib.Path(__file__).resolve().parents[2] / "tests" / "support" / "saved_runs" / "2026-11"
SWEEP = "-a -n 64k -g 128k -y 16k -q 64k -i 0 -i 1 -i 2 -R".split()
# Long enough that every figure of Bonnie++'s text is printed.
TIMED = "-t 2 -i 0 -i 1 -+n -r 4k -s 1m --ops-per-second 400 --op create,stat --items 256".split()


@pytest.fixture(scope="module")
@reruns.measures
def runs(tmp_path_factory):
    """Result directories by name: a run of an earlier version with repetitions, a sweep, and a run with long phases."""
    base = tmp_path_factory.mktemp("runs")
    found = {"saved": SAVED}
    for name, options in (("sweep", SWEEP), ("timed", TIMED)):
        (base / f"{name}-path").mkdir()
        program.run(options, path=base / f"{name}-path", out=base / name).expect(0)
        found[name] = base / name
    return found


@pytest.fixture(scope="module", params=["saved", "sweep", "timed"])
def run(request, runs, tmp_path_factory):
    directory = runs[request.param]
    file = tmp_path_factory.mktemp(request.param) / "result.json"
    program.plain("report", directory, "--format", "json", "--output", file).expect(0)
    result = schema.load(file)
    assert len(result["phases"]) > 3
    return request.param, directory, result


def shown(run, name=None, *more):
    _, directory, _ = run
    options = ("--format", name) if name else ()
    return program.plain("report", directory, *options, *more).expect(0).stdout


# --------------------------------------------------------------- how formats for people round (common/text/units.h)

def fixed(value, decimals):
    """Halves are rounded up as on paper: 7.775, which has no exact binary fraction, becomes 7.78."""
    return decimal.Decimal(f"{value:.12g}").quantize(decimal.Decimal(1).scaleb(-decimals), decimal.ROUND_HALF_UP)


def three_digits(value):
    """Three significant digits, without zeros at the end; all digits before the point."""
    text = str(fixed(value, 2 if value < 10 else 1 if value < 100 else 0))
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(value):
    return three_digits(value) if value < 100 else f"{fixed(value, 0):,}"


def size(value):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1023.5:
            return f"{count(value)} {unit}"
        value /= 1024
    raise AssertionError(value)


def duration(seconds):
    for factor, unit in ((1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1, "s")):
        if seconds * factor < 999.5 or unit == "s":
            return f"{three_digits(seconds * factor)} {unit}" if seconds else "0 s"
    raise AssertionError(seconds)


def rate(phase):
    headline = phase["headline"]
    return f"{count(headline['ops_per_s'])} ops/s" if phase["headline_in_ops"] else f"{size(headline['bytes_per_s'])}/s"


def latency(phase, key):
    """The latency as text; `~` means that fewer than 100 ops lie beyond it."""
    return ("~" if key in phase["latency_us"]["unsure"] else "") + duration(phase["latency_us"][key] / 1e6)


def latency_in(phase, key, table):
    """The figure in the unit that the head of the table gives for its column."""
    (unit,) = set(re.findall(rf"\b{key} (ns|us|ms|s)\b", table))
    value = count(phase["latency_us"][key] * {"ns": 1e3, "us": 1, "ms": 1e-3, "s": 1e-6}[unit])
    return ("~" if key in phase["latency_us"]["unsure"] else "") + value


BYTES_PER_S = {"KiB/s": 1 << 10, "MiB/s": 1 << 20, "GiB/s": 1 << 30}
SHOWN = ("p50", "p95", "p99")     # beside a headline


def title(phase, result):
    repetitions = result["run"]["plan"]["repetitions"]
    return phase["name"] + (f", {phase['repetition'] + 1} of {repetitions}" if repetitions > 1 else "")


# ------------------------------------------------------------------------------------------------- formats for people

def sweep_tables(text):
    """Returns operation -> (file size, record) -> rate and unit, all as text."""
    tables = {}
    for name, unit, head, body in re.findall(r"^(\S+), (\S+)\n  size \\ record(.*)\n((?: +\d+[kmg] .*\n)+)", text, re.M):
        records = head.split()
        for line in body.splitlines():
            at, *cells = re.sub(r" [a-z]+\b", "", line[2:] if line.startswith("  ") else line).split()
            # A small file has no cells for records that are larger than the file.
            tables.setdefault(name, {}).update({(at, record): (cell, unit) for record, cell in zip(records, cells)})
    return tables


def short(value):
    return f"{value // 1024}k" if value < 1 << 20 else f"{value >> 20}m"


def test_the_console(run):
    name, _, result = run
    text = shown(run)
    if name == "sweep":
        cells = {(operation, *place): cell for operation, table in sweep_tables(text).items() for place, cell in table.items()}
        rates = {(phase["operation"], short(phase["bytes_per_lane"]), short(phase["record_bytes"])):
                 phase["headline"]["bytes_per_s"] for phase in result["phases"]}
        assert cells.keys() == rates.keys()
        assert all(cell == count(rates[key] / BYTES_PER_S[unit]) for key, (cell, unit) in cells.items()), (cells, rates)
        return
    # Of repetitions, only all details have each.
    repeated = result["run"]["plan"]["repetitions"] > 1
    flat = " ".join((shown(run, None, "--verbose") if repeated else text).split())
    for phase in result["phases"]:
        assert phase["headline"]["name"] == "stonewalled"
        parts = [title(phase, result), rate(phase), f"stonewalled ({phase['headline']['region']})",
                 "" if phase["headline_in_ops"] else f"{count(phase['headline']['ops_per_s'])} ops/s",
                 "" if repeated else " ".join(f"{name} {latency(phase, name)}" for name in SHOWN)]
        assert " ".join(part for part in parts if part) in flat


def test_the_console_summary_and_repetitions(run):
    name, _, result = run
    if name == "sweep":
        assert "\nsummary\n" not in shown(run), "a sweep has its tables instead, which the test above compares"
        return
    flat = " ".join(shown(run).split("\nsummary\n")[1].split())
    # Each column has one unit, for figures without decimals from 100 on.
    rates = [unit for unit in BYTES_PER_S if f" {unit} " in flat.split(" ops/s ")[0] + " "]
    for phase in result["phases"] if result["run"]["plan"]["repetitions"] == 1 else []:
        (unit,) = rates
        rate_there = "" if phase["headline_in_ops"] else count(phase["headline"]["bytes_per_s"] / BYTES_PER_S[unit]) + " "
        latencies = " ".join(latency_in(phase, key, flat) for key in SHOWN)
        line = f"{title(phase, result)} {rate_there}{count(phase['headline']['ops_per_s'])} {phase['headline']['region']} {latencies}"
        assert line in flat, line
    for entry in result["repetitions"]:
        figures = [count(entry[key]) if entry["metadata"] else count(entry[key] / 2**20)
                   for key in ("median", "low", "high")]
        line = f"{entry['name']} {entry['count']} {'ops/s' if entry['metadata'] else 'MiB/s'} {figures[0]} {figures[1]} to {figures[2]}"
        assert line in flat, line


def test_markdown(run):
    _, _, result = run
    text = shown(run, "markdown").replace("\\", "").replace("*", "")
    table = text[text.index("| phase | throughput |"):].split("\n\n")[0].splitlines()
    heads = [cell.strip() for cell in table[0].strip("|").split("|")]
    rows = [dict(zip(heads, (cell.strip() for cell in line.strip("|").split("|")))) for line in table[2:]]
    assert len(rows) == len(result["phases"])
    for row, phase in zip(rows, result["phases"]):
        expected = {
            "phase": title(phase, result), "throughput": rate(phase), "window": phase["headline"]["name"],
            "region": phase["headline"]["region"], "ops/s": count(phase["headline"]["ops_per_s"]),
            "lanes": str(phase["lane_count"]), "duration": duration(phase["duration_s"]), "p50": latency(phase, "p50"),
            "p95": latency(phase, "p95"), "p99": latency(phase, "p99"), "max": duration(phase["latency_us"]["max"] / 1e6)}
        if not phase["metadata"]:
            expected.update({"record": size(phase["record_bytes"]), "per lane": size(phase["bytes_per_lane"]),
                             "moved": size(phase["bytes"])})
        assert {name: row[name] for name in expected} == expected
    repetitions = re.findall(r"^\| (.+?) \| (\d+) \| (.+?/s) \| (.+?/s) to (.+?/s) \|",
                             text.partition("## Repetitions\n")[2], re.M)
    assert len(repetitions) == len(result["repetitions"])
    for (name, times, *figures), entry in zip(repetitions, result["repetitions"]):
        per = (lambda value: f"{count(value)} ops/s") if entry["metadata"] else (lambda value: f"{size(value)}/s")
        assert (name, int(times), figures) == (entry["name"], entry["count"], [per(entry[key]) for key in ("median", "low", "high")])


# ------------------------------------------------------------------------------------------------ IOzone and Bonnie++

def test_iozone(run):
    name, _, result = run
    text = shown(run, "iozone")
    if name == "sweep":
        check_table(text, result)
        check_excel(text, result)
        return
    head, *blocks = text.split("\tChildren see throughput for ")
    assert len(blocks) == len(result["phases"])
    # IOzone has no metadata operations, so our lines for them are worded differently.
    data = [(block, phase) for block, phase in zip(blocks, result["phases"]) if not phase["metadata"]]
    check_throughput("\tChildren see throughput for ".join([head, *(block for block, _ in data)]),
                     dict(result, phases=[phase for _, phase in data],
                          run={"iozone": {"children": False, "cpu": False}, **result["run"]}))
    for block, phase in zip(blocks, result["phases"]):
        if phase["metadata"]:
            figures = re.findall(r"\t= *([\d.]+) ops/sec", block)
            assert figures[:2] == [f"{phase['throughput_ops_per_s'][key]:.2f}" for key in ("children", "parent")]


def bonnie_rate(phase):
    """Bonnie++ prints no rate for a test that takes less than half a second."""
    if phase["measured_ops"] / phase["headline"]["ops_per_s"] < 0.5:
        return "+++++"
    value = phase["headline"]["ops_per_s"] if phase["metadata"] else phase["headline"]["bytes_per_s"] / 1024
    return str(math.floor(value + 0.5))


def bonnie_latency(phase):
    us = phase["latency_us"]["max"]
    return f"{math.floor(us + 0.5)}us" if us < 99_999.5 else f"{math.floor(us / 1e3 + 0.5)}ms"


# Format -> operation -> fields of its rate and latency, from 0; versions 2.00a and 1.96.
BONNIE_FIELDS = {"bonnie-csv": {"write": (11, 39), "read": (17, 42), "create": (26, 44), "stat": (28, 45)},
                 "bonnie-csv-1.96": {"write": (9, 37), "read": (15, 40), "create": (24, 42), "stat": (26, 43)}}


@pytest.mark.parametrize("name", BONNIE_FIELDS)
def test_bonnie(run, name):
    _, _, result = run
    lines = list(csv.reader(io.StringIO(shown(run, name))))
    text = shown(run, "bonnie")
    assert len(lines) == max(1, result["run"]["plan"]["repetitions"])
    seen = 0
    for repetition, line in enumerate(lines):
        for operation, (of_rate, of_latency) in BONNIE_FIELDS[name].items():
            # There is room for only one size and record: the first.
            phases = [phase for phase in result["phases"] if (phase["operation"], phase["repetition"]) == (operation, repetition)]
            if not phases:
                continue
            assert (line[of_rate], line[of_latency]) == (bonnie_rate(phases[0]), bonnie_latency(phases[0])), (operation, line)
            assert re.search(rf"\s{re.escape(line[of_latency])}\s", text), "the text has the same"
            assert re.search(rf"[\s:]{re.escape(line[of_rate])}k?\s", text)
            seen += 1
    assert seen >= 2


# ------------------------------------------------------------------------------------------- formats for programs: exact

def number(text):
    return float(text) if text else None


def floats(*values):
    return [None if value is None else float(value) for value in values]


PHASE_COLUMNS = {
    "headline_bytes_per_s": ("headline", "bytes_per_s"), "headline_ops_per_s": ("headline", "ops_per_s"),
    "phase_bytes": ("bytes",), "phase_measured_bytes": ("measured_bytes",), "phase_duration_s": ("duration_s",),
    "full_bytes_per_s": ("throughput_bytes_per_s", "full"), "stonewalled_bytes_per_s": ("throughput_bytes_per_s", "stonewalled"),
    "children_bytes_per_s": ("throughput_bytes_per_s", "children"), "parent_bytes_per_s": ("throughput_bytes_per_s", "parent"),
    "phase_p50_us": ("latency_us", "p50"), "phase_p99_us": ("latency_us", "p99"), "phase_max_us": ("latency_us", "max"),
    "phase_ops": ("ops",), "phase_measured_ops": ("measured_ops",), "full_ops_per_s": ("throughput_ops_per_s", "full"),
    "skew_us": ("start", "skew_us"), "straggler_cost": ("straggler_cost",)}


def figure(phase, path):
    for name in path:
        phase = phase[name]
    return phase


def check_phase_columns(row, phase):
    for column, path in PHASE_COLUMNS.items():
        if phase["metadata"] and "bytes" in column:
            continue  # it has no bytes
        assert floats(number(row[column])) == floats(figure(phase, path)), column


def test_csv(run):
    _, _, result = run
    rows = list(csv.DictReader(io.StringIO(shown(run, "csv"))))
    assert len(rows) == len(result["phases"])
    for row, phase in zip(rows, result["phases"]):
        assert row["phase"] == phase["name"]
        check_phase_columns(row, phase)


def test_lanes_csv(run):
    _, _, result = run
    rows = iter(csv.DictReader(io.StringIO(shown(run, "lanes-csv"))))
    for phase in result["phases"]:
        for client in phase["clients"]:
            for worker in client["workers"]:
                for lane in worker["lanes"]:
                    row = next(rows)
                    check_phase_columns(row, phase)
                    names = ["ops_per_s", "end_s", "p50_us", "p99_us", "max_us"] + ([] if phase["metadata"] else ["bytes_per_s", "bytes"])
                    for name in names:
                        assert floats(number(row[name])) == floats(lane[name]), name
                    assert number(row["client_ops_per_s"]) == client["ops_per_s"]
    assert next(rows, None) is None


def test_openmetrics(run):
    _, _, result = run
    samples = {(sample.name, sample.labels.get("phase_index"), sample.labels.get("client"), sample.labels.get("quantile")): sample.value
               for family in text_string_to_metric_families(shown(run, "openmetrics")) for sample in family.samples}
    for index, phase in enumerate(result["phases"]):
        def of_phase(name, quantile=None, client=None, index=index):
            return samples[f"iobench_{name}", str(index), client, quantile]
        if not phase["metadata"]:
            assert of_phase("phase_bytes_per_second") == phase["headline"]["bytes_per_s"]
        assert of_phase("phase_ops_per_second") == phase["headline"]["ops_per_s"]
        for quantile, key in (("0.5", "p50"), ("0.99", "p99")):
            # The figure is in seconds: the division may round the last bit.
            assert of_phase("phase_latency_seconds", quantile) == pytest.approx(phase["latency_us"][key] / 1e6, rel=1e-15, abs=0)


def test_the_workbook(run, tmp_path):
    """A workbook's figures have 16 significant digits."""
    _, directory, result = run
    program.plain("report", directory, "--format", "workbook", "--output", tmp_path / "report.xlsx").expect(0)
    rows = [[cell.value for cell in row] for row in openpyxl.load_workbook(tmp_path / "report.xlsx")["summary"].iter_rows()]
    at = next(i for i, row in enumerate(rows) if row[0] == "phase")
    table = [dict(zip(rows[at], row)) for row in rows[at + 1:at + 1 + len(result["phases"])]]
    for row, phase in zip(table, result["phases"]):
        in_ops = phase["headline_in_ops"]
        assert row["phase"] == title(phase, result) and row["unit"] == ("ops/s" if in_ops else "MiB/s")
        headline = phase["headline"]["ops_per_s"] if in_ops else phase["headline"]["bytes_per_s"] / 2**20
        assert f"{row['throughput']:.15e}" == f"{float(f'{headline:.15e}'):.15e}"
        assert f"{row['p99 (us)']:.15e}" == f"{float(phase['latency_us']['p99']):.15e}"


def test_the_data_of_the_web_page(run, tmp_path):
    """The page embeds result.json, with exact columns in place of its lists of clients and lanes."""
    _, directory, result = run
    program.plain("report", directory, "--format", "html", "--output", tmp_path / "page.html").expect(0)
    (data,) = re.findall(r'id="data">([^<]*)<', (tmp_path / "page.html").read_text(encoding="utf-8"))
    raw = gzip.decompress(base64.b64decode(data))
    (length,) = struct.unpack_from("<I", raw)
    page, columns = json.loads(raw[4:4 + length]), (4 + length + 7) // 8 * 8
    assert page["result"]["run"] == result["run"] and page["result"]["repetitions"] == result["repetitions"]

    def column(description):
        assert description["type"] == "f64", "nothing is rounded in a small report"
        values = struct.unpack_from(f"<{description['count']}d", raw, columns + description["at"])
        return [None if math.isnan(value) else value for value in values]

    for phase, of_page, extra in zip(result["phases"], page["result"]["phases"], page["phases"]):
        assert {**of_page, "clients": None} == {**phase, "clients": None}
        lanes = [lane for client in phase["clients"] for worker in client["workers"] for lane in worker["lanes"]]
        in_ops = phase["headline_in_ops"]
        assert column(extra["lanes"]["rate"]) == [lane["ops_per_s" if in_ops else "bytes_per_s"] for lane in lanes]
        assert column(extra["lanes"]["end_s"]) == [lane["end_s"] for lane in lanes]
        assert column(extra["clients"]["p99_us"]) == [client["latency_us"]["p99"] for client in phase["clients"]]
