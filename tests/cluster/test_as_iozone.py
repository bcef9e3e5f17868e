"""Scripts of IOzone's users: the program under IOzone's name, or with -R into a file, has IOzone's whole text on its standard
output, which the programs that read it accept."""
import os
import pty
import re
import subprocess

import iozone_format
import iozone_parsers
import program
import pytest

SMALL = ("-r", "4k", "-s", "256k")


@pytest.fixture(name="place")
def place_of_scripts(tmp_path):
    """A directory in which scripts run, and the program under IOzone's name."""
    link, directory = tmp_path / "iozone", tmp_path / "here"
    link.symlink_to(program.BINARY)
    directory.mkdir()
    return directory, link


def run_at(place, *args, code=0):
    """Runs the program as scripts do: in the directory, without --path and --out."""
    directory, link = place
    done = subprocess.run([str(link), *args], stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=directory,
                          timeout=program.PATIENCE_S, env=program.clean_environment(), check=False)
    outs = sorted(result.parent for result in directory.glob("cluster-iobench.out/*/result.json") if not result.parent.is_symlink())
    return program.Outcome([link, *args], done.returncode, done.stdout, done.stderr, outs[-1] if outs else directory,
                           directory).expect(code)


def check_rest(outcome):
    """Nothing but IOzone's text is on standard output; the rest is on standard error."""
    assert outcome.stdout.startswith("\tIozone: Performance Test of File I/O\n"), outcome
    assert outcome.stdout.endswith("\niozone test complete.\n"), outcome
    kept = (outcome.out / "report.iozone.txt").read_text()
    assert re.sub(r"\n(\t(Mark|Error).*\n)+", "", kept) == outcome.stdout, "the file has what puts figures in doubt, too"
    for word in ("Mark ", "note", "results:"):
        assert word not in outcome.stdout, word
    assert str(outcome.out.name) in outcome.stderr, outcome


def test_every_parser_of_the_table_reads_automatic_mode_with_R(place):
    outcome = run_at(place, "-Ra", "-g", "1m", "-n", "64k")
    check_rest(outcome)
    text, phases = outcome.stdout, iozone_format.phases_by_cell(outcome.result)
    expected = [[file, record, *(iozone_format.value_of(phases[file, record, operation]) for operation in iozone_format.COLUMNS)]
                for file, record in sorted({key[:2] for key in phases})]
    assert len(expected) == 35 and len(phases) == 35 * 13
    assert iozone_parsers.chromium(text) == expected
    assert iozone_parsers.avocado_table(text) == expected
    rows, skipped = iozone_parsers.analysis_iozone(text)
    assert rows == expected
    assert all(line.strip().startswith('"') for line in skipped), "only Excel's lines, as of IOzone's own"
    csv = iozone_parsers.iozone2csv(text)
    assert csv["version"] == "3.471" and csv["build"].startswith("linux") and csv["unit"] == "kbytes/sec"
    assert csv["cache"] == (1024, 32) and csv["stride"] == 17 and 0 < csv["resolution_s"] < 1
    assert csv["columns"] == ["kB", "reclen", *(name.replace(" ", "") for name in iozone_parsers.TABLE)]
    assert [list(map(int, row)) for row in csv["rows"] if '"' not in row[0]] == expected
    figures = iozone_parsers.iozoneparser(text)
    assert len(figures) == len(phases)
    for file, record, *values in expected:
        assert [figures[column, file, record] for column in iozone_parsers.TABLE] == values
    for at, (column, points) in enumerate(iozone_parsers.generate_graphs(text).items(), start=2):
        assert points == [(row[0], row[1], row[at]) for row in expected], column
    reports = iozone_parsers.excel_reports(text)
    assert list(reports) == [f"{title} report" for title in list(iozone_format.TITLES.values())[:13]]
    for at, report in enumerate(reports.values(), start=2):
        assert report == {(row[0], row[1]): row[at] for row in expected}


def test_parsers_of_throughput_mode_read_it(place):
    outcome = run_at(place, "-i", "0", "-i", "1", "-i", "2", "-t", "2", "-s", "1m", "-r", "64k", "-F", "a", "b")
    check_rest(outcome)
    figures = iozone_parsers.avocado_throughput(outcome.stdout)
    names = ["initial_writers", "rewriters", "readers", "re-readers", "random_readers", "random_writers"]
    assert len(figures) == len(names) * 3
    for name, phase in zip(names, outcome.phases):
        assert figures[f"{name}-2-kids"] == pytest.approx(phase["throughput_bytes_per_s"]["children"] / 1024, abs=0.01)
        assert figures[f"{name}-2-parent"] == pytest.approx(phase["throughput_bytes_per_s"]["parent"] / 1024, abs=0.01)
    assert ("* record size.\n\tThroughput test with 2 processes\n\tEach process writes a 1024 kByte file in 64 kByte records\n\n"
            "\tChildren see throughput for  2 initial writers \t=") in outcome.stdout


