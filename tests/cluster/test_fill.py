"""--fill: the file system is as full as asked when the first phase begins, and as empty as before once the run has ended."""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import namespaces
import program
import pytest
from program import MPI, Transports

MIB = 1 << 20
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system of its own")


class SmallFilesystem:
    """A tmpfs in a mount namespace of its own, which every command of the test enters."""

    def __init__(self, path, megabytes):
        self.path = path
        self.keeper = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c",
             f'mount -t tmpfs -o size={megabytes}m none "$0" && echo mounted && exec sleep 1000000', str(path)],
            stdout=subprocess.PIPE, text=True)
        assert self.keeper.stdout.readline() == "mounted\n"
        self.prefix = namespaces.entering(self.keeper.pid, "mount")

    def close(self):
        self.keeper.kill()
        self.keeper.wait()
        self.keeper.stdout.close()

    def run(self, *command):
        return subprocess.run([*self.prefix, *command], capture_output=True, text=True, check=True).stdout

    def names(self):
        deadline = time.monotonic() + program.PATIENCE_S
        while True:
            try:
                return self.run("find", str(self.path), "-mindepth", "1").split()
            except subprocess.CalledProcessError as failed:  # find(1) fails if a name vanishes meanwhile
                assert time.monotonic() < deadline, f"{self.path} cannot be listed: {failed.stderr}"


@pytest.fixture
def small(path, request):
    """A SmallFilesystem of 256 MiB, or as many MiB as the test's parameter says."""
    filesystem = SmallFilesystem(path, getattr(request, "param", 256))
    yield filesystem
    filesystem.close()


def children(pid):
    """The command lines of all descendants of a process."""
    lines = []
    with contextlib.suppress(OSError):  # those that end meanwhile
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            lines.append(pathlib.Path(f"/proc/{child}/cmdline").read_bytes())
            lines.extend(children(child))
    return lines


def fill_step(phase):
    step, = [step for step in phase["steps"] if step["name"] == "fill"]
    return step


@pytest.mark.parametrize("transport", ["in-process", "spawn", "join-tcp", MPI])
def test_the_file_system_is_as_full_as_asked_during_the_phases_and_empty_afterwards(transport, small, out, tmp_path):
    """The independent witness is df, which a hook calls before each phase."""
    log = tmp_path / "df"
    df = f"df --output=pcent {small.path} >>{log}; ls {small.path}/cluster-iobench.data >>{log}.names"
    prefix, options, helpers = Transports(tmp_path, roots=("/",)).parts(transport)
    arguments = ["-i", "0", "-i", "1", "-+n", "-c", "-r", "64k", "-s", "1m", *options, "--fill", "75",
                 "--before-phase", df]
    inside = (*small.prefix, *prefix)
    helpers = [(*small.prefix, *helper) for helper in helpers]
    outcome = program.run(arguments, path=small.path, out=out, prefix=inside, helpers=helpers).expect(0)
    at_phases = [int(percent) for percent in re.findall(r"(\d+)%", log.read_text())]
    assert at_phases[0] in (75, 76) and at_phases[1] in (76, 77, 78), at_phases
    names = set((log.parent / "df.names").read_text().split())
    assert {f"fill-{lane:06d}.0" for lane in range(4)} <= names, names
    assert small.names() == []
    write, read = outcome.phases
    assert abs(fill_step(write)["bytes"] - 192 * MIB) < MIB and fill_step(write)["seconds"] > 0
    assert fill_step(write)["outcome"] == "75 % of 256 MiB in use"
    assert not [step for step in read["steps"] if step["name"] == "fill"]
    assert outcome.result["run"]["plan"]["phases"][0]["before"][0]["fill"] == {"percent": 75}
    for phase, least in ((write, 75), (read, 76)):
        fullness, = phase["fullness"]
        assert least <= fullness["percent"] < least + 2 and fullness["total_bytes"] == 256 * MIB
    assert re.search(r"space +7[56]\.?\d* % of 256 MiB in use at the start", outcome.stdout), outcome
    assert "--fill writes 192 MiB so that 75 % of the space is in use" in outcome.stderr


def test_a_fuller_file_system_is_left_as_it_is(small, out):
    small.run("dd", "if=/dev/zero", f"of={small.path}/users", "bs=1M", "count=150")
    outcome = program.run("-i 0 -+n -r 64k -s 1m --fill 50".split(), path=small.path, out=out, prefix=small.prefix).expect(0)
    assert fill_step(outcome.phases[0])["outcome"] == "59 % were in use already: nothing was written"
    assert fill_step(outcome.phases[0])["bytes"] == 0
    assert small.names() == [f"{small.path}/users"]


