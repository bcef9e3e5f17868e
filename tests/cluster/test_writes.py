"""The report says correctly how much of the written data reached the storage, as the kernel's counters confirm.

These are /proc/PID/io of the program, which counts a page when it becomes dirty, and the sectors written to the disk below
the directory. Both need a file system on a disk.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import program

MIB = 1 << 20
CHARGING = {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"}
SECTOR_BYTES = 512


def file_system_of(directory):
    text = subprocess.run(["stat", "-f", "-c", "%T", str(directory)], capture_output=True, text=True, check=True).stdout
    name = text.strip()
    return "ext4" if name == "ext2/ext3" else name


@pytest.fixture
def disk(tmp_path):
    """A new directory on a disk: in pytest's own directory, or elsewhere if that is in memory."""
    candidates = [tmp_path, pathlib.Path(program.BINARY).resolve().parent, pathlib.Path.home(), pathlib.Path("/var/tmp")]
    for candidate in candidates:
        if file_system_of(candidate) in CHARGING and os.access(candidate, os.W_OK):
            directory = candidate / f"written-{os.getpid()}"
            directory.mkdir()
            yield directory
            shutil.rmtree(directory)
            return
    seen = ", ".join(f"{candidate} ({file_system_of(candidate)})" for candidate in candidates)
    pytest.fail(f"no directory on a disk to write to: {seen}; give --basetemp one on {', '.join(sorted(CHARGING))}")


class Disk:
    """Bytes that the device under a directory received, by its own counters. Others write there too, so a test has only a
    lower bound."""

    def __init__(self, directory):
        number = os.stat(directory).st_dev
        stat = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
        self._stat = stat if stat.exists() else None  # btrfs has device numbers of its own
        self._before = self._sectors()

    def _sectors(self):
        return int(self._stat.read_text().split()[6]) if self._stat else 0

    @property
    def written_bytes(self):
        return (self._sectors() - self._before) * SECTOR_BYTES if self._stat else None


def run_counted(command, directory, out):
    """Runs the program and returns its outcome and /proc/PID/io write_bytes at its end."""
    line = [program.BINARY, *command.split(), "--path", str(directory), "--out", str(out)]
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                   env=program.clean_environment())
        # The process has ended but is not reaped: its counters are still there.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        counted = pathlib.Path(f"/proc/{process.pid}/io").read_text()
        code = process.wait()
        texts = [(stream.seek(0), stream.read())[1] for stream in (stdout, stderr)]
    outcome = program.Outcome(line, code, *texts, out, directory).expect(0)
    return outcome, int(re.search(r"^write_bytes: (\d+)$", counted, re.M)[1])


def codes(phase):
    return {mark["code"] for mark in phase["marks"]} - {"too_short"}


def says_flushed(text):
    return re.search(r"(?<!un)flushed", text) is not None


ENGINES = {
    "posix": "-i 0 -+n",
    "stdio": "--op fwrite",
    "mmap": "-i 0 -+n --engine mmap",
    "uring": "-i 0 -+n --engine uring --depth 4",
    "posix-aio": "-i 0 -+n --engine posix-aio --depth 4",
    "random": "--op random-write",
}


@pytest.mark.parametrize("flags", ENGINES.values(), ids=ENGINES)
def test_passes_that_are_flushed_reach_the_disk(disk, out, flags):
    device = Disk(disk)
    outcome, counted = run_counted(f"{flags} -t 1 -s 2m -r 64k --time 1 -c -e", disk, out)
    phase = outcome.phases[-1]
    assert phase["bytes"] > 2 * MIB, "nothing went round"
    assert counted >= 0.95 * phase["bytes"]
    if device.written_bytes is not None:
        assert device.written_bytes >= 0.95 * phase["bytes"]
    assert not codes(phase) & {"absorbed", "unflushed"}
    assert phase["reached_bytes"] == phase["written_bytes"] == phase["bytes"]
    assert "each pass is flushed before the next, in the timed region" in " ".join(outcome.stdout.split())
    assert phase["stonewall"]["kind"] == "flushed"
    # The flushes are inside the headline's window.
    seconds = phase["measured_bytes"] / phase["headline"]["bytes_per_s"]
    (flushes,) = (step for step in phase["steps"] if step["name"] == "flush-passes")
    assert seconds >= flushes["seconds"] > 0


