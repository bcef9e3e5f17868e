"""Phases that loop (--time) over their records: each pass writes other data, a pass that the storage lost is found, and the
first pass over new files is reported apart from those that overwrite it."""
import csv
import io
import struct

import program
import pytest

SECTOR = 512
SIZE = 64 << 10
SHAPE = ("-r", "4k", "-s", "64k", "--time", "0.3")
RECORDS = SIZE // 4096


def hashes_in(file):
    """Of the first million writes."""
    data = file.read_bytes()
    return struct.unpack(f"<{len(data) // 8}Q", data)


@pytest.mark.unsanitized  # a library before the sanitizer's
@pytest.mark.parametrize("options", [
    ("-i", "0", "-+n"),
    ("-i", "0", "-+n", "-c", "-e"),                    # a flush after each pass
    ("-i", "0", "-+n", "--verify"),
    ("-i", "0", "-+n", "-r", "32k", "--compress", "50"),  # made before the op
    ("--op", "rewrite"),                               # over files that this phase has prepared
    ("--op", "random-write", "-m"),
    ("--op", "record-rewrite"),                        # one place, again and again
], ids=["write", "flushed", "verify", "long", "rewrite", "buffers", "record-rewrite"])
def test_no_two_writes_of_a_phase_are_equal(path, out, tmp_path, call_counter, options):
    noted = tmp_path / "hashes"
    env = program.clean_environment(LD_PRELOAD=str(call_counter), WRITE_HASHES=str(noted))
    outcome = program.run([*SHAPE, "-t", "1", *options], path=path, out=out, env=env).expect(0)
    hashes = hashes_in(noted)
    assert len(hashes) >= min(outcome.phases[0]["ops"], 1 << 20) > 3 * RECORDS, "the lane looped"
    assert len(set(hashes)) == len(hashes)


@pytest.mark.unsanitized
def test_data_that_is_to_be_equal_is(path, out, tmp_path, call_counter):
    noted = tmp_path / "hashes"
    env = program.clean_environment(LD_PRELOAD=str(call_counter), WRITE_HASHES=str(noted))
    program.run([*SHAPE, "-t", "1", "-i", "0", "-+n", "--dedupe", "50", "--dedupe-within", "100"], path=path, out=out,
                env=env).expect(0)
    hashes = hashes_in(noted)
    assert len(hashes) > 3 * RECORDS, "the lane looped"
    assert len(set(hashes)) == pytest.approx(len(hashes) / 2, rel=0.1), "half are unique, also from pass to pass"


WRITERS = {
    "write": ("--op", "write"),
    "random-write": ("--op", "write,random-write"),
    "pwritev": ("--op", "write,pwritev"),
    "update": ("--op", "write,update"),
    "uring": ("--op", "write,random-write", "--engine", "uring", "--depth", "8"),
    "mmap": ("--op", "write,random-write", "--engine", "mmap"),
    "shared": ("--op", "write,random-write", "--shared-file"),
    "interleaved": ("--op", "write,random-write", "--shared-file", "--interleaved"),
    "several files": ("--op", "write,random-write", "--files-per-lane", "4"),
    "odd records": ("--op", "write,random-write", "-r", "1000", "-s", "64000"),
    "max-ops": ("--op", "write,random-write", "--max-ops", "100"),
}


READERS = "read,random-read,backward-read,stride-read"


@pytest.mark.parametrize("options", WRITERS.values(), ids=WRITERS)
def test_readers_know_the_generation_of_every_record(path, tmp_path, options):
    shape = [*SHAPE, *options, "-t", "2", "--verify"]
    outcome = program.run([*shape, "-w"], path=path, out=tmp_path / "1").expect(0)
    assert outcome.phases[-1]["ops"] > 0
    # In the same run with another order and other records, and in a later one that finds the data kept.
    reads = ["--op", READERS, "-w", "--verify", "-t", "2", *SHAPE,
             *[word for word in options if word not in ("--op", options[1], "--engine", "uring", "mmap", "--depth", "8")]]
    later = program.run(reads, path=path, out=tmp_path / "2").expect(0)
    for phase in later.phases:
        verify = phase["verify"]
        assert verify["sectors"] > 0
        assert verify["mismatched"] == 0
        assert verify["undetermined"] == 0, phase["name"]


@pytest.mark.parametrize("clients", [("-t", "3"), ("--spawn", "2", "-t", "2", "--rotate-clients")], ids=["same", "rotated"])
def test_a_reader_in_the_same_run_knows_it_too(path, out, clients):
    outcome = program.run([*SHAPE, *clients, "--verify", "--op", f"write,random-write,{READERS}", "-+O", "2000"],
                          path=path, out=out).expect(0)
    for operation in READERS.split(","):
        verify = outcome.phase(operation)["verify"]
        assert verify["sectors"] > 0 and verify["mismatched"] == verify["undetermined"] == 0


