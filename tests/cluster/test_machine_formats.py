"""Formats for programs, read by the usual readers: pandas, LibreOffice and openpyxl, Prometheus' parser; HdrHistogram logs
are read by a decoder written from the format's description."""
import base64
import csv
import io
import math
import pathlib
import re
import shutil
import struct
import subprocess
import zipfile
import zlib

import openpyxl
import pandas
import program
import pytest
import schema
from prometheus_client.openmetrics.parser import text_string_to_metric_families

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BIG_RUN = pathlib.Path(program.BINARY).parent / "tests" / "big_run"
# Saved by the version before reports had other formats: without labels, hashes and latencies over time.
SAVED_2026_11 = SOURCE / "tests" / "support" / "saved_runs" / "2026-11"
HOSTILE = "=cmd|'/C calc'!A0,\"<script>alert(1)</script>\" nörd\n\x1b[31m"
# No formula in a spreadsheet, and no code for a terminal.
HOSTILE_IN_CSV = "'" + HOSTILE.replace("\x1b", "\\x1b")


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A saved run with three clients, the first of a hostile name, and two lanes each."""
    directory = tmp_path_factory.mktemp("big")
    subprocess.run([BIG_RUN, directory, "3", "2", "4"], check=True)
    return directory


@pytest.fixture(scope="module")
def big_result(big):
    return result_of(big)


def written(directory, name):
    """What `report` prints in a format."""
    outcome = subprocess.run([program.BINARY, "report", directory, "--format", name], capture_output=True, check=False)
    assert outcome.returncode == 0, outcome.stderr.decode()
    return outcome.stdout.decode()


def result_of(directory):
    file = directory / "checked.json"
    program.plain("report", directory, "--format", "json", "--output", file, "--force").expect(0)
    return schema.load(file)


def workbook_of(directory, file):
    program.plain("report", directory, "--format", "workbook", "--output", file).expect(0)
    return file


def formats():
    text = (SOURCE / "coordinator" / "options" / "format_names.h").read_text()
    return re.findall(r'"([a-z0-9-]+)"', text[text.index("kFormatNames[]"):].split(";")[0])


def same(cell, figure):
    """Whether they agree to the 16 significant digits that a workbook has."""
    if figure is None:
        return cell is None or (isinstance(cell, float) and math.isnan(cell))
    return cell == pytest.approx(figure, rel=1e-15, abs=0)


# ------------------------------------------------------------------------------------------- saved runs of any age

@pytest.mark.parametrize("name", formats())
@pytest.mark.parametrize("run", ["2026-11", "big"])
def test_every_format_can_be_written_of_a_saved_run(run, name, big, tmp_path):
    saved = big if run == "big" else SAVED_2026_11
    file = tmp_path / "report"
    outcome = program.plain("report", saved, "--format", name, "--output", file)
    if (run, name) == ("big", "mdtest"):
        assert outcome.code == 1 and "no metadata operation" in outcome.stderr and not file.exists()
        return
    outcome.expect(0)
    assert file.stat().st_size > 0


def test_a_run_of_an_earlier_version_has_its_figures(tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(SAVED_2026_11, copy)
    result = result_of(copy)
    assert [phase["name"] for phase in result["phases"][:3]] == ["write 1m/64k", "rewrite 1m/64k", "read 1m/64k"]
    assert len(result["phases"]) == 28
    # The figures in the file that the version of the run wrote.
    before = read_csv((SAVED_2026_11 / "phases.csv").read_text())
    # pandas' default number parser is not exact in the last bit.
    for column, figures in (("headline_ops_per_s", [phase["headline"]["ops_per_s"] for phase in result["phases"]]),
                            ("phase_p99_us", [phase["latency_us"]["p99"] for phase in result["phases"]])):
        assert list(before[column]) == pytest.approx(figures, rel=1e-15, abs=0)


@pytest.mark.parametrize("damage, words", [
    ("truncated", "truncated"), ("empty", "truncated"), ("ours no more", "truncated, or not a cluster-iobench file"),
    ("newer", "newer version"), ("newer fields", "newer version")])
def test_a_result_that_cannot_be_read_is_one_clear_line(damage, words, big, tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(big, copy)
    file = copy / "raw" / "run.pb"
    data = file.read_bytes()
    seal = data.rindex(b"IOBRUN01") - 6
    file.write_bytes({"truncated": data[:-100], "empty": b"", "ours no more": b"PK\x03\x04" * 100,
                      "newer": data.replace(b"IOBRUN01", b"IOBRUN02"),
                      # Field 1000, a number, which this version does not know.
                      "newer fields": sealed(data[:seal] + b"\xc0\x3e\x01", b"IOBRUN01")}[damage])
    outcome = program.plain("report", copy)
    assert outcome.code != 0
    lines = outcome.stderr.strip().splitlines()
    assert len(lines) == 1 and words in lines[0] and str(file) in lines[0], outcome


def sealed(message, kind):
    """The message with the seal that raw_files.cc appends."""
    checksum = 0xcbf29ce484222325
    for byte in message:
        checksum = (checksum ^ byte) * 0x100000001b3 % 2**64
    return message + b"\xfa\xff\xff\xff\x0f\x18" + kind + struct.pack("<QQ", len(message), checksum)


# --------------------------------------------------------------------------------------------------------- pandas

def read_csv(text):
    return pandas.read_csv(io.StringIO(text))


@pytest.mark.parametrize("name", [name for name in formats() if name.endswith("csv") and not name.startswith("bonnie")])
@pytest.mark.parametrize("run", ["2026-11", "big"])
def test_pandas_reads_csv_without_options(run, name, big):
    table = read_csv(written(big if run == "big" else SAVED_2026_11, name))
    assert len(set(table.columns)) == len(table.columns)
    assert not [column for column in table.columns if re.search(r"\.\d+$|^Unnamed", column)], "a name comes twice"
    texts = {"run_id", "started_at", "phase", "operation", "engine", "client", "file", "state", "client_marks", "marks",
             "headline_name", "headline_region", "stonewall_kind", "scope", "label", "unsure", "phase_unsure", "ops_failed"}
    for column in table.columns:
        if column in texts or table[column].isna().all():
            continue
        assert pandas.api.types.is_numeric_dtype(table[column]), f"{column} is {table[column].dtype}"


def test_csv_has_the_figures_of_the_result(big, big_result):
    phases = read_csv(written(big, "csv"))
    assert list(phases.headline_bytes_per_s) == pytest.approx(
        [phase["headline"]["bytes_per_s"] for phase in big_result["phases"]], rel=1e-15, abs=0)
    lanes = read_csv(written(big, "lanes-csv"))
    first = lanes[(lanes.phase_index == 0) & (lanes.client == HOSTILE_IN_CSV)]
    assert len(first) == 2
    client = big_result["phases"][0]["clients"][0]
    assert list(first.bytes_per_s) == pytest.approx(
        [lane["bytes_per_s"] for lane in client["workers"][0]["lanes"]], rel=1e-15, abs=0)
    assert pandas.to_datetime(phases.started_at).dt.year.eq(2026).all()


def test_the_timeline_of_all_is_the_sum_of_the_clients(big, big_result):
    table = read_csv(written(big, "timeline-csv"))
    assert not table.empty
    for index, phase in enumerate(big_result["phases"]):
        rows = table[table.phase_index == index]
        every, clients = rows[rows.scope == "all"], rows[rows.scope == "client"]
        assert set(clients.client) == {HOSTILE_IN_CSV if client["host"] == HOSTILE else client["host"] for client in phase["clients"]}
        assert every.time_s.is_monotonic_increasing and every.time_s.iloc[0] == 0
        sums = clients.groupby("time_s").bytes_per_s.sum()
        assert (abs(every.set_index("time_s").bytes_per_s - sums) <= 1e-3 * sums.max()).all()
        moved = (every.bytes_per_s * every.slice_s).sum()
        assert moved == pytest.approx(phase["bytes"], rel=0.02)


# ---------------------------------------------------------------------------------------------------- OpenMetrics

@pytest.mark.parametrize("run", ["2026-11", "big"])
def test_prometheus_parses_the_metrics(run, big):
    families = list(text_string_to_metric_families(written(big if run == "big" else SAVED_2026_11, "openmetrics")))
    assert len({family.name for family in families}) == len(families)
    for family in families:
        assert family.documentation, family.name
        assert family.name.endswith(family.unit), family.name
        labels = [tuple(sorted(sample.labels.items())) + (sample.name,) for sample in family.samples]
        assert len(set(labels)) == len(labels), f"{family.name}: two samples have the same labels"


def test_metrics_have_the_figures_of_the_result(big, big_result):
    samples = {(sample.name, sample.labels.get("phase_index"), sample.labels.get("client"),
                sample.labels.get("quantile")): sample.value
               for family in text_string_to_metric_families(written(big, "openmetrics")) for sample in family.samples}
    hostile = HOSTILE.replace("\x1b", "?")
    for index, phase in enumerate(map(str, range(4))):
        expected = big_result["phases"][index]
        assert samples["iobench_phase_bytes_per_second", phase, None, None] == expected["headline"]["bytes_per_s"]
        assert samples["iobench_phase_latency_seconds", phase, None, "0.99"] == pytest.approx(
            expected["latency_us"]["p99"] / 1e6, rel=1e-15)
        assert samples["iobench_phase_latency_seconds_count", phase, None, None] == expected["latency_us"]["count"]
        assert (samples["iobench_client_bytes_per_second", phase, hostile, None]
                == expected["clients"][0]["bytes_per_s"])


# ----------------------------------------------------------------------------------------------------------- hlog

def decoded(text):
    """Counts by bucket, from the description of the V2 encoding."""
    cookie, length = struct.unpack_from(">II", base64.b64decode(text, validate=True))
    assert cookie == 0x1c849314
    compressed = base64.b64decode(text)[8:]
    assert len(compressed) == length
    data = zlib.decompress(compressed)
    cookie, length, offset, digits, lowest, _, ratio = struct.unpack_from(">IIIIQQd", data)
    assert (cookie, offset, digits, lowest, ratio) == (0x1c849313, 0, 2, 1, 1.0)
    payload = data[40:]
    assert len(payload) == length
    counts, at, bucket = {}, 0, 0
    while at < length:
        value = 0
        for byte in range(9):
            value |= (payload[at] if byte == 8 else payload[at] & 0x7f) << 7 * byte
            at += 1
            if payload[at - 1] < 0x80:
                break
        value = value >> 1 ^ -(value & 1)
        if value < 0:
            bucket += -value
        else:
            counts[bucket] = value
            bucket += 1
    return counts


def upper_edge(bucket):
    """Upper edge, in ns, of an HdrHistogram bucket at two digits: 256 buckets of 1 ns, then 128 per octave."""
    if bucket < 256:
        return bucket
    shift = bucket // 128 - 1
    return ((bucket - 128 * shift + 1) << shift) - 1


@pytest.mark.parametrize("run", ["2026-11", "big", "flushed"])
def test_the_log_of_latencies_has_every_op_and_every_flush_call(run, big, path, tmp_path):
    directory = tmp_path / "run"
    if run == "flushed":
        program.run("-t 2 --op append-log,write -c -r 4k -s 64k".split(), path=path, out=directory).expect(0)
    else:
        shutil.copytree(big if run == "big" else SAVED_2026_11, directory)
    result = result_of(directory)
    lines = written(directory, "hlog").splitlines()
    assert "#[Histogram log format version 1.3]" in lines
    rows = [re.fullmatch(r"Tag=([^,\s]+),([\d.]+),([\d.]+),([\d.]+),(\S+)", line)
            for line in lines if not line.startswith(("#", '"'))]
    expected = []
    for phase in result["phases"]:
        expected.append((phase["name"].replace(" ", "_"), phase["latency_us"]))
        expected += [(f"{expected[-1][0]}:{call}", phase["by_kind"][call]["latency_us"])
                     for call in schema.FLUSH_CALLS if call in phase["by_kind"]]
    assert all(rows) and len(rows) == len(expected)
    assert any(":" in name for name, _ in expected) == (run != "2026-11")
    for row, (name, latency) in zip(rows, expected):
        counts = decoded(row[5])
        assert row[1] == name
        assert sum(counts.values()) == latency["count"]
        assert float(row[4]) == pytest.approx(latency["max"] / 1e3, abs=1e-6)
        for percentile, key in ((0.5, "p50"), (0.99, "p99")):
            rank, seen = math.ceil(percentile * latency["count"] * (1 - 1e-15)), 0
            for bucket in sorted(counts):
                seen += counts[bucket]
                if seen >= rank:
                    break
            assert min(upper_edge(bucket) / 1e3, latency["max"]) == latency[key]


# ------------------------------------------------------------------------------------------------------- workbook

def rows_of(sheet):
    return [[cell.value for cell in row] for row in sheet.iter_rows()]


def table(sheet, title):
    """The rows below the line whose first cell is `title`, as dictionaries, up to an empty line."""
    rows = rows_of(sheet)
    at = next(i for i, row in enumerate(rows) if row[0] == title)
    result = []
    for row in rows[at + 1:]:
        if row[0] is None:
            break
        result.append(dict(zip(rows[at], row)))
    return result


def test_every_format_has_the_rates_of_paths_that_are_used_at_once(path, tmp_path):
    second, out = tmp_path / "second", tmp_path / "out"
    second.mkdir()
    outcome = program.run(["-i", "0", "-+n", "-r", "64k", "-s", "2m", "-t", "2", "--spawn", "2", "--path", second], path=path,
                          out=out).expect(0)
    (phase,) = outcome.phases
    paths = phase["paths"]
    assert len(paths) == 2 and sum(each["bytes_per_s"] for each in paths) == pytest.approx(phase["headline"]["bytes_per_s"])
    (row,) = csv.DictReader(io.StringIO((out / "phases.csv").read_text()))
    assert row["paths"].split(";") == [each["path"] for each in paths]
    for figure in ("bytes_per_s", "ops_per_s"):
        assert [float(value) for value in row[f"paths_{figure}"].split(";")] == [each[figure] for each in paths]
    sheet = openpyxl.load_workbook(workbook_of(out, tmp_path / "report.xlsx"))["0 write"]
    for cells, expected in zip(table(sheet, "path"), paths, strict=True):
        assert cells["path"] == expected["path"]
        assert same(cells["MiB/s"], expected["bytes_per_s"] / 2**20) and same(cells["ops/s"], expected["ops_per_s"])
    for options in ((), ("--format", "markdown"), ("--format", "openmetrics")):
        said = "".join(program.plain("report", out, *options).expect(0).stdout.split())  # paths may be wrapped
        assert all(each["path"] in said for each in paths), options


def test_figures_of_the_workbook_are_those_of_the_result(big, big_result, tmp_path):
    book = openpyxl.load_workbook(workbook_of(big, tmp_path / "report.xlsx"))
    assert book.properties.created.isoformat() == "2026-11-01T12:00:00", "of the run, so that equal results give equal files"
    assert book.sheetnames[0] == "summary" and book.sheetnames[-1] == "facts"
    summary = table(book["summary"], "phase")
    assert len(summary) == len(big_result["phases"])
    for row, phase in zip(summary, big_result["phases"]):
        assert same(row["throughput"], phase["headline"]["bytes_per_s"] / 2**20) and row["unit"] == "MiB/s"
        assert same(row["p99 (us)"], phase["latency_us"]["p99"])
        assert row["phase"] == phase["name"]
        sheet = book[f"{phase['index']} {phase['name']}"]
        clients = table(sheet, "client")
        assert len(clients) == len(phase["clients"])
        for client, expected in zip(clients, phase["clients"]):
            assert same(client["MiB/s"], expected["bytes_per_s"] / 2**20)
            assert same(client["share of mean"], expected["share_of_mean"])
        assert sheet._charts, "the clients have a chart"   # pylint: disable=protected-access
    summary = book["summary"]
    assert summary.freeze_panes == "B4" and summary.auto_filter.ref.startswith("A3:"), "the titles of the phases stay in view"
    (started,) = [row[1] for row in rows_of(summary) if row[0] == "started"]
    assert started.replace(microsecond=0).isoformat() == big_result["run"]["started_at"][:19]
    rates = table(book["clients"], "client")
    assert [row["write 64k (MiB/s)"] for row in rates] == pytest.approx(
        [client["bytes_per_s"] / 2**20 for client in big_result["phases"][0]["clients"]], rel=1e-15, abs=0)


def test_names_are_text_in_a_workbook_whatever_they_look_like(big, tmp_path):
    file = workbook_of(big, tmp_path / "report.xlsx")
    book = openpyxl.load_workbook(file)
    hostile = HOSTILE.replace("\n", "?").replace("\x1b", "?")
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    # openpyxl takes any text that begins with "=" for a formula; the file itself distinguishes text and formulas.
    assert sum(cell.value == hostile for cell in cells) >= 8
    with zipfile.ZipFile(file) as parts:
        for name in parts.namelist():
            if name.startswith("xl/worksheets/sheet"):
                assert b"<f>" not in parts.read(name), f"{name} has a formula"


def test_a_sweep_has_a_surface_of_sizes_by_records(tmp_path):
    copy = tmp_path / "run"
    shutil.copytree(SAVED_2026_11, copy)
    result = result_of(copy)
    book = openpyxl.load_workbook(workbook_of(copy, tmp_path / "report.xlsx"))
    sheet = book["surface write"]
    rows = rows_of(sheet)
    assert rows[1][1:3] == [64, 128] and rows[2][0] == 1024, "KiB, as in IOzone"
    medians = {repetition["name"]: repetition["median"] for repetition in result["repetitions"]}
    assert [rate * 1024 for rate in rows[2][1:3]] == pytest.approx(
        [medians["write 1m/64k"], medians["write 1m/128k"]], rel=1e-15, abs=0)
    assert sheet._charts and sheet.conditional_formatting   # pylint: disable=protected-access


def test_the_surface_of_a_sweep_over_both_sizes_is_a_surface_chart(path, out, tmp_path):
    program.run(("-i", "0", "-+n", "-a", "-n", "64k", "-g", "256k", "-q", "32k", "--engine", "null"), path=path, out=out).expect(0)
    book = openpyxl.load_workbook(workbook_of(out, out / "mine.xlsx"))
    sheet = book["surface write"]
    surface, lines = sheet._charts   # pylint: disable=protected-access
    assert type(surface).__name__ == "SurfaceChart3D" and type(lines).__name__ == "LineChart"
    records, sizes = (4, 8, 16, 32), (64, 128, 256)
    rows = rows_of(sheet)
    assert tuple(rows[1][1:5]) == records and tuple(row[0] for row in rows[2:5]) == sizes
    assert [series.cat.numRef.f for series in surface.series] == ["'surface write'!$B$2:$E$2"] * 3
    assert [series.val.numRef.f for series in surface.series] == [f"'surface write'!$B${row}:$E${row}" for row in (3, 4, 5)]
    assert [series.tx.strRef.f for series in surface.series] == [f"'surface write'!$A${row}" for row in (3, 4, 5)]
    axes = {surface.x_axis.axId, surface.y_axis.axId, surface.z_axis.axId}
    assert len(axes) == 3 and surface.z_axis.crossAx in axes
    theirs = through_libreoffice(out / "mine.xlsx", tmp_path)["surface write"]
    assert len(theirs._charts) == 2   # pylint: disable=protected-access
    assert [row[1:5] for row in rows_of(theirs)[2:5]] == [pytest.approx(row[1:5], rel=1e-12, abs=0) for row in rows[2:5]]


def through_libreoffice(file, tmp_path):
    """The workbook as LibreOffice reads it: converted and saved again."""
    assert shutil.which("soffice"), "LibreOffice is missing: install libreoffice-calc (deploy/bootstrap.sh test does)"
    converted = subprocess.run(
        ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to",
         "xlsx:Calc MS Excel 2007 XML", "--outdir", tmp_path / "converted", file],
        capture_output=True, text=True, check=False, timeout=program.PATIENCE_S)
    assert converted.returncode == 0 and not converted.stderr.strip().startswith("Error"), converted
    return openpyxl.load_workbook(tmp_path / "converted" / file.name)


def opens_in_libreoffice(file, tmp_path):
    ours, theirs = openpyxl.load_workbook(file), through_libreoffice(file, tmp_path)
    assert theirs.sheetnames == ours.sheetnames
    # pylint: disable=protected-access
    assert [len(sheet._charts) for sheet in theirs] == [len(sheet._charts) for sheet in ours]
    return ours


# Where in the workbook the surfaces are depends on the number of phases: the second has 1,400.
@pytest.mark.parametrize("options", [("-Ra", "-g", "16m"), ("-Rac", "-z", "-e", "-g", "64m")], ids=" ".join)
def test_libreoffice_opens_the_workbook_of_automatic_mode(options, path, out, tmp_path):
    outcome = program.run([*options, "--engine", "null", "-b", tmp_path / "x.xls"], path=path, out=out).expect(0)
    book = opens_in_libreoffice(tmp_path / "x.xlsx", tmp_path)
    operations = dict.fromkeys(phase["operation"] for phase in outcome.phases)
    assert [name for name in book.sheetnames if name.startswith("surface ")] == [f"surface {name}" for name in operations]
    assert len(table(book["summary"], "phase")) >= len(outcome.phases)   # and a line on phases without a sheet


@pytest.mark.parametrize("suite, options", [
    ("bonnie", "-s 4m --items 20"),
    ("io500-like", "-s 2m --items 20"),
    ("iozone-auto", "-g 512k"),
    ("iozone-nfs", "-s 1m -r 64k"),
    ("metadata", "--items 20"),
    ("smoke", "-s 1m"),
])
def test_libreoffice_opens_the_workbook_of_a_suite(suite, options, path, out, tmp_path):
    file = tmp_path / "x.xlsx"
    printed = program.plain("--suite", suite, *options.split(), "--path", path, "--print-plan").expect(0).stdout
    (tmp_path / "plan.yaml").write_text(re.sub(r"(time|deadline)_s: 2$", r"\1_s: 0.1", printed, flags=re.M))
    outcome = program.run(["--plan", tmp_path / "plan.yaml", "-b", file], path=path, out=out).expect(0)
    assert len(table(opens_in_libreoffice(file, tmp_path)["summary"], "phase")) >= len(outcome.phases)


@pytest.mark.parametrize("run", ["2026-11", "big"])
def test_libreoffice_opens_the_workbook_and_reads_its_figures(run, big, tmp_path):
    file = workbook_of(big if run == "big" else SAVED_2026_11, tmp_path / "report.xlsx")
    ours, theirs = openpyxl.load_workbook(file), through_libreoffice(file, tmp_path)
    assert theirs.sheetnames == ours.sheetnames
    for sheet in ours:
        for row in sheet.iter_rows():
            for cell in row:
                read = theirs[sheet.title][cell.coordinate].value
                if isinstance(cell.value, (int, float)):
                    assert read == pytest.approx(cell.value, rel=1e-12), (sheet.title, cell.coordinate)
                else:
                    assert read == cell.value, (sheet.title, cell.coordinate)
        assert len(theirs[sheet.title]._charts) == len(sheet._charts)   # pylint: disable=protected-access


# -------------------------------------------------------------------------------------------------- -b FILE of a run

SMALL = ("-i", "0", "-r", "64k", "-s", "256k", "-t", "1")


def test_a_run_writes_its_workbook_to_a_file(path, out, tmp_path):
    outcome = program.run((*SMALL, "-b", tmp_path / "mine.xlsx"), path=path, out=out).expect(0)
    assert f"workbook: {tmp_path}/mine.xlsx\n" in outcome.stdout
    summary = table(openpyxl.load_workbook(tmp_path / "mine.xlsx")["summary"], "phase")
    assert [row["throughput"] for row in summary] == pytest.approx(
        [phase["headline"]["bytes_per_s"] / 2**20 for phase in outcome.phases], rel=1e-15, abs=0)


@pytest.mark.parametrize("ending", ["xls", "XLS", "wks"])
def test_an_old_ending_becomes_xlsx_and_the_run_says_so(ending, path, out, tmp_path):
    outcome = program.run((*SMALL, "-b", tmp_path / f"mine.{ending}"), path=path, out=out).expect(0)
    assert f"workbook: {tmp_path}/mine.xlsx (its format is not that of {tmp_path}/mine.{ending})\n" in outcome.stdout
    assert (tmp_path / "mine.xlsx").exists() and not (tmp_path / f"mine.{ending}").exists()


def test_an_existing_workbook_is_replaced_only_by_force(path, out, tmp_path):
    file = tmp_path / "mine.xlsx"
    file.write_text("precious")
    refused = program.run((*SMALL, "-b", file), path=path, out=out).expect(1)
    assert str(file) in refused.stderr and "--force" in refused.stderr
    assert file.read_text() == "precious" and not out.exists(), "nothing was measured"
    program.run((*SMALL, "-b", file, "--force"), path=path, out=out).expect(0)
    assert zipfile.is_zipfile(file)


@pytest.mark.parametrize("where", ["missing/mine.xlsx", "."])
def test_a_workbook_that_cannot_be_written_is_refused_before_anything_is_measured(where, path, out, tmp_path):
    outcome = program.run((*SMALL, "-b", tmp_path / where), path=path, out=out)
    assert outcome.code == 1 and "mine.xlsx" in outcome.stderr or "is a directory" in outcome.stderr, outcome
    assert not out.exists() and not (path / program.DATA_DIRECTORY).exists()


def test_the_network_test_has_no_report_that_a_workbook_could_show(tmp_path):
    outcome = program.plain("--net-test", "--spawn", "1", "-b", tmp_path / "mine.xlsx").expect(1)
    assert "-b (--workbook) is for the phases of a run: it cannot be combined with -+t" in outcome.stderr
    assert not (tmp_path / "mine.xlsx").exists()


def test_the_workbook_format_is_written_into_the_results(path, out):
    outcome = program.run((*SMALL, "--format", "workbook"), path=path, out=out).expect(0)
    assert zipfile.is_zipfile(out / "report.xlsx")
    assert "write" in outcome.stdout, "the console's report is still there"
