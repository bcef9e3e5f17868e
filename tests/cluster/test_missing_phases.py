"""A saved run whose raw files are missing or damaged says so in every format, wherever they lie, and exits with 2."""
import base64
import csv
import gzip
import io
import json
import re
import shutil

import openpyxl
import program
import pytest
import reruns
import schema

OPTIONS = "-t 1 -i 0 -i 1 -r 4k -s 64k --label kept".split()     # write, rewrite, read, reread
LOST = (2, 3)
NAMES = ("read", "reread")


@pytest.fixture(scope="module")
@reruns.measures
def complete(tmp_path_factory):
    base = tmp_path_factory.mktemp("complete")
    (base / "path").mkdir()
    program.run(OPTIONS, path=base / "path", out=base / "out").expect(0)
    return base / "out"


@pytest.fixture
def lacking(complete, tmp_path):
    """A copy of a finished run without the raw files of its last two phases."""
    shutil.copytree(complete, tmp_path / "out")
    for index in LOST:
        (tmp_path / "out" / "raw" / f"phase-{index:03}.pb").unlink()
    return tmp_path / "out"


def data_of_page(file):
    """What a page shows, as text: its program reads it from the element `data`."""
    packed, = re.findall(r'id="data"[^>]*>([^<]*)<', file.read_text(encoding="utf-8"))
    return gzip.decompress(base64.b64decode(packed)).decode("utf-8", errors="replace")


def test_the_console_names_the_phases_that_are_missing(lacking):
    outcome = program.plain("report", lacking).expect(2)
    for index, name in zip(LOST, NAMES):
        for text in (outcome.stdout, outcome.stderr):
            assert re.search(rf"phase-{index:03}\.pb: missing \(phase {index + 1}, {name}\)", " ".join(text.split())), text


@pytest.mark.parametrize("name", ["json", "csv", "clients-csv", "lanes-csv", "timeline-csv", "openmetrics", "hlog", "iozone", "bonnie",
                                  "markdown", "junit"])
def test_every_text_lists_the_phases_that_are_missing(name, lacking):
    text = program.plain("report", lacking, "--format", name).expect(2).stdout
    if name == "json":
        missing = json.loads(text)["run"]["missing_phases"]
        assert [(phase["index"], phase["name"], phase["file"], phase["problem"]) for phase in missing] == [
            (index, phase, f"raw/phase-{index:03}.pb", "missing") for index, phase in zip(LOST, NAMES)]
    elif name.endswith("csv"):
        column = {"csv": "not_whole", "clients-csv": "not_whole", "lanes-csv": "state", "timeline-csv": "scope"}[name]
        rows = [row for row in csv.DictReader(io.StringIO(text)) if row[column] == "missing"]
        assert [(int(row["phase_index"]), row["phase"]) for row in rows] == list(zip(LOST, NAMES))
        assert all(len(row) == len(rows[0]) and None not in row for row in rows)
    else:
        for index, phase in zip(LOST, NAMES):
            words = " ".join(text.split())
            assert f'phase="{phase}",problem="missing"' in words or f"phase-{index:03}.pb: missing" in words, text


@pytest.mark.parametrize("name", ["html", "workbook"])
def test_every_file_lists_the_phases_that_are_missing(name, lacking, tmp_path):
    file = tmp_path / "report"
    program.plain("report", lacking, "--format", name, "--output", file).expect(2)
    if name == "workbook":
        shutil.move(file, tmp_path / "report.xlsx")
        cells = [str(cell.value) for row in openpyxl.load_workbook(tmp_path / "report.xlsx")["summary"] for cell in row]
        text = "\n".join(cells)
    else:
        text = data_of_page(file)
    for index in LOST:
        assert f"phase-{index:03}.pb: missing" in text


@pytest.mark.parametrize("name", ["text", "json", "junit", "markdown", "html"])
@pytest.mark.parametrize("command", ["compare", "history"])
def test_comparisons_list_the_phases_that_are_missing(command, name, complete, lacking, tmp_path):
    file = tmp_path / "comparison"
    outcome = program.plain(command, complete, lacking, "--format", name, "--output", file).expect(2)
    text = data_of_page(file) if name == "html" else " ".join(file.read_text(encoding="utf-8").split())
    for index in LOST:
        assert f"phase-{index:03}.pb: missing" in text and f"phase-{index:03}.pb: missing" in outcome.stderr


def test_verify_and_resume_list_the_phases_that_are_missing_and_resume_measures_them_again(lacking, tmp_path):
    verified = program.plain("report", lacking, "--verify").expect(2)
    shutil.copytree(lacking, tmp_path / "copy")
    resumed = program.plain("run", "--resume", tmp_path / "copy").expect(0)
    program.plain("report", tmp_path / "copy", "--verify").expect(0)
    for index, name in zip(LOST, NAMES):
        assert f"phase-{index:03}.pb: missing (phase {index + 1}, {name})" in verified.stdout
        assert f"phase-{index:03}.pb: missing (phase {index + 1}, {name})" in resumed.stderr


def test_the_first_phase_and_all_of_them_are_missed_too(complete, tmp_path):
    for lost in ([0], [0, 1, 2, 3]):
        shutil.copytree(complete, tmp_path / f"out{len(lost)}")
        for index in lost:
            (tmp_path / f"out{len(lost)}" / "raw" / f"phase-{index:03}.pb").unlink()
        result = json.loads(program.plain("report", tmp_path / f"out{len(lost)}", "--format", "json").expect(2).stdout)
        assert [phase["index"] for phase in result["run"]["missing_phases"]] == lost
        assert len(result["phases"]) == 4 - len(lost)


def test_a_damaged_file_is_listed_with_what_is_wrong(complete, tmp_path):
    shutil.copytree(complete, tmp_path / "out")
    file = tmp_path / "out" / "raw" / "phase-003.pb"
    file.write_bytes(file.read_bytes()[:-5])
    saved = tmp_path / "result.json"
    program.plain("report", tmp_path / "out", "--format", "json", "--output", saved).expect(2)
    missing, = schema.validate(saved)["run"]["missing_phases"]
    assert missing["index"] == 3 and missing["problem"].startswith("truncated")


def test_a_complete_run_misses_nothing(complete):
    result = json.loads(program.plain("report", complete, "--format", "json").expect(0).stdout)
    assert result["run"]["missing_phases"] == []
    assert all(phase["not_whole"] == "" for phase in result["phases"])
