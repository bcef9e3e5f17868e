"""A full device, a damaged result and hostile names cause clear messages, not silence or escape sequences."""
import os
import re
import subprocess

import program
import pytest

SMALL = ("-i", "0", "-i", "1", "-r", "4k", "-s", "64k", "-t", "1")


def run_into(stdout, *args):
    return subprocess.run([program.BINARY, *map(str, args)], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, env=program.clean_environment(),
                          timeout=program.PATIENCE_S)


def run_into_full(*args):
    with open("/dev/full", "w") as full:
        return run_into(full, *args)


def run_into_closed_pipe(*args):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as pipe:
        return run_into(pipe, *args)


def test_output_that_cannot_be_written_is_said_and_is_no_success(path, out):
    ended = run_into_full(*SMALL, "--path", path, "--out", out)
    assert ended.returncode == 2 and "standard output" in ended.stderr, ended
    assert (out / "result.json").exists(), "what was measured is saved"
    for args in (["--help"], ["run", "--help"], [*SMALL, "--path", path, "--print-plan"],
                 [*SMALL, "--path", path, "--dry-run"]):
        ended = run_into_full(*args)
        assert ended.returncode == 1 and ended.stderr.count("standard output") == 1, (args, ended)


def test_every_form_of_report_says_that_standard_output_cannot_be_written(path, out, tmp_path):
    program.run(SMALL, path=path, out=out).expect(0)
    for options in ((), ("--verbose",), ("--redact",), ("--verify",), ("--format", "json"), ("--format", "iozone"),
                    ("--format", "markdown", "--redact"), ("--output", tmp_path / "report.txt"),
                    ("--format", "csv", "--output", tmp_path / "report.csv")):
        ended = run_into_full("report", out, *options)
        assert ended.returncode == 2, (options, ended)
        assert ended.stderr == "cluster-iobench: cannot write to standard output\n", (options, ended)
        if "--output" in options:
            assert options[-1].stat().st_size > 0, options
    ended = run_into_closed_pipe("report", out)
    assert ended.returncode == 0 and ended.stderr == "", ended


def test_compare_says_that_standard_output_cannot_be_written(path, out, tmp_path):
    program.run([*SMALL, "--repeat", "2"], path=path, out=out).expect(0)
    file = tmp_path / "compared.txt"
    for options in ((), ("--output", file)):
        ended = run_into_full("compare", out, *options)
        assert ended.returncode == 2, (options, ended)
        assert ended.stderr == "cluster-iobench: cannot write to standard output\n", (options, ended)
    assert file.stat().st_size > 0


@pytest.mark.parametrize("options", [(), ("-R",), ("--format", "iozone"), ("--format", "json")])
def test_a_reader_that_has_exited_is_no_failure_of_a_run_and_a_full_device_is(options, path, out, tmp_path):
    ended = run_into_closed_pipe(*SMALL, *options, "--path", path, "--out", out)
    assert ended.returncode == 0 and "written" not in ended.stderr, ended
    assert (out / "result.json").exists() and (out / "report.iozone.txt").exists() == ("iozone" in options or "-R" in options)
    ended = run_into_full(*SMALL, *options, "--path", path, "--out", tmp_path / "full")
    assert ended.returncode == 2 and ended.stderr.count("cannot write to standard output") == 1, ended
    assert "could not be written" not in ended.stderr, ended


def test_report_writes_what_it_prints_to_the_file_of_output(path, out, tmp_path):
    program.run(SMALL, path=path, out=out).expect(0)
    file = tmp_path / "report.txt"
    for options in ((), ("--verbose",), ("--redact",)):
        printed = program.plain("report", out, *options).expect(0).stdout
        assert program.plain("report", out, *options, "--output", file, "--force").expect(0).stdout == f"wrote {file}\n"
        assert file.read_text() == printed
    file.write_text("mine")
    refused = program.plain("report", out, "--output", file).expect(1)
    assert "--force" in refused.stderr and refused.stdout == "" and file.read_text() == "mine"


def test_report_names_a_damaged_phase_and_prints_the_others(path, out):
    program.run(SMALL, path=path, out=out).expect(0)
    damaged = sorted((out / "raw").glob("phase-*.pb"))[1]
    damaged.write_bytes(damaged.read_bytes()[:-7])
    again = program.plain("report", out).expect(2)
    assert "\nwrite " in again.stdout, again
    assert "not in this report" in again.stdout and damaged.name in again.stdout.replace("\n", ""), again
    assert damaged.name in again.stderr, again
    assert re.search(r"problems +not in this report", again.stdout), f"a record is no lane's\n{again}"
    damaged.write_bytes((out / "raw" / "phase-000.pb").read_bytes())
    again = program.plain("report", out).expect(2)
    assert "belongs to another phase, number 0" in again.stderr, again


def test_results_that_could_not_be_written_are_not_named(path, out):
    running = program.start([*SMALL, "-i", "1", "--time", "1"], path=path, out=out)
    with running:
        running.wait_until(lambda: (out / "raw" / "phase-000.pb").exists(), "the first phase has ended")
        (out / "result.json").unlink()
        (out / "result.json").mkdir()            # blocks the next result.json
        outcome = running.wait()
    assert "results: " not in outcome.stdout, outcome
    assert "results are incomplete" in outcome.stdout, outcome


def test_names_cannot_send_escape_sequences(path, out, tmp_path):
    evil = "a\x1b[31mb\u202ec"
    outcome = program.run([*SMALL, f"--{evil}"], path=path, out=out).expect(1)
    place = tmp_path / evil
    place.mkdir()
    missing = program.run(SMALL, path=path / (evil + "none"), out=out).expect(1)
    dry = program.run([*SMALL, "--dry-run"], path=place, out=out).expect(0)
    for text in (outcome.stderr, missing.stderr, dry.stdout):
        assert "\x1b" not in text and "\u202e" not in text, repr(text)
        assert "a?[31mb?c" in text, repr(text)
