"""Data that a run keeps or a crash leaves can be read again, and are removed only when it is safe."""
import contextlib
import json
import os
import pathlib
import signal
import socket

import program
import pytest

SHAPE = ("-r", "4k", "-s", "128k", "-t", "2")


def write_and_keep(path, out, *options):
    return program.run(["-i", "0", "-+n", "-w", *(options or SHAPE)], path=path, out=out).expect(0)


def contents(directory):
    return {file.name: file.read_bytes() for file in directory.iterdir() if not file.name.startswith("manifest")}


@pytest.mark.parametrize("transport", ["in-process", "spawn", program.MPI])
def test_data_kept_by_one_run_are_read_by_another(transport, path, tmp_path):
    prefix, options, _ = program.Transports(tmp_path).parts(transport)
    shape = ("-r", "4k", "-s", "128k", *options)
    program.run(["-i", "0", "-+n", "-w", *shape], path=path, out=tmp_path / "1", prefix=prefix).expect(0)
    before = contents(path / program.DATA_DIRECTORY)
    assert sorted(map(len, before.values())) == [128 << 10] * 4
    second = program.run(["-i", "1", "-+n", "-w", *shape], path=path, out=tmp_path / "2", prefix=prefix).expect(0)
    assert second.phase("read")["bytes"] == 4 * 128 << 10
    assert sum(step["bytes"] for step in second.phase("read")["steps"]) == 0, "nothing is written to prepare it"
    assert contents(path / program.DATA_DIRECTORY) == before, "a read changes nothing"
    third = program.run(["-i", "1", "-+n", *shape], path=path, out=tmp_path / "3", prefix=prefix).expect(0)
    assert not third.data.exists(), "without -w the last user removes them"


def test_every_block_of_the_data_is_different_and_does_not_compress(path, out):
    import zlib
    outcome = write_and_keep(path, out, "-r", "64k", "-s", "1m", "-t", "2")
    files = contents(outcome.data)
    blocks = [data[at:at + 4096] for data in files.values() for at in range(0, len(data), 4096)]
    assert len(set(blocks)) == len(blocks) == 512
    assert all(len(zlib.compress(data, 9)) > 0.99 * len(data) for data in files.values())


@pytest.mark.parametrize("change, word", [
    (("-r", "4k", "-s", "256k", "-t", "2"), "256|262144"),
    (("-r", "4k", "-s", "128k", "-t", "3"), "lanes"),
    (("-r", "4k", "-s", "128k", "-t", "2", "--files-per-lane", "2"), "files"),
    (("-r", "4k", "-s", "128k", "-t", "2", "-+V"), "shared"),
])
def test_kept_data_that_do_not_fit_are_named_and_left_alone(change, word, path, out, tmp_path):
    import re
    write_and_keep(path, out)
    before = contents(path / program.DATA_DIRECTORY)
    outcome = program.run(["-i", "1", *change], path=path, out=tmp_path / "second").expect(1)
    lines = outcome.stderr.strip().splitlines()
    assert len(lines) == 1 and re.search(word, lines[0]), outcome
    assert contents(path / program.DATA_DIRECTORY) == before


def test_another_record_size_reads_the_same_data(path, out, tmp_path):
    write_and_keep(path, out)
    outcome = program.run(["-i", "2", "-+n", "-r", "16k", "-s", "128k", "-t", "2"], path=path, out=tmp_path / "second")
    outcome.expect(0)


def test_kept_data_are_read_in_an_order_of_each_run_s_own(path, out, tmp_path):
    write_and_keep(path, out, "--seed", "4", *SHAPE)
    second = program.run(["-i", "1", "--op", "random-read", "-+n", "-w", "--seed", "9", *SHAPE], path=path,
                         out=tmp_path / "second").expect(0)
    assert sum(step["bytes"] for step in second.phase("random-read")["steps"]) == 0
    assert json.loads((second.data / "manifest.json").read_text())["seed"] == 4, "the data are those of their own seed"


def test_a_run_that_writes_replaces_kept_data(path, out, tmp_path):
    write_and_keep(path, out)
    outcome = program.run(["-i", "0", "-+n", "-w", "-r", "4k", "-s", "64k", "-t", "1"], path=path,
                          out=tmp_path / "second").expect(0)
    assert [len(data) for data in contents(outcome.data).values()] == [64 << 10]


def crash(path, out):
    """A run that was killed while it wrote."""
    arguments = ["-i", "0", "-+n", "-r", "64k", "-s", "1m", "-t", "2", "--time", "100"]
    with program.start(arguments, path=path, out=out) as running:
        running.wait_until(lambda: running.data_bytes() >= 2 << 20, "both lanes going round")
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
    assert (path / program.DATA_DIRECTORY).exists()


