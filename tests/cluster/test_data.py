"""Data that a run writes do not compress or deduplicate by accident: compressors judge the files of whole runs."""
import os
import subprocess
import tempfile

import program
import pytest

BLOCK = 4096
MIB = 1 << 20
# The window of each covers all of its input.
COMPRESSORS = {
    "zstd -3": ["zstd", "-q", "-3", "--long=27", "-c"],
    "zstd -19": ["zstd", "-q", "-19", "--long=27", "-c"],
    "xz": ["xz", "-T1", "--lzma2=preset=6,dict=8MiB", "-c"],
    "xz of differences": ["xz", "-T1", "--delta=dist=8", "--lzma2=preset=0,dict=8MiB", "-c"],
}


def written(path, out, *options):
    """The lanes' files of a run, in the lanes' order."""
    program.run(["-w", "--force", *options], path=path, out=out).expect(0)
    return [file.read_bytes() for file in sorted((path / program.DATA_DIRECTORY).glob("lane-*"))]


def ratio(data, compressor):
    with tempfile.NamedTemporaryFile() as file:  # compressors know a file's size and set up no larger tables
        file.write(data)
        file.flush()
        command = [*COMPRESSORS[compressor], file.name]
        return len(data) / len(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def blocks(data):
    return [data[at:at + BLOCK] for at in range(0, len(data), BLOCK)]


def test_the_compressors_can_tell(tmp_path):
    repeated = os.urandom(256 << 10) * 4
    assert all(ratio(repeated, compressor) > 3 for compressor in COMPRESSORS)


@pytest.mark.parametrize("verify", [[], ["--verify"]], ids=["plain", "verified"])
@pytest.mark.parametrize("record", ["4k", "64k", "1m"])
def test_a_large_file_does_not_compress(record, verify, path, out):
    data, = written(path, out, "--op", "write", "-t", "1", "-s", "32m", "-r", record, *verify)
    assert len(data) == 32 * MIB and len(set(blocks(data))) == 32 * MIB // BLOCK
    assert ratio(data, "zstd -3") < 1.01


@pytest.mark.parametrize("verify", [[], ["--verify"]], ids=["plain", "verified"])
def test_lanes_phases_and_runs_have_nothing_in_common(verify, path, tmp_path):
    shape = ("-t", "2", "-s", "256k", "-r", "64k", *verify)
    first = written(path, tmp_path / "1", "--op", "write", "--seed", "5", *shape)
    second = written(path, tmp_path / "2", "--op", "write", "--op", "rewrite", "--seed", "5", *shape)
    other_run = written(path, tmp_path / "3", "--op", "write", *shape)
    everything = b"".join(first + second + other_run)
    assert len(everything) == 3 * MIB // 2
    for compressor in COMPRESSORS:
        assert ratio(everything, compressor) < 1.01, compressor


def test_two_runs_write_nothing_alike_unless_they_are_told(path, tmp_path):
    shape = ("--op", "write", "-t", "2", "-s", "1m", "-r", "64k")
    first, second = (written(path, tmp_path / str(number), *shape) for number in (1, 2))
    for one, other in zip(first, second):
        assert not any(a == b for a, b in zip(blocks(one), blocks(other)))
    same, again = (written(path, tmp_path / str(number), *shape, "--seed", "7") for number in (3, 4))
    assert same == again


def test_a_saved_plan_repeats_the_run(path, tmp_path):
    shape = ("--op", "write", "-t", "2", "-s", "256k", "-r", "64k", "-w", "--path", path)
    printed = program.plain(*shape, "--print-plan").expect(0).stdout
    plan = tmp_path / "plan.yaml"
    plan.write_text(printed)
    first, second = (written(path, tmp_path / str(number), "--plan", str(plan)) for number in (1, 2))
    assert first == second
    assert program.plain(*shape, "--print-plan").expect(0).stdout != printed, "each time another seed is drawn"


def test_the_report_says_the_seed_that_was_drawn(path, tmp_path):
    shape = ("--op", "write", "-t", "1", "-s", "256k", "-r", "64k")
    outcome = program.run(["-w", *shape], path=path, out=tmp_path / "1").expect(0)
    seed = outcome.result["run"]["plan"]["seed"]
    assert f"(seed {seed})" in outcome.stdout
    first = (outcome.data / "lane-000000.0").read_bytes()
    assert written(path, tmp_path / "2", *shape, "--seed", str(seed)) == [first]


@pytest.mark.parametrize("engine", [("--engine", "mmap"), ("--engine", "uring", "--depth", "4"),
                                    ("--engine", "posix-aio", "--depth", "2"), ("--buffer-bytes", "128k")], ids=lambda o: o[-1])
def test_every_engine_writes_the_same_bytes_in_records_of_any_size(engine, path, tmp_path):
    files = [written(path, tmp_path / str(number), "--op", "write", "-t", "1", "-s", "1m", "--seed", "3", *options)
             for number, options in enumerate((("-r", "4k"), ("-r", "64k", *engine), ("-r", "1k", *engine)))]
    assert files[0] == files[1] == files[2]


def test_what_long_records_cost_to_make_is_in_the_report_and_in_no_latency(path, tmp_path):
    short, long = (program.run(["--op", "write", "-t", "1", "-s", "4m", "-r", record], path=path,
                               out=tmp_path / record).expect(0).phase("write") for record in ("4k", "1m"))
    assert short["data_s"] == 0, "within the ops"
    assert long["data_s"] == long["between_s"] > 0
