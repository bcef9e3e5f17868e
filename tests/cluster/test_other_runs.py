"""The data of another run, or of no run, are never removed or overwritten."""
import json
import pathlib
import shutil
import socket
import subprocess
import tempfile

import program
import pytest

SHAPE = ("-r", "4k", "-s", "128k", "-t", "2")
LANES = ["lane-000000.0", "lane-000001.0"]


@pytest.fixture
def tmp_path(tmp_path):
    """pytest's tmp_path, or a directory in memory where that is an overlay, whose directories may change their inode numbers."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True).stdout.strip()
    if kind != "overlayfs":
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="iobench-other-runs-", dir="/dev/shm") as directory:
        yield pathlib.Path(directory)


def contents(directory):
    return {file.name: file.read_bytes() for file in directory.iterdir()}


def seem_to_be_of_another_host(data):
    """Makes a run's claim look like that of another host, where nobody here can see whether the run is alive."""
    manifest = json.loads((data / "manifest.json").read_text())
    for process in ("process", "coordinator"):
        manifest[process]["boot_id"] = "another boot"
    (data / "manifest.json").write_text(json.dumps(manifest))


def test_a_run_that_is_forced_in_keeps_its_data_when_the_first_one_ends(path, out, tmp_path):
    with program.start(["-i", "0", "-+n", "--time", "100", *SHAPE], path=path, out=out) as first:
        first.wait_until(lambda: first.data_bytes() >= 256 << 10, "both lanes")
        seem_to_be_of_another_host(path / program.DATA_DIRECTORY)
        second = program.run(["-i", "0", "-+n", "--force", "-w", *SHAPE], path=path, out=tmp_path / "second").expect(0)
        kept = contents(second.data)
        assert sorted(kept) == [*LANES, "manifest.json"]
        first.interrupt()
        outcome = first.wait()
    assert contents(second.data) == kept
    manifest = json.loads(kept["manifest.json"])
    (problem,) = [line for line in outcome.stderr.splitlines() if "belongs to another run now" in line]
    assert f"{manifest['created_by']} began at {manifest['created_at']}" in problem, problem
    assert socket.gethostname() == manifest["created_by"] and "clean" not in problem
    assert outcome.result["phases"][0]["bytes"] > 0, "what was measured stays"
    third = program.run(["-i", "1", "-+n", *SHAPE], path=path, out=tmp_path / "third").expect(0)
    assert third.phase("read")["bytes"] == 256 << 10 and not third.data.exists()


def data_of_another_run(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    return program.run(["-i", "0", "-+n", "-w", "-r", "4k", "-s", "64k", "-t", "2"], path=tmp_path / "elsewhere",
                       out=tmp_path / "other").expect(0).data


def data_of_nobody(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "lane-000000.0").write_text("precious")
    return tmp_path / "notes"


def copy_of_its_own(_tmp_path):
    """Only the directory's inode number differs."""
    return None


@pytest.mark.parametrize("phases, replacement, says", [
    (("-i", "0"), data_of_another_run, "belongs to another run now"),  # write, rewrite
    (("-i", "0"), data_of_nobody, "no readable manifest"),
    (("-i", "0", "-i", "1", "-+n"), copy_of_its_own, "was replaced by another directory"),
], ids=["another-run's", "nobody's", "a-copy"])
def test_a_directory_that_is_swapped_in_under_a_run_is_left_alone(phases, replacement, says, path, out, tmp_path):
    data, aside = path / program.DATA_DIRECTORY, tmp_path / "aside"
    swapped_in = replacement(tmp_path)
    with program.start([*phases, "--rest", "1.5", *SHAPE], path=path, out=out) as running:
        running.wait_until((out / "raw" / "phase-000.pb").exists, "the first phase")
        data.rename(aside)
        if swapped_in is None:
            shutil.copytree(aside, data)
        else:
            swapped_in.rename(data)
        before, own = contents(data), contents(aside)
        outcome = running.wait().expect(2)
    assert contents(data) == before
    assert contents(aside) == own and sorted(own) == [*LANES, "manifest.json"]
    assert says in outcome.stderr and str(data) in outcome.stderr, outcome
    assert [phase["index"] for phase in outcome.result["phases"]] == [0], "what was measured stays, and no more is"


def test_clean_leaves_what_only_looks_like_ours(path, out):
    data = program.run(["-i", "0", "-+n", "-w", *SHAPE], path=path, out=out).expect(0).data
    mine = ["lane-000099.0", "lane-000002.0", "lane-000000.1", "shared", "manifest.json.tmp-mine"]
    for name in mine:
        (data / name).write_text("precious")
    (data / "tree-000000.0").mkdir()
    (data / "tree-000000.0" / "item-00000000").write_text("precious")
    cleaned = program.plain("clean", path).expect(0)
    assert sorted(entry.name for entry in data.iterdir()) == sorted([*mine, "tree-000000.0", "manifest.json"])
    assert all((data / name).read_text() == "precious" for name in [*mine, "tree-000000.0/item-00000000"])
    assert all(str(data / name) in cleaned.stdout for name in mine), cleaned
    for name in mine:
        (data / name).unlink()
    shutil.rmtree(data / "tree-000000.0")
    program.plain("clean", path).expect(0)
    assert not data.exists()


def test_a_run_does_not_write_to_a_file_that_only_looks_like_its_own(path, out, tmp_path):
    data = program.run(["-i", "0", "-+n", "-w", *SHAPE], path=path, out=out).expect(0).data
    (data / "lane-000002.0").write_text("precious")
    refused = program.run(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "-t", "3"], path=path, out=tmp_path / "second")
    refused.expect(2)
    assert "lane-000002.0" in refused.stderr and (data / "lane-000002.0").read_text() == "precious"


def test_a_sweep_and_trees_leave_nothing(path, out, tmp_path):
    """The manifest lists whatever any phase of a plan makes."""
    sweep = ["-i", "0", "-+n", "-l", "1", "-u", "3", "-r", "4k", "-s", "16k", "-s", "32k", "--files-per-lane", "2", "-w"]
    data = program.run(sweep, path=path, out=out).expect(0).data
    assert len(contents(data)) > 6
    program.plain("clean", path).expect(0)
    assert not data.exists()
    tree = ["--op", "create", "--op", "mkdir", "--items", "10", "-t", "2", "-w"]
    data = program.run(tree, path=path, out=tmp_path / "tree").expect(0).data
    assert any(entry.name.startswith("tree-") for entry in data.iterdir())
    program.plain("clean", path).expect(0)
    assert not data.exists()
