"""--each-path runs the same operations on one path after the other, with all workers, and compares the paths."""
import contextlib
import csv
import json
import shutil
import time

import program
import pytest
import yaml
from report_checks import check_csv, check_report

SHAPE = ("-r", "4k", "-s", "64k")
LANE_BYTES = 64 << 10


@pytest.fixture
def first(tmp_path):
    """The directory that is measured first; `path` is the last, since program.run appends it."""
    directory = tmp_path / "first"
    directory.mkdir()
    yield directory
    assert not list(directory.iterdir()), "the data are removed on every path"


@pytest.fixture(params=["in-process", "spawn", program.MPI])
def transport(request, tmp_path):
    prefix, options, _ = program.Transports(tmp_path).parts(request.param)
    return prefix, options


def run(args, path, first, out, transport=((), ())):
    prefix, options = transport
    return program.run([*args, *options, "--path", first, "--each-path"], path=path, out=out, prefix=prefix)


def rows_of(file):
    with open(file, newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


def test_all_lanes_do_the_whole_list_on_each_path_and_verify_what_was_written_there(transport, path, first, out):
    outcome = run(["-i", "0", "-i", "1", "-+n", "--verify", *SHAPE], path, first, out, transport).expect(0)
    check_report(outcome.result)
    check_csv(outcome)
    phases = outcome.result["phases"]
    assert [(phase["name"], phase["target"]) for phase in phases] == [
        (f"{operation} on {where}", str(where)) for where in (first, path) for operation in ("write", "read")]
    assert all(phase["bytes"] == 4 * LANE_BYTES and phase["lane_count"] == 4 for phase in phases)
    for phase in phases[1::2]:
        assert phase["verify"]["sectors"] == 4 * LANE_BYTES // 512
        assert phase["verify"]["mismatched"] == phase["verify"]["undetermined"] == 0
        assert sum(step["bytes"] for step in phase["steps"]) == 0, "the files of this path exist"


def test_data_are_prepared_on_each_path(transport, path, first, out):
    outcome = run(["-i", "1", "-+n", "--verify", *SHAPE], path, first, out, transport).expect(0)
    for phase in outcome.result["phases"]:
        assert sum(step["bytes"] for step in phase["steps"]) == 4 * LANE_BYTES, phase["name"]
        assert phase["verify"]["sectors"] == 4 * LANE_BYTES // 512 and phase["verify"]["mismatched"] == 0


@pytest.mark.parametrize("layout", [("-+V",), ("-+V", "--interleaved"), ("--rotate-clients",)])
def test_shared_and_rotated_files_are_those_of_the_path(layout, path, first, out):
    outcome = run(["-i", "0", "-i", "1", "--verify", *layout, "--repeat", "2", *SHAPE], path, first, out,
                  ((), ("--spawn", "2", "-t", "2"))).expect(0)
    phases = outcome.result["phases"]
    assert len(phases) == 2 * 2 * 4
    for phase in phases:
        if "read" in phase["operation"]:
            assert phase["verify"]["sectors"] == 4 * LANE_BYTES // 512, phase["name"]
            assert phase["verify"]["mismatched"] == 0 and sum(step["bytes"] for step in phase["steps"]) == 0
    assert {entry["name"]: entry["count"] for entry in outcome.result["repetitions"]} == {
        f"{operation} on {where}": 2 for where in (first, path) for operation in ("write", "rewrite", "read", "reread")}


def test_each_path_has_trees_of_its_own(transport, path, first, out):
    outcome = run(["--op", "create,stat,unlink", "--items", "30"], path, first, out, transport).expect(0)
    phases = outcome.result["phases"]
    assert [phase["operation"] for phase in phases] == ["create", "stat", "unlink"] * 2
    assert all(phase["ops"] == 4 * 30 and not phase["errors"] for phase in phases)


def is_written(directory):
    """Whether a lane has written there. Files may vanish meanwhile."""
    with contextlib.suppress(FileNotFoundError):
        return any(file.stat().st_size > 0 for file in directory.glob(f"{program.DATA_DIRECTORY}/lane-*"))
    return False


def test_files_are_written_on_one_path_and_then_on_the_next(path, first, out):
    seen = []
    args = ["--op", "write", *SHAPE, "-t", "2", "--time", "0.5", "--path", first, "--each-path"]
    with program.start(args, path=path, out=out) as running:
        while running.process.poll() is None:
            written = tuple(map(is_written, (first, path)))
            if written not in seen:
                seen.append(written)
            time.sleep(0.005)
        running.wait().expect(0)
    assert (True, False) in seen and (True, True) in seen, "the first path is written first"
    assert (False, True) not in seen[:seen.index((True, True))]


def test_reports_compare_the_paths(path, first, out):
    outcome = run(["-i", "0", "-i", "1", "-+n", "--op", "create", *SHAPE, "--format", "markdown"], path, first, out)
    outcome.expect(0)
    assert "## Paths" in outcome.stdout and "| create |" in outcome.stdout
    for name in ("phases.csv", "result.csv"):
        rows = rows_of(out / name)
        assert "target" in rows[0]
        assert {(row["operation"], row["target"]) for row in rows} == {
            (operation, str(where)) for operation in ("write", "read", "create") for where in (first, path)}
    console = program.plain("report", out).expect(0).stdout
    table = console[console.index("by path"):].splitlines()
    assert table[0].split() == ["by", "path", "unit", "path", "1", "path", "2", "of", "first"]
    by_name = {line.split()[0]: line.split() for line in table[1:4]}
    for operation in ("write", "read", "create"):
        figures = [phase["headline"]["ops_per_s" if operation == "create" else "bytes_per_s"]
                   for phase in outcome.result["phases"] if phase["operation"] == operation]
        percent = float(by_name[operation][4].replace(",", ""))
        assert percent == pytest.approx(100 * figures[1] / figures[0], rel=0.06)
    shutil.copytree(out, out.with_name("copy"))
    same = program.plain("compare", out, out.with_name("copy")).expect(0).stdout
    assert "unmatched" not in same and f"write on {first}" in same
    redacted = program.plain("report", out, "--redact", "--format", "json").expect(0).stdout
    assert str(path) not in redacted and str(first) not in redacted


def test_more_paths_than_workers_are_no_problem(path, first, out, tmp_path):
    third = tmp_path / "third"
    third.mkdir()
    outcome = run(["--op", "write", *SHAPE, "-t", "1", "--path", third], path, first, out).expect(0)
    assert [phase["target"] for phase in outcome.result["phases"]] == [str(third), str(first), str(path)]


def test_a_dry_run_shows_the_space_on_every_path(path, first, out):
    outcome = run(["--op", "write", *SHAPE, "-t", "4", "--dry-run"], path, first, out).expect(0)
    assert "space 512 KiB in all" in outcome.stdout
    assert outcome.stdout.count("worker 0") == 2 and str(path) in outcome.stdout and str(first) in outcome.stdout


def test_a_printed_plan_does_the_same(path, first, out, tmp_path):
    printed = program.plain("--op", "write", "--op", "read", *SHAPE, "--rest", "0.01", "--path", path, "--path", first,
                            "--each-path", "--print-plan").expect(0).stdout
    plan = yaml.safe_load(printed)
    assert [phase["only_target"] for phase in plan["phases"]] == [1, 1, 2, 2]
    for phase in plan["phases"]:
        assert phase["before"] == [{"rest": {"seconds": 0.01, "not_first": True}}]
    file = tmp_path / "plan.yaml"
    file.write_text(printed)
    done = program.plain("--plan", file, "--out", out).expect(0)
    assert f"read on {first}" in done.stdout
    again = program.plain("--plan", file, "--each-path", "--out", tmp_path / "again").expect(1)
    assert "only_target" in again.stderr


def test_a_plan_may_alternate_between_paths_that_each_have_a_shared_file(path, first, out, tmp_path):
    printed = program.plain("-i", "0", "-i", "1", "-+n", "-+V", "--verify", *SHAPE, "-t", "2", "--path", first,
                            "--path", path, "--each-path", "--print-plan").expect(0).stdout
    plan = yaml.safe_load(printed)
    plan["phases"].sort(key=lambda phase: phase["name"].split()[0], reverse=True)
    file = tmp_path / "plan.yaml"
    file.write_text(yaml.safe_dump(plan))
    program.plain("--plan", file, "--out", out).expect(0)
    phases = json.loads((out / "result.json").read_text())["phases"]
    assert [(phase["operation"], phase["target"]) for phase in phases] == [
        (operation, str(where)) for operation in ("write", "read") for where in (first, path)]
    for phase in phases[2:]:
        assert sum(step["bytes"] for step in phase["steps"]) == 0, "the write on the other path removed nothing here"
        assert phase["verify"]["sectors"] == 2 * LANE_BYTES // 512 and phase["verify"]["mismatched"] == 0


@pytest.mark.parametrize("args, word", [
    (("-w",), "--keep"),
    (("--path", "."), "twice"),
    (("--suite", "io500-like"), "score"),
])
def test_what_it_cannot_do_is_refused(args, word, path, first, out, monkeypatch):
    monkeypatch.chdir(path)
    outcome = run(args, path, first, out).expect(1)
    assert len(outcome.stderr.strip().splitlines()) == 1 and word in outcome.stderr, outcome
    assert not out.exists()


def test_one_path_is_nothing_to_compare(path, out):
    outcome = program.run(["-i", "0", "--each-path"], path=path, out=out).expect(1)
    assert "--path at least twice" in outcome.stderr


def test_workers_with_paths_of_their_own_are_refused(path, first, out, tmp_path):
    address = f"unix:{tmp_path}/socket"
    worker = (program.BINARY, "worker", "--join", address, "--path", str(first))
    outcome = program.run(["-i", "0", *SHAPE, "--path", first, "--each-path", "--listen", address, "--workers", "1"],
                          path=path, out=out, helpers=(worker,)).expect(1)
    assert "paths of their own" in outcome.stderr
