"""Every refusal says what to do, at once: what is no directory, where nothing can be written, files that are no token."""
import os
import pathlib
import re
import socket
import stat
import subprocess
import tempfile
import time

import program
import pytest

TINY = "-i 0 -+n -r 4k -s 64k -t 1".split()


def fifo(place):
    os.mkfifo(place)
    return place


def unix_socket(place):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(place))  # the length of a path is limited
    return place


def file(place):
    place.write_text("text\n")
    return place


def block_device(place):
    devices = [name for name in pathlib.Path("/dev").iterdir() if stat.S_ISBLK(name.stat().st_mode)]
    if devices:
        return devices[0]
    os.mknod(place, stat.S_IFBLK | 0o600, os.makedev(7, 0))  # a loop device, which need not be there
    return place


KINDS = {"a FIFO": fifo, "a socket": unix_socket, "a file": file, "a character device": lambda _: pathlib.Path("/dev/null"),
         "a block device": block_device}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_directory_is_named_with_what_to_do(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = KINDS[kind](tmp_path / "place")
    run = program.plain("run", "--path", place, *TINY, "--out", tmp_path / "out").expect(1)
    assert f"is not a directory, but {kind}: " in run.stderr and "give --path" in run.stderr, run
    assert ("raw devices are not supported" in run.stderr) == (kind == "a block device")
    report = program.plain("report", place).expect(1)
    assert f"is {kind}, not a directory" in report.stderr and "--out" in report.stderr, report
    assert "--out" in program.plain("history", place, tmp_path).expect(1).stderr
    assert "--path" in program.plain("clean", place).expect(1).stderr
    if kind not in ("a file", "a block device"):
        assert f"not a regular file, but {kind}" in program.plain("run", "--plan", place).expect(1).stderr
    out = program.plain("run", "--path", tmp_path, *TINY, "--out", place / "out").expect(1)
    assert "name a directory for the results with --out" in out.stderr, out


def test_a_working_directory_that_cannot_be_written_names_out(nobody):
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:  # others cannot reach tmp_path
        os.chown(place, 65534, 65534)
        asked = subprocess.run([*nobody, program.BINARY, "run", "--path", place, *TINY], cwd="/", capture_output=True, text=True,
                               timeout=program.PATIENCE_S, env=program.clean_environment(), check=False)
    assert asked.returncode == 1 and "name a directory for the results with --out DIR" in asked.stderr, asked


@pytest.mark.parametrize("make, problem", [
    (lambda place: file(place).chmod(0o644), "use chmod 600"), (lambda place: file(place).chmod(0o600), "token file"),
    (fifo, "not a regular file, but a FIFO"), (lambda place: place.mkdir(), "not a regular file, but a directory")],
    ids=["readable by others", "no token", "a FIFO", "a directory"])
def test_a_worker_with_a_bad_token_file_ends_at_once(make, problem, tmp_path):
    make(tmp_path / "token")
    begin = time.monotonic()
    worker = program.plain("worker", "--join", "127.0.0.1:9", "--root", tmp_path, "--token-file", tmp_path / "token").expect(1)
    assert problem in worker.stderr and "waiting" not in worker.stderr, worker
    assert time.monotonic() - begin < program.PATIENCE_S / 4


def test_an_interrupted_run_says_how_to_go_on_with_its_options(path, out):
    running = program.start(["-i", "0", "-i", "1", "-+n", "-r", "4k", "-s", "64k", "-t", "1", "--time", "5", "--spawn", "2",
                             "--lost-after", "7"], path=path, out=out)
    with running:
        running.wait_until(lambda: running.data_bytes() > 0, "the first write")
        running.interrupt()
        ended = running.wait().expect(130)
    (line,) = re.findall(r"go on with `cluster-iobench (run --resume .*)`", ended.stderr)
    assert "--spawn 2" in line and "--lost-after 7" in line and str(out) in line, line
    assert "-i" not in line.split() and "--time" not in line
    resumed = program.plain(*line.split()).expect(0)
    assert "resuming with phase" in resumed.stderr, resumed


def test_validate_on_one_host_names_spawn(tmp_path):
    assert "needs 2 clients, or --spawn 2 on one host" in " ".join(
        program.plain("validate", "--path", tmp_path, "--only", "locks,mounts").expect(0).stdout.split())
    both = program.plain("validate", "--path", tmp_path, "--spawn", "2", "--only", "locks,mounts").expect(0).stdout
    assert "needs 2 clients" not in both, both
