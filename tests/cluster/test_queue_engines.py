"""Engines with a queue keep several ops in flight, and say so when the kernel refuses."""
import os
import re

import program
import pytest
import strace_log
from report_checks import lanes_of

pytestmark = pytest.mark.strace

KIB = 1024
RECORDS = 64
SHAPE = ("-r", "4k", "-s", "256k", "-+n", "--transport", "local", "-t", "1")


def traced(path, tmp_path, *options, calls):
    log = tmp_path / "strace"
    prefix = ("strace", "-f", "-y", "-s", "0", "-qq", "-e", "signal=none", "-e", f"trace={calls}", "-o", str(log))
    outcome = program.run([*SHAPE, *options], path=path, out=tmp_path / "out", prefix=prefix)
    return outcome, list(strace_log.joined(log.read_text(errors="replace").splitlines()))


def about_engine(outcome, operation):
    (step,) = [step for step in outcome.phase(operation)["steps"] if step["name"] == "engine"]
    return step["outcome"]


@pytest.mark.parametrize("letter", ["-k", "-H"])
def test_posix_aio_moves_each_record_once_by_a_descriptor_for_each_op_in_flight(letter, path, tmp_path):
    outcome, lines = traced(path, tmp_path, "--op", "write", letter, "8", calls="pwrite64,write")
    outcome.expect(0)
    pattern = re.compile(r"pwrite64\((\d+)<[^>]*/lane-000000\.0>, \S+, (\d+), (\d+)\) += (\d+)")
    writes = [tuple(map(int, found.groups())) for line in lines if (found := pattern.search(line))]
    assert sorted(offset for _, _, offset, _ in writes) == [n * 4 * KIB for n in range(RECORDS)]
    assert {(length, result) for _, length, _, result in writes} == {(4 * KIB, 4 * KIB)}
    assert len({fd for fd, *_ in writes}) == 8
    assert outcome.phase("write")["engine"] == "posix-aio"
    assert about_engine(outcome, "write") == "posix-aio, 8 in flight per lane" + (", copied" if letter == "-H" else "")


def test_uring_begins_many_ops_by_one_call_with_files_and_buffers_registered(path, tmp_path):
    outcome, lines = traced(path, tmp_path, "--op", "read", "--engine", "uring", "--depth", "16",
                            calls="io_uring_setup,io_uring_enter,io_uring_register,pread64,read")
    outcome.expect(0)
    text = "\n".join(lines)
    assert re.search(r"IORING_REGISTER_BUFFERS, .*, 16\) += 0", text)
    assert re.search(r"IORING_REGISTER_FILES, \[[^]]*\], 1\) += 0", text)
    submitted = [int(n) for n in re.findall(r"io_uring_enter\(.*\) += (\d+)$", text, re.MULTILINE)]
    assert sum(submitted) == RECORDS
    assert submitted[0] == 16, "all slots begin with the first call"
    assert not re.search(r"(pread64|read)\(\d+<[^>]*/lane-000000\.0>", text), "nothing goes beside the ring"
    assert about_engine(outcome, "read") == "uring, 16 in flight per lane"


@pytest.mark.parametrize("places", [(), ("--spawn", "2")], ids=["in-process", "spawn"])
def test_uring_that_is_forbidden_is_told_by_one_line_before_anything_is_made(places, path, tmp_path):
    log = tmp_path / "strace"
    outcome = program.run([*SHAPE[:-4], "-t", "1", "-i", "1", "--engine", "uring", "--depth", "8", *places], path=path, out=tmp_path / "out",
                          prefix=("strace", "-f", "-qq", "-o", str(log), "-e", "trace=io_uring_setup",
                                  "-e", "inject=io_uring_setup:error=EPERM"))
    outcome.expect(1)
    line = [line for line in outcome.stderr.splitlines() if "io_uring" in line]
    assert len(line) == 1 and "forbidden" in line[0] and "--engine" in line[0]
    assert not outcome.data.exists() and not outcome.out.exists()


def test_buffers_over_the_memlock_limit_are_said_to_be_unregistered(path, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root may drop the capability that lifts the limit")
    without = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=65536:65536"]
    outcome = program.run([*SHAPE, "--op", "write", "-e", "--engine", "uring", "--depth", "32"], path=path,
                          out=tmp_path / "out", prefix=tuple(without)).expect(0)
    note = about_engine(outcome, "write")
    assert "not registered" in note and "64 KiB" in note and "(1 of 1 lanes)" in note
    assert outcome.phase("write")["bytes"] == 256 * KIB


@pytest.mark.parametrize("engine", ["uring", "posix-aio"])
def test_what_a_queue_writes_is_verified_by_another_engine_and_the_other_way(engine, path, tmp_path):
    common = [*SHAPE, "--verify", "-w"]
    program.run([*common, "--op", "write", "-e", "--engine", engine, "--depth", "16"], path=path, out=tmp_path / "a").expect(0)
    program.run([*common, "--op", "read"], path=path, out=tmp_path / "b").expect(0)
    program.run([*common, "--op", "write"], path=path, out=tmp_path / "c").expect(0)
    outcome = program.run([*common, "--op", "random-read", "--engine", engine, "--depth", "16"], path=path,
                          out=tmp_path / "d").expect(0)
    assert outcome.phase("random-read")["ops"] == RECORDS
    assert [lane["ops"] for lane in lanes_of(outcome.phase("random-read"))] == [RECORDS]


@pytest.mark.parametrize("options, words", [
    (["--depth", "8", "--engine", "posix"], ["--depth 8", "engine posix", "uring"]),
    (["--depth", "8", "--engine", "mmap"], ["--depth 8", "engine mmap"]),
    (["--depth", "0", "--engine", "uring"], ["--depth"]),
    (["-k", "0"], ["-k"]),
    (["--depth", "4097", "--engine", "uring"], ["--depth", "4096"]),
    (["--depth", "8", "-k", "8"], ["--depth", "-k"]),
    (["--depth", "8", "--engine", "uring", "-J", "5"], ["-J", "--depth 8"]),
    (["-k", "8", "-+l"], ["-+l", "posix-aio"]),
])
def test_what_cannot_go_with_a_depth_is_said(options, words, path, tmp_path):
    outcome = program.run([*SHAPE, "--op", "write", *options], path=path, out=tmp_path / "out").expect(1)
    for word in words:
        assert word in outcome.stderr, outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
    assert not outcome.data.exists()