def test_the_seed_line_with_R_has_a_block_for_each_test(place):
    outcome = run_at(place, "-i", "0", "-i", "1", "-i2", "-R", "-r", "1m", "-s", "16m")
    check_rest(outcome)
    assert list(iozone_parsers.excel_reports(outcome.stdout)) == [
        "Writer report", "Re-writer report", "Reader report", "Re-Reader report", "Random read report", "Random write report"]
    iozone_format.check_table(outcome.stdout, outcome.result)


def test_R_into_a_pipe_is_IOzones_text_without_the_name(path, out):
    outcome = program.run(["-R", "-i", "0", "-i", "1", *SMALL], path=path, out=out).expect(0)
    check_rest(outcome)
    assert outcome.result["run"]["lane_count"] == 1
    assert outcome.result["run"]["command"].startswith("cluster-iobench -R ")


def test_R_on_a_terminal_follows_the_report(path, out):
    ours, theirs = pty.openpty()
    command = [program.BINARY, "-R", "-i", "0", "-t", "1", *SMALL, "--path", str(path), "--out", str(out)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
                          env=program.clean_environment(TERM="dumb")) as process:
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:          # the other end is closed
            pass
        assert process.wait(timeout=program.PATIENCE_S) == 0
    os.close(ours)
    text = seen.decode().replace("\r\n", "\n")
    report, excel = text.split("\nExcel output is below:\n")
    assert "stonewall" in report and "Iozone:" not in text and '"Writer report"' in excel
    assert not (out / "report.iozone.txt").exists()


def test_it_can_be_asked_for_and_turned_off(path, out, tmp_path):
    asked = program.run(["--as-iozone", "-i", "0", *SMALL], path=path, out=out).expect(0)
    check_rest(asked)
    off = program.run(["--as-iozone=0", "-R", "-i", "0", "-t", "1", *SMALL], path=path, out=tmp_path / "off").expect(0)
    assert "Iozone:" not in off.stdout and '"Writer report"' in off.stdout and "stonewall" in off.stdout
    refused = program.run(["--as-iozone", "--format", "csv", "-i", "0", *SMALL], path=path, out=tmp_path / "no").expect(1)
    assert "report DIR --format" in refused.stderr, refused


def test_a_named_format_is_printed_under_IOzones_name_too(place):
    outcome = run_at(place, "-R", "-i", "0", *SMALL, "--format", "csv")
    assert outcome.stdout == (outcome.out / "phases.csv").read_text()


def test_one_child_is_throughput_mode_as_in_IOzone(place):
    outcome = run_at(place, "-t", "1", "-i", "0", *SMALL)
    check_rest(outcome)
    assert "\tThroughput test with 1 process\n" in outcome.stdout and "reclen" not in outcome.stdout
    assert "initial_writers-1-kids" in iozone_parsers.avocado_throughput(outcome.stdout)


def test_l_alone_is_that_number_of_children(place):
    outcome = run_at(place, "-l", "2", "-i", "0", *SMALL)
    check_rest(outcome)
    assert "\tThroughput test with 2 processes\n" in outcome.stdout


def test_words_of_options_are_IOzones(place):
    """Ranges of records and of children, and threads in place of processes."""
    outcome = run_at(place, "-i", "0", "-l", "2", "-u", "2", "-T", "-R", *SMALL)
    check_rest(outcome)
    assert ("* record size.\n\tMin thread = 2 \n\tMax thread = 2 \n\tThroughput test with 2 threads\n\tEach thread writes a "
            "256 kByte file in 4 kByte records\n") in outcome.stdout
    assert "\tMin throughput per thread \t\t\t= " in outcome.stdout and "number of threads" in outcome.stdout
    assert "process" not in outcome.stdout.lower().replace("processor", "")
    upwards = run_at(place, "-i", "0", "-u", "2", *SMALL)
    assert "\tMin process = 1 \n\tMax process = 2 \n\tThroughput test with 1 process\n" in upwards.stdout
    records = run_at(place, "-a", "-i", "0", "-n", "64k", "-g", "64k", "-y", "8", "-q", "16")
    assert ("\tUsing maximum file size of 64 kilobytes.\n\tUsing Minimum Record Size 8 kB\n\tUsing Maximum Record Size 16 kB\n"
            in records.stdout)


