"""An acceptance test: criteria stated before the run, a report to hand over, names left out, results that can be verified."""
import base64
import gzip
import json
import re
import zipfile

import program
from markdown_it import MarkdownIt

# One lane, which cannot start later than others, however busy the machine is.
NULL = ("-i", "0", "-i", "1", "-r", "4k", "-s", "64m", "-t", "1", "--engine", "null")
REAL = ("-i", "0", "-i", "1", "-r", "64k", "-s", "4m", "-t", "2", "-ce", "--seed", "7")


def criteria(*texts):
    return [word for text in texts for word in ("--require", text)]


def verdicts(result):
    return {each["criterion"]: (each["met"], each["problem"]) for each in result["criteria"]}


def test_met_criteria_exit_with_0_and_missed_ones_with_4(path, out, tmp_path):
    met = program.run([*NULL, "--time", "1.2", *criteria("write>=1MiB/s", "read:jain>=0.01", "*>=1ops/s")],
                      path=path, out=out).expect(0)
    assert all(each["met"] for each in met.result["criteria"]) and len(met.result["criteria"]) == 3
    assert "All 3 criteria are met." in met.stdout
    missed = program.run([*NULL, "--time", "1.2", *criteria("write>=1MiB/s", "read>=900000TiB/s")],
                         path=path, out=tmp_path / "second").expect(4)
    assert verdicts(missed.result) == {"write>=1MiB/s": (True, ""), "read>=900000TiB/s": (False, "")}
    assert missed.result["run"]["exit_code"] == 4 and "1 of 2 criteria is not met" in missed.stdout
    measured = {each["criterion"]: each["measured"] for each in missed.result["criteria"]}
    assert measured["read>=900000TiB/s"] == missed.phase("read")["headline"]["bytes_per_s"]


def test_a_doubtful_figure_does_not_meet_a_criterion(path, out):
    outcome = program.run(["-i", "0", "-r", "4k", "-s", "64k", *criteria("write>=1B/s", "write:marks=none")],
                          path=path, out=out).expect(4)
    assert "too_short" in verdicts(outcome.result)["write>=1B/s"][1]
    assert verdicts(outcome.result)["write:marks=none"] == (False, "")
    assert "could not be decided" in outcome.stdout and "undecided" in outcome.stdout


def test_a_bad_criterion_is_refused_before_anything_is_written(path, out):
    for criterion, words in (("write>900MiB/s", "write>=900MiB/s"), ("wrte>=1MiB/s", "did you mean write"),
                             ("write:p98<=1ms", "p98"), ("write>=900", "needs a unit")):
        outcome = program.run([*NULL, *criteria(criterion)], path=path, out=out).expect(1)
        assert words in outcome.stderr, outcome
        assert not out.exists() and not (path / program.DATA_DIRECTORY).exists()


def test_criteria_stand_in_plans_and_are_judged_again_from_a_saved_run(path, out, tmp_path):
    plan = program.plain("run", *NULL, "--time", "1.2", *criteria("write>=1MiB/s"), "--path", path, "--print-plan").expect(0).stdout
    assert "write>=1MiB/s" in plan
    file = tmp_path / "plan.yaml"
    file.write_text(plan)
    outcome = program.run(["--plan", str(file), *criteria("read>=1MiB/s")], path=path, out=out).expect(0)
    assert set(verdicts(outcome.result)) == {"write>=1MiB/s", "read>=1MiB/s"}
    again = json.loads(program.plain("report", out, "--format", "json").expect(0).stdout)
    assert again["criteria"] == outcome.result["criteria"]


