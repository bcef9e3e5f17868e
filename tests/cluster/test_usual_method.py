"""Without a size, a run measures storage: new files grow, writes are flushed, reads are cold."""
import csv
import json
import os
import pathlib
import re
import tempfile

import program
import pytest

MIB = 1 << 20
TIME = ("--time", "1.2")
NOT_OF_STORAGE = {"cached", "maybe_cached", "absorbed", "unflushed", "not_cold"}
# Local file systems whose reads and writes the kernel counts for each process.
COUNTED = {"ext2", "ext3", "ext4", "xfs", "btrfs"}


def codes(phase):
    return {mark["code"] for mark in phase["marks"]} | {mark["code"] for client in phase["clients"] for mark in client["marks"]}


@pytest.fixture
def everybodys():
    """A directory that every user can write to."""
    with tempfile.TemporaryDirectory(prefix="iobench-usual-", dir="/var/tmp") as directory:
        os.chmod(directory, 0o777)
        (pathlib.Path(directory) / "d").mkdir(mode=0o777)
        os.chmod(pathlib.Path(directory) / "d", 0o777)
        yield pathlib.Path(directory)


def check_storage_was_measured(outcome):
    titles = [phase["title"] for phase in outcome.phases]
    assert titles[0] == "initial write", f"its files are new until its end: {titles}"
    counted = outcome.result["clients"][0]["targets"][0]["filesystem"] in COUNTED
    for phase in outcome.phases:
        assert not NOT_OF_STORAGE & codes(phase), phase["marks"]
        if "write" in phase["operation"]:
            assert "fsync" in phase["headline"]["region"], phase["headline"]
        elif counted:
            assert phase["cold"]["verified"], phase["cold"]


def test_no_headline_is_that_of_memory(path, out):
    check_storage_was_measured(program.run(TIME, path=path, out=out).expect(0))


def test_no_headline_is_that_of_memory_for_an_ordinary_user(nobody, everybodys):
    outcome = program.run(TIME, path=everybodys / "d", out=everybodys / "out", prefix=nobody).expect(0)
    check_storage_was_measured(outcome)


def test_later_phases_use_what_was_written(path, out):
    outcome = program.run([*TIME, "-i", "0", "-i", "1", "-+n", "-t", "2", "-w"], path=path, out=out).expect(0)
    write, read = outcome.phases
    sizes = [file.stat().st_size for file in outcome.data.glob("*") if not file.name.startswith("manifest")]
    assert len(sizes) == 2 and sum(sizes) >= write["bytes"], (sizes, write["bytes"])
    assert not [step for step in read["steps"] if step["name"] == "prefill" and step.get("bytes", 0) > 0], read["steps"]
    again = program.run([*TIME, "-i", "1", "-+n", "-t", "2"], path=path, out=out.with_name("again")).expect(0)
    assert again.phase("read")["cold"]["verified"] or not outcome.phase("read")["cold"]["verified"]


def test_every_output_has_the_size_that_files_grew_to(path, out):
    outcome = program.run([*TIME, "-i", "0", "-i", "1", "-+n", "-t", "2", "-w"], path=path, out=out).expect(0)
    write, read = outcome.phases
    sizes = [file.stat().st_size for file in outcome.data.glob("*") if not file.name.startswith("manifest")]
    assert write["grown_bytes_per_lane"] == pytest.approx(sum(sizes) / 2, abs=1)
    assert min(sizes) - 64 * 1024 < read["grown_bytes_per_lane"] <= min(sizes), "what every lane has"
    rows = list(csv.DictReader((outcome.out / "phases.csv").open()))
    assert [int(row["bytes_per_lane"]) for row in rows] == [phase["grown_bytes_per_lane"] for phase in outcome.phases]
    job, _ = json.loads(program.plain("report", outcome.out, "--format", "fio-json").expect(0).stdout)["jobs"]
    assert job["job options"]["size"] not in ("64m", "64k"), job["job options"]
    ior = program.plain("report", outcome.out, "--format", "ior").expect(0).stdout
    assert not re.search(r"^blocksize +: 64 MiB$", ior, re.M), ior


def test_kept_files_that_grew_are_used_as_far_as_is_asked_and_the_rest_is_named(out):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path:  # where files surely grow beyond what is asked for
        def reads(name, *words):
            return program.run([*words, "-i", "1", "-+n", "-t", "2", "-w"], path=path, out=out.with_name(name))

        kept = program.run(["--time", "0.6", "-i", "0", "-+n", "-t", "2", "-w", "-r", "1m"], path=path, out=out).expect(0)
        grown = json.loads((kept.data / "manifest.json").read_text())["files"]["grown_bytes_per_lane"]
        assert grown == min(file.stat().st_size for file in kept.data.glob("*") if not file.name.startswith("manifest"))
        assert grown > 64 * MIB, "the size of a run without one"
        (note,) = [note for note in reads("part", *TIME).expect(0).result["notes"] if "the kept files grew to" in note]
        assert f"use -s {grown // MIB}m for all" in note, note
        whole = reads("whole", "-s", f"{grown // MIB}m").expect(0)
        assert whole.phases[0]["bytes"] == 2 * (grown // MIB) * MIB
        assert not [note for note in whole.result["notes"] if "the kept files grew to" in note]
        assert "bytes per lane" in reads("more", "-s", f"{grown // MIB + 1}m").expect(1).stderr


def test_files_of_several_record_sizes_grow_no_further_than_they_are_needed(path, out):
    outcome = program.run([*TIME, "-i", "0", "-i", "1", "-+n", "-t", "2", "-r", "4k:60,64k:40", "-w"], path=path, out=out).expect(0)
    write, read = outcome.phases
    needed = outcome.result["run"]["plan"]["files"]["bytes_per_lane"]
    assert write["bytes"] <= write["measured_bytes"] + 2 * (needed + 64 * 1024)
    assert not [step for step in read["steps"] if step["name"] == "prefill" and step.get("bytes", 0) > 0], read["steps"]


def test_data_that_grew_can_be_verified(path, out):
    outcome = program.run(["--time", "0.4", "-+d"], path=path, out=out).expect(0)
    assert len(outcome.phases) == 6, "no sector was wrong, or the exit code would be 2"


def test_a_file_system_in_memory_is_told_of_once(out):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path:
        outcome = program.run(["-i", "1", "-+n", "-t", "1", *TIME], path=path, out=out).expect(0)
    assert codes(outcome.phases[0]) & (NOT_OF_STORAGE | {"memory_fs"}) == {"memory_fs"}, outcome.phases[0]["marks"]
    assert not outcome.phases[0]["cold"]["verified"]
