"""A run can be printed again; its printed and saved figures agree and are readable."""
import os
import pathlib
import pty
import re
import subprocess

import program
from report_checks import check_csv, check_report

SMALL = ("-i", "0", "-i", "1", "-i", "2", "-ce", "-r", "4k", "-s", "256k", "-t", "4")


def test_report_prints_the_run_again_from_raw_data(path, out):
    outcome = program.run(SMALL, path=path, out=out).expect(0)
    saved = outcome.result
    (out / "result.json").unlink()
    (out / "result.csv").unlink()
    again = program.plain("report", out).expect(0)
    assert figures(again.stdout) == figures(outcome.stdout)
    check_report(saved)


def test_details_are_printed_only_on_request(path, out):
    """A run and its report print the same details."""
    details = [rf"^  {label} " for label in ("windows", "stonewall", "regions", "latency", "tool", "lanes", "clients")]
    brief = program.run(SMALL, path=path, out=out).expect(0).stdout
    full = program.plain("report", "--verbose", out).expect(0).stdout
    assert [detail for detail in details if re.search(detail, brief, re.M)] == []
    assert [detail for detail in details if not re.search(detail, full, re.M)] == []
    again = program.run([*SMALL, "--verbose", "--force"], path=path, out=out).expect(0).stdout
    assert figures(program.plain("report", "--verbose", out).expect(0).stdout) == figures(again)


def figures(text):
    """The lines without those that say where files are: a saved run may have been moved. Its report has the answer first."""
    return sorted(line.rstrip() for line in text.splitlines() if line.strip() and "result.json" not in line)


def test_console_is_readable_at_100_columns_and_names_its_headline(path, out):
    outcome = program.run(SMALL, path=path, out=out).expect(0)
    wide = [line for line in outcome.stdout.splitlines() if len(line) > 100 and str(path) not in line and str(out) not in line]
    assert not wide, "\n".join(wide)
    assert "\x1b" not in outcome.stdout, "colour only on a terminal"
    for word in ("stonewall", "fsync", "close", "\nwrite ", "random-read"):
        assert word in outcome.stdout.lower(), word


def test_no_progress_unless_asked_for_where_there_is_no_terminal(path, out, tmp_path):
    quiet = program.run([*SMALL, "--time", "0.4"], path=path, out=out).expect(0)
    assert "%" not in quiet.stderr
    shown = program.run([*SMALL, "--time", "0.4", "--progress"], path=path, out=tmp_path / "second").expect(0)
    assert len(shown.stderr) > len(quiet.stderr) and re.search(r"/s", shown.stderr), shown


def test_progress_is_one_line_on_a_terminal(path, out):
    ours, theirs = pty.openpty()
    command = [program.BINARY, *SMALL, "--time", "0.4", "--path", str(path), "--out", str(out)]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                               env=program.clean_environment(TERM="xterm", COLUMNS="100"))
    os.close(theirs)
    seen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:          # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    assert process.wait(timeout=program.PATIENCE_S) == 0
    assert b"\r" in seen and b"/s" in seen, seen
    assert seen.count(b"\n") <= 8, seen


def test_every_phase_is_saved_raw_and_result_files_agree(path, out):
    outcome = program.run(SMALL, path=path, out=out).expect(0)
    raw = sorted(file.name for file in (out / "raw").iterdir())
    assert raw == [f"phase-{index:03}.pb" for index in range(6)] + ["run.pb"]
    # A program that was built without Node.js does not write report.html.
    assert {file.name for file in out.iterdir()} - {"report.html"} == {"raw", "tables", *program.RESULT_FILES}
    check_csv(outcome)
    run = outcome.result["run"]
    assert run["id"] and run["started_at"].endswith("Z") and str(out) in run["command"]
    assert run["transport"] == "local" and run["finished"] is True
    client, = outcome.result["clients"]
    assert client["boot_id"] == open("/proc/sys/kernel/random/boot_id").read().strip()
    assert client["processors"] == os.cpu_count() or client["processors"] == len(os.sched_getaffinity(0))


def test_names_of_people_survive_in_all_reports(tmp_path, out):
    place = tmp_path / 'a "strange", näme'
    place.mkdir()
    outcome = program.run(["-i", "0", "-r", "4k", "-s", "16k"], path=place, out=out).expect(0)
    assert outcome.result["run"]["plan"]["targets"][0]["path"] == str(place)
    assert place.name in outcome.rows[0]["file"]


def test_selftest_says_what_the_tool_costs():
    outcome = program.plain("selftest").expect(0)
    assert re.search(r"\d+(\.\d+)? ?ns", outcome.stdout), outcome


def test_the_report_has_the_sizes_of_the_processor_caches(path, out):
    (client,) = program.run(["-i", "0", "-r", "4k", "-s", "64k", "-t", "1"], path=path, out=out).expect(0).result["clients"]
    for cache in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level, kind, kib = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
        if level in "23" and kind != "Instruction":
            assert client[f"l{level}_cache_bytes"] == int(kib.removesuffix("K")) * 1024
    assert client["l2_cache_bytes"] >= 0 and client["l3_cache_bytes"] >= 0, "unknown where the kernel does not say"