def test_passes_that_stay_in_memory_are_marked(disk, out):
    outcome, counted = run_counted("-i 0 -+n -t 1 -s 2m -r 64k --time 0.3", disk, out)
    (phase,) = outcome.phases
    assert phase["bytes"] > 10 * 2 * MIB
    assert counted < 0.5 * phase["bytes"]
    assert codes(phase) >= {"absorbed", "unflushed"}
    assert phase["written_bytes"] == phase["bytes"]
    assert abs(phase["reached_bytes"] - counted) <= 3 * MIB, "the reports, one of them a page, and the manifest"
    (mark,) = (mark for mark in phase["marks"] if mark["code"] == "absorbed")
    assert mark["value"] == pytest.approx(100 * phase["reached_bytes"] / phase["bytes"])
    assert "written reached the server or device" in " ".join(outcome.stdout.split())


def test_a_close_that_flushes_nothing_is_not_called_a_flush(disk, out):
    outcome, _ = run_counted("-i 0 -+n -t 2 -s 4m -r 64k -c", disk, out)
    (phase,) = outcome.phases
    assert phase["headline"]["region"] == "ops+close"
    assert "unflushed" in codes(phase)
    assert phase["stonewall"]["kind"] == "closed"
    assert not says_flushed(outcome.stdout)
    assert not says_flushed((out / "result.csv").read_text())


@pytest.mark.parametrize("flags", ["-t 2", "--spawn 2 -t 1", "-t 1 -I", "-t 1 -o", "-t 2 --repeat 2",
                                   "-t 2 -+V", "-t 1 --compress 50"])
def test_writes_that_arrived_have_no_mark(disk, out, flags):
    outcome = program.run(f"-i 0 -i 2 -i 8 {flags} -s 512k -r 16k -c -e".split(), path=disk, out=out).expect(0)
    for phase in outcome.phases:
        assert not codes(phase) & {"absorbed", "unflushed"}, phase["name"]
        if "reached_bytes" in phase:
            assert phase["reached_bytes"] == phase["written_bytes"] > 0
    assert "reached  " not in outcome.stdout


def test_memory_is_no_storage_that_bytes_could_arrive_at(out):
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        outcome = program.run("-i 0 -+n -t 1 -s 1m --time 0.2 -c -e".split(), path=memory, out=out).expect(0)
        (phase,) = outcome.phases
        assert "memory_fs" in codes(phase) and "absorbed" not in codes(phase)
        assert "written_bytes" not in phase["clients"][0]


def test_cold_reads_come_from_the_disk_and_the_counters_confirm_it(disk, out):
    outcome = program.run("-i 0 -i 1 -+n -c -e -r 64k -s 8m -t 2 --cold".split(), path=disk, out=out).expect(0)
    read = next(phase for phase in outcome.phases if phase["name"] == "read")
    sources = read["read_sources"]
    assert sources["asked_bytes"] == 16 * MIB
    assert sources["disk_bytes"] + sources["cache_bytes"] == sources["asked_bytes"], sources
    assert sources["server_bytes"] == sources["unknown_bytes"] == 0
    assert sources["disk_bytes"] > 0.95 * sources["asked_bytes"], sources
    assert read["cold"]["verified"] and read["cold"]["server"] == "", read["cold"]
    assert not [mark for mark in read["marks"] if mark["code"] in ("cached", "not_cold")], read["marks"]
    assert re.search(r"cold\s+verified: ", outcome.stdout), outcome
    assert "cold" not in next(phase for phase in outcome.phases if phase["name"] == "write")


def test_reads_of_what_was_just_written_come_from_memory_and_the_screen_says_so(disk, out):
    outcome = program.run("-i 0 -i 1 -+n -c -r 64k -s 8m -t 2".split(), path=disk, out=out).expect(0)
    read = next(phase for phase in outcome.phases if phase["name"] == "read")
    assert read["read_sources"]["cache_bytes"] == read["read_sources"]["asked_bytes"] == 16 * MIB
    assert 0 < read["read_sources"]["files_to_memory"] < 0.5
    assert re.search(r"read from\s+client's memory 16 MiB \(100 %\)", outcome.stdout), outcome


def test_a_size_by_memory_is_that_of_the_workers_and_eaten_memory_is_reported(path, out):
    options = "-i 0 -+n --engine null -r 64k -s 50% -t 2 --max-ops 200 --eat-memory 1 --spawn 2"
    outcome = program.run(options.split(), path=path, out=out).expect(0)
    client, = outcome.result["clients"]
    files = outcome.result["run"]["plan"]["files"]
    assert files["memory_percent"] == 50
    assert 0 <= 4 * files["bytes_per_lane"] - client["memory_bytes"] // 2 <= 4 * 64 * 1024
    phase, = outcome.phases
    step, = [step for step in phase["steps"] if step["name"] == "eat-memory"]
    assert re.match(r"locked \S+ \S+ of |in use, but not locked", step["outcome"]), step
    assert re.search(r"per client 50 % of the memory of \S+ \(", " ".join(outcome.stdout.split())), outcome
