"""Data that a run keeps, data that a crash leaves, and what may be done with them."""
import os
import signal

import program
import pytest

SHAPE = ("-r", "4k", "-s", "128k", "-t", "2")


def write_and_keep(path, out, *options):
    return program.run(["-i", "0", "-+n", "-w", *(options or SHAPE)], path=path, out=out).expect(0)


def contents(directory):
    return {file.name: file.read_bytes() for file in directory.iterdir() if not file.name.startswith("manifest")}


@pytest.mark.parametrize("transport", ["in-process", "spawn", "mpi"])
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
    cleaned = program.plain("clean", path)
    assert "thesis" in cleaned.stdout + cleaned.stderr, "what was left alone is named"
    assert {file.name: file.read_text() for file in data.iterdir()} == {"thesis": "two years of work"}


def test_data_of_a_crash_stop_the_next_run_until_it_is_told(path, out, tmp_path):
    crash(path, out)
    outcome = program.run(["-i", "0", *SHAPE], path=path, out=tmp_path / "second").expect(1)
    assert "clean" in outcome.stderr and len(outcome.stderr.strip().splitlines()) == 1, outcome
    forced = program.run(["-i", "0", "--force", *SHAPE], path=path, out=tmp_path / "third").expect(0)
    assert not forced.data.exists()
