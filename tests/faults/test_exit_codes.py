"""The exit code in result.json is that of the process, however a run ends, and whichever file cannot be
written."""
import contextlib
import json
import pathlib
import signal
import subprocess

import program
import pytest

PHASES = ("-i", "0", "-+n", "-r", "4k", "-s", "64k", "--time", "0.5", "-+O", "50", "--repeat", "2", "-t", "1")
CAPACITY = ("capacity", "--op", "write", "-s", "64k", "-r", "4k", "--time", "0.3", "--warmup", "0.1", "--repeat", "1",
            "--points", "1", "-t", "1", "--transport", "local")
FORMATS = ("timeline-csv", "openmetrics", "hlog", "iozone", "html", "bonnie-csv", "markdown")


def saved_codes(out):
    """In result.json, and in the raw data that `report` reads."""
    saved = json.loads((out / "result.json").read_text())["run"]["exit_code"]
    computed = json.loads(program.plain("report", out, "--format", "json").stdout)["run"]["exit_code"]
    return saved, computed


def check(outcome, code):
    outcome.expect(code)
    assert saved_codes(outcome.out) == (code, code), outcome


def formats(names=FORMATS):
    return [word for name in names for word in ("--format", name)]


# Options, and the exit code.
ENDINGS = {
    "well": ((), 0),
    "a criterion that is not met": (("--require", "write >= 1000 GiB/s"), 4),
    "a hook that fails after a phase": (("--after-phase", "false"), 2),
    "a hook that fails before a phase": (("--before-phase", "false"), 2),
    "a full device for --live-csv": (("--live-csv", "/dev/full", "--force"), 2),
}


@pytest.mark.parametrize("options, code", ENDINGS.values(), ids=ENDINGS)
def test_an_ending(options, code, path, out):
    check(program.run([*PHASES, "--transport", "local", *options], path=path, out=out), code)


@pytest.mark.parametrize("transport", ["in-process", "spawn"])
def test_ctrl_c(transport, path, out, tmp_path):
    _, options, _ = program.Transports(tmp_path).parts(transport)
    with program.start([*PHASES, *options], path=path, out=out) as running:
        running.wait_until((out / "raw" / "phase-000.pb").exists, "the first phase")
        running.interrupt()
        check(running.wait(), 130)


def test_a_lost_worker(path, out, tmp_path):
    _, options, helpers = program.Transports(tmp_path).parts("join-unix")
    with program.start([*PHASES, *options], path=path, out=out, helpers=helpers) as running:
        running.wait_until((out / "raw" / "phase-000.pb").exists, "the first phase")
        running.workers[0].send_signal(signal.SIGKILL)
        check(running.wait(), 3)


def test_standard_output_that_takes_nothing(path, out):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([program.BINARY, *PHASES, "--transport", "local", "--path", str(path), "--out", str(out)],
                              stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                              env=program.clean_environment(), timeout=program.PATIENCE_S)
    assert done.returncode == 2 and saved_codes(out) == (2, 2), done


def in_the_way(place, name):
    """Nothing can be written under this name from now on."""
    (place / f"{name}.partial" / "x").mkdir(parents=True)


def test_each_file_that_cannot_be_written(path, out, tmp_path):
    everything = tmp_path / "everything"
    (tmp_path / "first").mkdir()
    program.run([*PHASES, "--transport", "local", *formats()], path=tmp_path / "first", out=everything).expect(0)
    names = sorted(str(file.relative_to(everything)) for file in everything.rglob("*") if file.is_file())
    assert {"result.json", "report.html", "raw/run.pb"} <= set(names) and any(name.startswith("tables/") for name in names)
    grow = {"phases.csv", "clients.csv", "result.csv", "raw/phase-000.pb"}  # written already
    for name in [each for each in names if each not in grow]:
        place = out.with_name("out-" + name.replace("/", "-"))
        with program.start([*PHASES, "--transport", "local", *formats()], path=path, out=place) as running:
            running.wait_until((place / "raw" / "phase-000.pb").exists, "the first phase")
            in_the_way(place, name)
            outcome = running.wait().expect(2)
        saved = json.loads((place / "result.json").read_text())["run"]
        if name in ("result.json", "raw/run.pb"):
            assert saved["exit_code"] in (None, 2) and saved["finished"] == (saved["exit_code"] == 2), (name, outcome)
        else:
            assert saved["exit_code"] == 2 and saved["finished"], (name, outcome)
        page = place / "report.html"
        if page.exists():
            assert '"exit_code":0' not in page.read_text().replace(" ", ""), name


def capacity(path, out, *options, code):
    done = program.run([*CAPACITY, *options], path=path, out=out)
    done.expect(code)
    with contextlib.suppress(FileNotFoundError):
        assert json.loads((out / "capacity.json").read_text())["exit_code"] == code, done
    return done


def test_a_threshold_that_capacity_misses(path, out):
    done = capacity(path, out, "--engine", "sim:service=10ms", "--load", "100000", code=4)
    assert saved_codes(out) == (4, 4), done


def test_capacity_that_cannot_write_its_report(path, out):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([program.BINARY, *CAPACITY, "--path", str(path), "--out", str(out)],
                              stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                              env=program.clean_environment(), timeout=program.PATIENCE_S)
    assert done.returncode == 2 and saved_codes(out) == (2, 2), done
    assert json.loads((out / "capacity.json").read_text())["exit_code"] == 2


def test_a_validation_that_fails(path, tmp_path):
    report = tmp_path / "report.json"
    done = program.plain("validate", "--path", path, "--transport", "local", "--format", "json", "--output", report)
    assert done.code == json.loads(pathlib.Path(report).read_text())["exit_code"], done