@pytest.mark.unsanitized
@pytest.mark.parametrize("operation", ["write", "random-write"])
@pytest.mark.parametrize("kept", [False, True], ids=["same run", "later run"])
def test_a_pass_that_was_lost_is_found(path, tmp_path, call_counter, operation, kept):
    """From the third write to one record on, the storage loses it: what is there is intact, but of an older pass."""
    env = program.clean_environment(LD_PRELOAD=str(call_counter), LOSE_AFTER="3", LOSE_AT="8192")
    shape = ["-r", "4k", "-s", "64k", "--verify", "-t", "1"]
    phases = "write" if operation == "write" else "write,random-write"
    if kept:
        program.run([*shape, "--time", "0.3", "--op", phases, "-w"], path=path, out=tmp_path / "1", env=env).expect(0)
        outcome = program.run([*shape, "--op", "read", "-w"], path=path, out=tmp_path / "2")
    else:
        outcome = program.run([*shape, "--time", "0.3", "--op", phases + ",read"], path=path, out=tmp_path / "1", env=env)
    verify = outcome.expect(2).phase("read")["verify"]
    assert set(verify["counts"]) == {"stale"}
    assert verify["undetermined"] == 0
    first = verify["first"][0]
    assert first["file"].endswith("lane-000000.0") and 8192 <= first["offset"] < 8192 + 4096


LANES, PACE = 2, 100
PASS_BYTES = 25 * 4096
LOOPED = ("-i", "0", "-+n", "-r", "4k", "-s", "100k", "-t", str(LANES), "--time", "1", "-+O", str(PACE))


@pytest.mark.parametrize("options, kind", [((), "retroactive"), (("-e",), "flushed")], ids=["retroactive", "flushed"])
def test_the_first_pass_is_reported_apart(path, out, options, kind):
    outcome = program.run([*LOOPED, *options], path=path, out=out).expect(0)
    (phase,) = outcome.phases
    first = phase["first_pass"]
    assert first["kind"] == kind
    if kind == "flushed":
        assert first["bytes"] == LANES * PASS_BYTES
    else:
        assert PASS_BYTES < first["bytes"] <= LANES * PASS_BYTES  # one lane is through, the other nearly
    assert first["bytes_per_s"] == pytest.approx(first["bytes"] / first["seconds"])
    assert first["seconds"] >= 24 / PACE, "a lane's 25 ops at its pace"
    assert first["seconds"] < phase["duration_s"]
    overwritten = phase["measured_bytes"] - LANES * PASS_BYTES
    assert first["overwritten_percent"] == pytest.approx(100 * overwritten / phase["measured_bytes"])
    assert first["headline"] == "overwriting"
    assert phase["title"] == "write, overwriting"
    printed = " ".join(outcome.stdout.split())
    assert "write, overwriting" in printed
    assert "first pass over new files" in printed and "of the headline overwrites" in printed
    markdown = program.plain("report", str(out), "--format", "markdown").stdout
    assert "| write, overwriting |" in markdown and "The first pass alone" in markdown
    (row,) = csv.DictReader(io.StringIO((out / "phases.csv").read_text()))
    assert float(row["first_pass_bytes_per_s"]) == pytest.approx(first["bytes_per_s"])
    assert float(row["first_pass_s"]) == pytest.approx(first["seconds"])
    assert float(row["overwritten_percent"]) == pytest.approx(first["overwritten_percent"])
    iozone = program.plain("report", str(out), "--format", "iozone").stdout
    assert "initial writers" not in iozone


@pytest.mark.parametrize("options, title", [
    (("-i", "0", "-+n", "-s", "100k"), "initial write"),               # once
    (("-i", "0", "-+n", "-s", "1m", "--time", "0.5", "-+O", "50"), "initial write"),  # no lane gets through its files
    (("--op", "rewrite", "-s", "100k", "--time", "0.5"), "rewrite"),   # no new files
], ids=["once", "short", "rewrite"])
def test_other_phases_have_no_first_pass(path, out, options, title):
    outcome = program.run([*options, "-r", "4k", "-t", "2"], path=path, out=out).expect(0)
    (phase,) = outcome.phases
    assert "first_pass" not in phase
    assert phase["title"] == title
    assert "first pass" not in outcome.stdout


def test_a_first_pass_within_the_warm_up_has_no_figure(path, out):
    outcome = program.run([*LOOPED, "--warmup", "0.6"], path=path, out=out).expect(0)
    first = outcome.phases[0]["first_pass"]
    assert first["bytes_per_s"] is None and first["bytes"] == 0
    assert first["overwritten_percent"] == 100
    assert "within the warm-up" in outcome.stdout