def test_a_dry_run_and_preflight_say_how_much_is_written(small, out):
    options = "-i 0 -+n -r 64k -s 1m --fill 75".split()
    dry = program.run([*options, "--dry-run"], path=small.path, out=out, prefix=small.prefix).expect(0)
    line = f"fill  {small.path}: 256 MiB, 0.0 % in use; 192 MiB to reach 75 %: 188 ms if all clients together reach 1 GiB/s"
    assert line in dry.stdout, dry
    command = [*small.prefix, program.BINARY, "preflight", *options, "--path", str(small.path)]
    done = subprocess.run(command, capture_output=True, text=True, env=program.clean_environment(), check=True)
    assert line in done.stdout
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, env=program.clean_environment(), check=True)
    fill, = json.loads(done.stdout)["fills"]
    assert (fill["bytes"], fill["percent"]) == (192 * MIB, 75)
    assert small.names() == []


def test_lanes_that_no_longer_fit_are_refused_before_anything_is_written(small, out):
    options = "-i 0 -+n -r 64k -s 20m -t 4 --fill 75".split()
    outcome = program.run(options, path=small.path, out=out, prefix=small.prefix).expect(1)
    assert re.search(r"need 272 MiB, 192 MiB of it for --fill, but only 256 MiB are free: use a smaller --fill", outcome.stderr), outcome
    assert small.names() == []


def test_no_room_where_statfs_shows_some_is_a_clear_error(small, out):
    """As with a quota, the file system refuses writes into space that it reported as free."""
    options = "-i 0 -+n -r 64k -s 1m -t 1 --fill 99".split()
    shrink = (f"until ls {small.path}/cluster-iobench.data/fill-* >/dev/null 2>&1; do :; done; "
              f"mount -o remount,size=100m {small.path}")
    with program.beside([*small.prefix, "sh", "-c", shrink], "a file that fills, and the smaller file system"):
        outcome = program.run(options, path=small.path, out=out, prefix=small.prefix)
    outcome.expect(2)
    assert re.search(r"fill-000000\.0 at offset \d+: No space left on device \(ENOSPC\): --fill 99 needs more room", outcome.stderr), outcome
    assert small.names() == []
    assert outcome.result["phases"] == []


@pytest.mark.parametrize("small", [1500], indirect=True)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_it_fills_leaves_nothing(number, small, out):
    with program.start("-i 0 -+n -r 64k -s 1m --spawn 2 --fill 99".split(), path=small.path, out=out,
                       prefix=small.prefix) as running:
        running.wait_until(lambda: any("fill-" in name for name in small.names()), "a file that fills")
        running.interrupt(number)
        outcome = running.wait()
    assert outcome.code == 130, outcome
    assert outcome.result["phases"] == []
    assert small.names() == []


@pytest.mark.parametrize("small", [1500], indirect=True)
def test_workers_whose_coordinator_is_killed_while_they_fill_remove_everything(small, out):
    data = small.path / program.DATA_DIRECTORY
    both = {str(data / f"fill-00000{worker}.0") for worker in range(2)}
    with program.start("-i 0 -+n -r 64k -s 1m --spawn 2 --fill 99".split(), path=small.path, out=out,
                       prefix=small.prefix) as running:
        running.wait_until(lambda: both <= set(small.names()), "a file that each worker fills")
        running.interrupt(signal.SIGKILL)
        running.process.wait()
        deadline = time.monotonic() + program.PATIENCE_S
        while small.names() and time.monotonic() < deadline:
            time.sleep(0.05)
    assert small.names() == [], "the workers have removed what they had written"


def test_clean_removes_the_files_that_a_crash_left(small, out):
    """Everything is killed at once, as by a power cut: no process is left to remove them."""
    with program.start("-i 0 -+n -r 64k -s 1m -t 2 --fill 70 --before-phase".split() + ["touch /dev/null; sleep 1000"],
                       path=small.path, out=out, prefix=small.prefix) as running:
        running.wait_until(lambda: any("fill-" in name for name in small.names()), "a file that fills")
        running.wait_until(lambda: b"sleep" in b"".join(children(running.process.pid)), "the hook")
        os.killpg(running.process.pid, signal.SIGKILL)
    assert any(name.endswith("fill-000000.0") for name in small.names())
    small.run(program.BINARY, "clean", str(small.path))
    assert small.names() == []


def test_data_that_are_kept_lose_the_fill_and_can_be_read_from_a_full_file_system_again(small, out, tmp_path):
    program.run("-i 0 -+n -w -r 64k -s 1m -t 1 --fill 60".split(), path=small.path, out=out, prefix=small.prefix).expect(0)
    kept = small.path / "cluster-iobench.data"
    assert sorted(small.names()) == [str(kept), str(kept / "lane-000000.0"), str(kept / "manifest.json")]
    outcome = program.run("-i 1 -+n -w -r 64k -s 1m -t 1 --fill 60".split(), path=small.path, out=tmp_path / "again",
                          prefix=small.prefix).expect(0)
    assert fill_step(outcome.phases[0])["bytes"] > 140 * MIB
    assert sorted(small.names()) == [str(kept), str(kept / "lane-000000.0"), str(kept / "manifest.json")]