def test_clean_removes_what_a_crash_left_and_nothing_else(path, out):
    crash(path, out)
    data = path / program.DATA_DIRECTORY
    (data / "notes.txt").write_text("mine")
    outcome = program.plain("clean", path).expect(0)
    assert {file.name for file in data.iterdir()} == {"manifest.json", "notes.txt"}, outcome
    assert "notes.txt" in outcome.stdout + outcome.stderr, "what was left alone is named"
    (data / "notes.txt").unlink()


def test_clean_removes_the_directory_too(path, out):
    crash(path, out)
    program.plain("clean", path).expect(0)
    assert not (path / program.DATA_DIRECTORY).exists()


def test_clean_follows_no_link_out_of_the_directory(path, out, tmp_path):
    crash(path, out)
    precious = tmp_path / "precious"
    precious.write_text("dear")
    data = path / program.DATA_DIRECTORY
    victim = next(file for file in data.iterdir() if not file.name.startswith("manifest"))
    victim.unlink()
    os.symlink(precious, victim)
    cleaned = program.plain("clean", path).expect(0)
    assert precious.read_text() == "dear"
    assert str(victim) in cleaned.stdout and "clean again" in cleaned.stdout, "what is in the way, and how to go on"
    victim.unlink()
    program.plain("clean", path).expect(0)
    assert not data.exists()


def test_a_directory_of_that_name_that_is_not_ours_is_left_alone(path, out):
    data = path / program.DATA_DIRECTORY
    data.mkdir()
    (data / "thesis").write_text("two years of work")
    for arguments in (["-i", "0", *SHAPE], ["-i", "0", "--force", *SHAPE]):
        outcome = program.run(arguments, path=path, out=out).expect(1)
        assert len(outcome.stderr.strip().splitlines()) == 1, outcome
    cleaned = program.plain("clean", path).expect(1)
    assert "thesis" in cleaned.stdout + cleaned.stderr, "what was left alone is named"
    assert {file.name: file.read_text() for file in data.iterdir()} == {"thesis": "two years of work"}


def test_data_that_are_kept_are_not_replaced_without_a_word(path, tmp_path):
    write_and_keep(path, tmp_path / "1")
    outcome = program.run(["-i", "0", "-+n", *SHAPE], path=path, out=tmp_path / "2").expect(0)
    (note,) = [note for note in outcome.result["notes"] if "are removed for this run" in note]
    assert str(path / program.DATA_DIRECTORY) in note and "256 KiB" in note and socket.gethostname() in note
    assert note in outcome.stderr


def test_kept_trees_are_no_files_of_records(path, tmp_path):
    """A run of metadata operations without a size writes no records, whatever the size would be."""
    kept = program.run(["--op", "create", "-+n", "--items", "10", "-t", "1", "-w"], path=path, out=tmp_path / "1").expect(0)
    assert json.loads((kept.data / "manifest.json").read_text())["files"]["bytes_per_lane"] == 0
    refused = program.run(["-i", "1", "-+n", "-s", "64m", "-t", "1"], path=path, out=tmp_path / "2").expect(1)
    assert "bytes per lane 0, now 67108864" in refused.stderr, refused
    program.run(["--op", "stat", "-+n", "--items", "10", "-t", "1", "-w"], path=path, out=tmp_path / "3").expect(0)
    outcome = program.run(["-i", "0", "-+n", *SHAPE], path=path, out=tmp_path / "4").expect(0)
    (note,) = [note for note in outcome.result["notes"] if "are removed for this run" in note]
    assert "(trees of metadata operations)" in note, note


@pytest.mark.parametrize("links", [False, True])
def test_clean_says_why_it_has_cleaned_nothing(links, path, out, tmp_path):
    data = program.run(["-i", "0", "-+n", "-w", *SHAPE], path=path, out=out).expect(0).data
    files = sorted(file.name for file in data.iterdir())
    manifest = data / "manifest.json"
    if links:
        (tmp_path / "manifest").write_text(manifest.read_text())
        manifest.unlink()
        manifest.symlink_to(tmp_path / "manifest")
    else:
        manifest.write_text("{")
    cleaned = program.plain("clean", path).expect(1)
    (line,) = cleaned.stderr.strip().splitlines()
    assert "nothing was removed" in line and str(manifest) in line, line
    assert sorted(file.name for file in data.iterdir()) == files