def tables(text):
    """The tables of a Markdown document, each a list of rows of cells."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    found = []
    for i, token in enumerate(tokens):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and tokens[i - 1].type in ("td_open", "th_open"):
            found[-1][-1].append("".join(child.content for child in token.children))
    return found


def test_the_document_renders_with_every_figure_in_its_cell(tmp_path, out):
    place = tmp_path / "a|b <i>x&lt; *y* `z`"
    place.mkdir()
    outcome = program.run([*REAL, "--label", "Storage | <7>", *criteria("write>=1B/s")], path=place, out=out)
    text = program.plain("report", out, "--format", "markdown").expect(0).stdout
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<h1>Storage | &lt;7&gt;</h1>" in html
    assert "<i>" not in html and "<em>y" not in html
    by_title = {}
    for table in tables(text):
        by_title.setdefault(table[0][0], table)  # the first table of phases has their figures
    for table in by_title.values():
        assert all(len(row) == len(table[0]) for row in table)
    assert [row[0] for row in by_title["phase"][1:]][:2] == ["write", "rewrite"]
    assert any(place.name in row[0] for row in by_title["path"][1:])
    digests = {row[0]: row for row in by_title["file"][1:]}
    for file in outcome.result["files"]:
        assert digests[file["name"]][1:] == [str(file["bytes"]), file["sha256"]]
    assert by_title["criterion"][1][0] == "write>=1B/s"


def test_a_document_is_printed_in_place_of_the_report_and_kept(path, out):
    outcome = program.run([*REAL, "--format", "markdown"], path=path, out=out).expect(0)
    assert outcome.stdout == (out / "report.md").read_text() and outcome.stdout.startswith("# Run ")


def test_a_label_stands_in_every_report_and_is_limited(path, out):
    outcome = program.run([*NULL, "--time", "0.2", "--label", 'rack 7, "east"'], path=path, out=out).expect(0)
    assert outcome.result["run"]["label"] == 'rack 7, "east"' and outcome.rows[0]["label"] == 'rack 7, "east"'
    assert re.search(r'label +rack 7, "east"', outcome.stdout)
    for label in ("x" * 100_000, "two\nlines", "\x1b[31m"):
        refused = program.run([*NULL, "--label", label], path=path, out=path / "never")
        assert refused.expect(1).stderr.count("\n") == 1 and len(refused.stderr) < 400


def test_an_untouched_result_verifies_and_one_changed_byte_is_named(path, out):
    program.run(REAL, path=path, out=out).expect(0)
    checked = program.plain("report", out, "--verify").expect(0)
    assert "FAILED" not in checked.stdout and "program: this one" in checked.stdout
    raw = out / "raw" / "phase-002.pb"
    whole = raw.read_bytes()
    raw.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    assert "FAILED  raw/phase-002.pb" in program.plain("report", out, "--verify").expect(2).stdout
    raw.write_bytes(whole)
    program.plain("report", out, "--verify").expect(0)
    result = out / "result.json"
    text = result.read_text()
    at = re.search(r'"p99": \d', text).end() - 1
    result.write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1:])
    changed = program.plain("report", out, "--verify").expect(2).stdout
    assert re.search(r"FAILED  result.json: .* phases/0/.*p99", changed), changed
    result.write_text(text)
    (out / "phases.csv").write_text((out / "phases.csv").read_text().replace(",read,", ",reed,", 1))
    clients = out / "tables" / "clients.csv"
    clients.write_text(clients.read_text().replace(",", ";", 1))
    told = program.plain("report", out, "--verify").expect(2).stdout
    assert "FAILED  phases.csv" in told
    assert "FAILED  tables/clients.csv: differs from what the raw files give, first at line 1" in told


def test_repetitions_verify_too(path, out):
    program.run([*NULL, "--time", "0.05", "--repeat", "3", *criteria("write>=1B/s")], path=path, out=out)
    program.plain("report", out, "--verify").expect(0)


def contents_of_page(out, file):
    program.plain("report", out, "--redact", "--format", "html", "--output", file).expect(0)
    (data,) = re.findall(r'id="data">([^<]*)<', file.read_text(encoding="utf-8"))
    # web/src/data.js: the length of the text, the text, and columns of binary numbers, in which any letters may occur.
    content = gzip.decompress(base64.b64decode(data))
    length = int.from_bytes(content[:4], "little")
    text = content[4:4 + length].decode("utf-8")
    assert json.loads(text)["hosts"] == ["client-1"]
    return text


def contents_of_workbook(out, file):
    program.plain("report", out, "--redact", "--format", "workbook", "--output", file).expect(0)
    with zipfile.ZipFile(file) as book:
        text = "".join(book.read(name).decode("utf-8") for name in book.namelist())
    assert "client-1" in text
    return text


def test_a_redacted_report_names_neither_host_nor_path_nor_user(tmp_path, out):
    place = tmp_path / "secret-project"
    place.mkdir()
    outcome = program.run(["--spawn", "2", *REAL], path=place, out=out).expect(0)
    host = outcome.result["clients"][0]["host"]
    boot_id = outcome.result["clients"][0]["boot_id"]
    formats = [program.plain("report", out, "--redact").expect(0).stdout]
    for name in ("json", "csv", "clients-csv", "lanes-csv", "timeline-csv", "openmetrics", "hlog", "iozone", "bonnie", "markdown", "junit"):
        formats.append(program.plain("report", out, "--redact", "--format", name).expect(0).stdout)
    formats.append(contents_of_page(out, tmp_path / "page.html"))
    formats.append(contents_of_workbook(out, tmp_path / "book.xlsx"))
    for text in formats:
        for secret in ("secret-project", str(tmp_path), boot_id, str(out)):
            assert secret not in text, text
        assert not re.search(rf"\b{re.escape(host)}\b", text), text
    assert "client-1" in formats[0] and "/path-1" in formats[0]
    assert json.loads(formats[1])["phases"][0]["headline"] == outcome.phases[0]["headline"]


def test_verify_writes_no_report(out):
    refused = program.plain("report", out, "--verify", "--format", "json").expect(1)
    assert "--verify" in refused.stderr
