"""Undisturbed runs, as the disk's own counters confirm, carry no mark that would make a reader doubt them.

A false mark is as bad as a missing one: people learn to ignore marks.
"""
import os
import pathlib
import tempfile

import program
import pytest
from machine_marks import ABOUT_THE_MACHINE

MIB = 1 << 20

# name: (options, marks that are true of its phases besides ABOUT_THE_MACHINE)
RUNS = {
    "fsync and close": ("-i 0 -c -e -r 64k -s 8m -t 2", {}),
    "fsync": ("-i 0 -e -r 1m -s 16m -t 1", {}),
    "to the end of all lanes": ("-i 0 -x -c -e -r 64k -s 8m -t 2", {}),
    "a time": ("-i 0 -+n -c -e -r 256k -s 8m -t 1 --time 1.2", {}),
    "direct": ("-i 0 -i 1 -i 2 -I -r 64k -s 4m -t 2", {}),
    "direct for a time": ("-i 0 -i 1 -I -r 64k -s 4m -t 1 --time 1.2", {}),
    "synchronous": ("-i 0 -o -r 64k -s 2m -t 1", {}),
    "read back from memory": ("-i 0 -i 1 -c -e -r 64k -s 8m -t 2",
                              {"read": {"cached"}, "reread": {"cached"}}),
    "read back from the disk": ("-i 0 -i 1 -+n -c -e -r 64k -s 8m -t 2 --drop-caches", {}),
    "mmap": ("-i 0 -+n -c -e --engine mmap -r 64k -s 8m -t 2", {}),
    "stdio": ("--op fwrite -c -e -r 64k -s 8m -t 2", {}),
    "io_uring": ("-i 0 -+n -c -e --engine uring --depth 8 -r 64k -s 8m -t 2", {}),
    "posix-aio": ("-i 0 -+n -c -e --engine posix-aio --depth 8 -r 64k -s 8m -t 2", {}),
    "verified": ("-i 0 -+n -i 1 -c -e --verify -r 64k -s 4m -t 2 --drop-caches", {}),
    "compressible": ("-i 0 -+n -c -e --compress 50 -r 64k -s 8m -t 2", {}),
    "a shared file": ("-i 0 -+n -c -e -+V -r 64k -s 8m -t 2", {}),
    "several files": ("-i 0 -+n -c -e --files-per-lane 4 -r 64k -s 8m -t 2", {}),
    "two processes": ("--spawn 2 -i 0 -c -e -r 64k -s 8m -t 1", {}),
    "random writes": ("-i 0 -i 2 -I -r 16k -s 2m -t 1", {}),
    "names": ("--op mkdir --op create --op stat --op unlink --items 500 -t 2", {"stat": {"maybe_cached"}}),
    # Only root can drop names.
    "names dropped from memory": ("--op create --op stat --op unlink --items 500 -t 2 --drop-caches",
                                  {"stat": {"maybe_cached"}} if os.geteuid() else {}),
    "random reads of a shared file": ("-i 0 -+n -i 2 -I -+V -r 16k -s 4m -t 2", {}),
}


def device_of(directory):
    """The /sys/dev/block entry of the disk below a directory."""
    number = os.stat(directory).st_dev
    return pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")


def sectors_written(device):
    return int((device / "stat").read_text().split()[6])


@pytest.fixture
def disk(path):
    device = device_of(path)
    if not (device / "stat").is_file():
        pytest.fail(f"{path} is not on a disk of this machine: set TMPDIR to a directory on ext4 or xfs")
    return device


def doubts_of(phase):
    return {mark["code"] for mark in phase["marks"]} - ABOUT_THE_MACHINE


@pytest.mark.parametrize("name", list(RUNS))
def test_a_clean_run_has_no_mark(name, disk, path, out):
    options, true_of = RUNS[name]
    before = sectors_written(disk)
    outcome = program.run(options.split(), path=path, out=out).expect(0)
    written_to_disk = 512 * (sectors_written(disk) - before)

    flushed = [phase for phase in outcome.phases if phase["operation"] in ("write", "rewrite", "random-write", "fwrite")]
    smallest = sum(phase["measured_bytes"] for phase in flushed)
    assert written_to_disk >= 0.9 * smallest, "the disk disagrees: this run is not clean"
    for phase in outcome.phases:
        allowed = true_of.get(phase["name"], set())
        assert doubts_of(phase) <= allowed, f"{phase['name']}: {phase['marks']}\n{outcome}"


@pytest.mark.parametrize("name", list(RUNS))
def test_a_clean_run_on_tmpfs_is_marked_as_that_alone(name, out):
    options, _ = RUNS[name]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as path:
        outcome = program.run(options.split(), path=path, out=out).expect(0)
    for phase in outcome.phases:
        assert doubts_of(phase) == {"memory_fs"}, f"{phase['name']}: {phase['marks']}\n{outcome}"