def test_data_of_a_crash_stop_the_next_run_until_it_is_told(path, out, tmp_path):
    crash(path, out)
    outcome = program.run(["-i", "0", *SHAPE], path=path, out=tmp_path / "second").expect(1)
    assert "clean" in outcome.stderr and len(outcome.stderr.strip().splitlines()) == 1, outcome
    forced = program.run(["-i", "0", "--force", *SHAPE], path=path, out=tmp_path / "third").expect(0)
    assert not forced.data.exists()


# ------------------------------------------------------------------------------------ runs that are alive


@contextlib.contextmanager
def run_that_lives(path, out, transport, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    with program.start(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "--time", "100", *options], path=path, out=out,
                       prefix=prefix, helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "data")
        yield running
        running.interrupt()
        running.wait()


@pytest.mark.parametrize("transport", ["in-process", "spawn", "join-tcp", program.MPI])
def test_the_data_of_a_run_that_is_alive_cannot_be_removed(transport, path, out, tmp_path):
    with run_that_lives(path, out, transport, tmp_path):
        data = path / program.DATA_DIRECTORY
        claimant = json.loads((data / "manifest.json").read_text())["process"]
        lives = f"the run of {socket.gethostname()} pid {claimant['pid']}"
        assert pathlib.Path(f"/proc/{claimant['pid']}").exists()
        before = {file.name for file in data.iterdir()}
        for refused in (program.plain("clean", path), program.plain("clean", "--force", data),
                        program.run(["-i", "0", *SHAPE], path=path, out=tmp_path / "second"),
                        program.run(["-i", "0", "--force", *SHAPE], path=path, out=tmp_path / "second")):
            refused.expect(1)
            line, = refused.stderr.strip().splitlines()
            assert lives in line and "alive" in line, refused
            assert {file.name for file in data.iterdir()} == before, refused
        assert not (tmp_path / "second").exists()
    assert not data.exists(), "the run itself removes them"


def change_manifest(path, change):
    file = path / program.DATA_DIRECTORY / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(json.dumps(manifest))


OUT_OF_SIGHT = {
    "another host": lambda manifest: [manifest[process].update(boot_id="another boot") for process in ("process", "coordinator")],
    "an older version": lambda manifest: [manifest.pop(process) for process in ("process", "coordinator")],
}


@pytest.mark.parametrize("kind", OUT_OF_SIGHT)
def test_whether_a_run_of_another_host_lives_cannot_be_seen(kind, path, out, tmp_path):
    crash(path, out)
    change_manifest(path, OUT_OF_SIGHT[kind])
    for refused in (program.plain("clean", path), program.run(["-i", "0", *SHAPE], path=path, out=tmp_path / "second")):
        refused.expect(1)
        line, = refused.stderr.strip().splitlines()
        assert "cannot be seen from here" in line and f"clean --force {path}" in line, refused
    forced = program.run(["-i", "0", "--force", *SHAPE], path=path, out=tmp_path / "third").expect(0)
    assert "could not be seen from here" in forced.stderr and not forced.data.exists()


def test_clean_force_removes_what_a_run_of_another_host_left(path, out):
    crash(path, out)
    change_manifest(path, OUT_OF_SIGHT["another host"])
    program.plain("clean", "--force", path).expect(0)
    assert not (path / program.DATA_DIRECTORY).exists()


def test_another_process_with_the_number_of_one_that_died_is_not_taken_for_it(path, out):
    crash(path, out)
    change_manifest(path, lambda manifest: manifest["process"].update(pid=os.getpid()))
    program.plain("clean", path).expect(0)
    assert not (path / program.DATA_DIRECTORY).exists()


def test_kept_data_can_be_removed_as_ever(path, out):
    program.run(["-i", "0", "-w", *SHAPE], path=path, out=out).expect(0)
    change_manifest(path, OUT_OF_SIGHT["another host"])
    program.plain("clean", path).expect(0)
    assert not (path / program.DATA_DIRECTORY).exists()


def test_what_is_not_ours_does_not_keep_force_from_a_crashed_runs_directory(path, out, tmp_path):
    crash(path, out)
    mine = path / program.DATA_DIRECTORY / "notes.txt"
    mine.write_text("mine")
    forced = program.run(["-i", "0", "--force", *SHAPE], path=path, out=tmp_path / "second").expect(0)
    assert str(mine) in forced.stderr and "left alone" in forced.stderr, forced
    assert forced.result["run"]["problems"] == []
    assert {file.name for file in forced.data.iterdir()} == {"notes.txt", "manifest.json"}
    assert mine.read_text() == "mine"