def test_defaults_are_IOzones(place):
    outcome = run_at(place, "-M")
    check_rest(outcome)
    row, = iozone_parsers.chromium(outcome.stdout)
    assert row[:2] == [512, 4] and all(figure > 0 for figure in row[2:])
    assert "\n\tMachine = " in outcome.stdout


def test_throughput_mode_runs_all_its_tests_once(place):
    outcome = run_at(place, "-t", "2", *SMALL)
    check_rest(outcome)
    assert [phase["operation"] for phase in outcome.phases] == [
        "write", "rewrite", "read", "reread", "backward-read", "stride-read", "random-read", "random-write", "random-mix",
        "pwrite", "pread", "fwrite", "fread"]


def test_words_that_IOzone_ignores_are_noted(place):
    directory, _ = place
    outcome = run_at(place, "-azR", "-i", "0", "-i", "1", "-i", "2", "-n", "1m", "-g", "2m", "-r", "64K", "-M", "result_file", "-f",
                     "test_file")
    check_rest(outcome)
    assert 'note: "result_file" belongs to no option and is ignored, as in IOzone' in outcome.stderr, outcome
    assert not (directory / "result_file").exists() and not (directory / "test_file").exists()
    assert len(iozone_parsers.excel_reports(outcome.stdout)["Writer report"]) == 2


def test_a_workbook_has_excel_text_beside_it(place):
    directory, _ = place
    outcome = run_at(place, "-a", "-i", "0", "-n", "64k", "-g", "64k", "-b", "result_file.xls")
    check_rest(outcome)
    assert '"Writer report"' in outcome.stdout and (directory / "result_file.xlsx").exists()


def test_options_of_which_IOzone_makes_nothing_may_stand_alone(place):
    outcome = run_at(place, "-i", "0", "-S", "2048", "-L", "64", "-G", *SMALL)
    check_rest(outcome)
    assert "\tProcessor cache size set to 2048 kBytes.\n\tProcessor cache line size set to 64 bytes.\n" in outcome.stdout
    assert "note: -G has no effect without -B" in outcome.stderr, outcome
    refused = program.plain("-i", "0", "-G", *SMALL, cwd=place[0]).expect(1)
    assert "-B" in refused.stderr, "only as IOzone"


def test_direct_automatic_mode_has_every_column(place):
    """IOzone's -I is for its own files, and streams are none."""
    outcome = run_at(place, "-a", "-I", "-n", "64k", "-g", "64k", "-y", "64k")
    check_rest(outcome)
    row, = iozone_parsers.chromium(outcome.stdout)
    assert all(figure > 0 for figure in row)
    plan = {phase["assignments"][0]["operation"]["name"]: phase["assignments"][0]["operation"].get("direct", False)
            for phase in outcome.result["run"]["plan"]["phases"]}
    assert plan["write"] and plan["stride-read"] and not plan["fwrite"] and not plan["refread"]


def test_marks_are_on_standard_error(place):
    outcome = run_at(place, "-i", "0", "-+n", *SMALL)
    assert any(phase["marks"] for phase in outcome.phases)
    assert "Mark too_short in 1 phase" in outcome.stderr, outcome
    check_rest(outcome)


def test_scripts_that_count_lines_find_the_row(place):
    """sed -n 28p of a run with -s and -r; grep -B4 "test complete" | head -3: headings and row."""
    outcome = run_at(place, "-i", "0", "-i", "1", *SMALL)
    lines = outcome.stdout.split("\n")
    assert lines[27].split()[:2] == ["256", "4"]
    at = lines.index("iozone test complete.")
    assert "reclen" in lines[at - 3] and lines[at - 2] == lines[27]


def test_the_command_in_reports_is_the_one_that_was_typed(place):
    outcome = run_at(place, "-i", "0", "-+n", *SMALL)
    assert outcome.result["run"]["command"] == "iozone -i 0 -+n -r 4k -s 256k"
    assert "\tCommand line used: iozone -i 0 -+n -r 4k -s 256k\n" in outcome.stdout


def test_other_commands_are_there_under_IOzones_name(place):
    outcome = run_at(place, "-i", "0", "-+n", *SMALL)
    again = run_at(place, "report", str(outcome.out), "--format", "iozone")
    assert again.stdout == (outcome.out / "report.iozone.txt").read_text()
    assert "stonewall" in run_at(place, "report", str(outcome.out)).stdout


def test_a_failed_run_is_not_complete(place):
    directory, _ = place
    (directory / "cluster-iobench.data").write_text("in the way")
    outcome = run_at(place, "-i", "0", *SMALL, code=1)
    assert "iozone test complete" not in outcome.stdout and outcome.stderr
