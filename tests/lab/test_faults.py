"""A server that hangs or loses its power, a client that loses its network or its power: each costs what docs/faults.md says.

IOBENCH_UPDATE_GOLDEN=1 writes the table of outcomes into docs/faults.md; otherwise each test compares its row with the file.
"""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import time

import pytest

import cluster_run
from cluster_run import in_one_line
import lab as nfs_lab
import processes
from fault_table import LAB

pytestmark = pytest.mark.parametrize("version", ["4.2"], indirect=True)
PATIENCE_S = 150
# Two phases. Lanes keep a pace, so that the slow hosts of the lab keep up, and write through to the server.
PACED = ("-i", "0", "-+n", "-o", "-r", "4k", "-s", "64k", "-+O", "20", "--time", "8", "--repeat", "2", "-t", "1")
SHORT = ("--lease", "10", "--lost-after", "10", "--stall-timeout", "8")


@pytest.fixture(scope="session")
def disk_mb():
    """A disk, so that what the server has acknowledged survives a power cut."""
    return 128


@pytest.fixture
def nfs_dir(lab, version, directory_name):
    """A directory that is not removed after the test: the server may refuse to remove files that a client without network holds."""
    lab.run(nfs_lab.SERVER, ["mkdir", f"{nfs_lab.EXPORT}/{directory_name}"])
    return f"{nfs_lab.MOUNT_POINTS[version]}/{directory_name}"


@contextlib.contextmanager
def without_network(lab, client):
    tap = f"tap{lab.hosts[client].number}"
    # Off the switch. If its end of the tap went down, the host would take minutes to use it again.
    lab.run_outside(["ip", "link", "set", tap, "nomaster"])
    try:
        yield
    finally:
        lab.run_outside(["ip", "link", "set", tap, "master", "br0"])


@pytest.fixture
def cut_client(lab):
    """Boots again after the test: its connections would take minutes until they can be used again."""
    yield lab.clients[1]
    lab.power_cut(lab.clients[1])
    lab.boot(lab.clients[1])


class Run:
    """A coordinator outside the hosts and a worker on each client."""

    def __init__(self, lab, nfs_dir, out, *more):
        self.lab, self.out = lab, out
        self.start(["--path", nfs_dir, "--out", str(out), *PACED, *more])
        self.wait_for_data(nfs_dir)

    def start(self, options):
        self.coordinator, self.workers = cluster_run.start_over_grpc(self.lab, "run", options)

    def end(self, timeout=PATIENCE_S):
        ended = self.lab.finish(self.coordinator, timeout=timeout)
        return ended, json.loads((self.out / "result.json").read_text())

    def end_without_a_host(self):
        return self.end()

    def wait_for_data(self, nfs_dir):
        """Waits until the second lane has written two records."""
        exported = f"{nfs_lab.EXPORT}/{nfs_dir.rsplit('/', 1)[1]}/cluster-iobench.data"
        self.lab.run(nfs_lab.SERVER, f"until [ $(stat -c %s {exported}/lane-000001.0 2>/dev/null || echo 0) -gt 8000 ]; "
                     "do sleep 0.1; done", timeout=PATIENCE_S)
        time.sleep(1)

    def end_workers(self):
        return [self.lab.finish(worker, timeout=PATIENCE_S).returncode for worker in self.workers]


class MpiRun(Run):
    """A rank on each client; rank 0, and so the coordinator, on the first."""

    def start(self, options):
        self.coordinator, self.workers = self.lab.start_outside(cluster_run.mpi_command(self.lab, options)), []

    def wait_for_rank_0(self):
        """mpirun would wait for a missing host's daemon until TCP gives it up, by default for eight minutes."""
        deadline = time.monotonic() + PATIENCE_S
        while json.loads((self.out / "result.json").read_text())["run"]["exit_code"] is None:
            assert time.monotonic() < deadline, "rank 0 does not end"
            time.sleep(0.1)

    def end_without_a_host(self):
        self.wait_for_rank_0()
        try:
            return self.end(timeout=3)
        except nfs_lab.CommandFailed as waits:
            assert waits.code is None, waits
            ended = subprocess.CompletedProcess("mpirun", "none: mpirun waits", waits.out, waits.err)
            return ended, json.loads((self.out / "result.json").read_text())


class WaitingRun(Run):
    """Its hook waits before the first phase prepares, until the server is in the state that a test wants."""

    def wait_for_data(self, nfs_dir):
        deadline = time.monotonic() + PATIENCE_S
        while not self.hook_runs().exists():
            assert time.monotonic() < deadline, "the hook does not run"
            time.sleep(0.05)

    def hook_runs(self):
        return self.out.parent / "hook-runs"

    def start(self, options):
        wait = f"[ -e {self.hook_runs()} ] || {{ touch {self.hook_runs()}; sleep 3; }}"
        super().start([*options, "--before-phase", wait])


RUNS = {"tcp": Run, "mpi": MpiRun}


def lanes_of(phase):
    return [lane for client in phase["clients"] for worker in client["workers"] for lane in worker["lanes"]]


def check_row(fault, transport, ended, result):
    """Checks, or updates, the row of the table in the docs."""
    lost = {worker["worker"] for phase in result["phases"] for worker in lost_workers(phase)}
    whole = [phase for phase in result["phases"] if len(lanes_of(phase)) == 2 and not phase["interrupted"] and
             phase["lanes_failed"] == 0]
    LAB.check((fault, transport), ended.returncode, result["run"]["exit_code"], len(lost), len(whole))


def lost_workers(phase):
    return [worker for client in phase["clients"] for worker in client["workers"] if worker["lost"]]


def test_a_server_that_hangs_for_a_while_is_survived(lab, version, nfs_dir, tmp_path):
    run = Run(lab, nfs_dir, tmp_path / "out")
    with lab.frozen(nfs_lab.SERVER):
        time.sleep(4)
    ended, result = run.end()
    assert ended.returncode == 0, ended
    assert run.end_workers() == [0, 0]
    assert "stalled" in {mark["code"] for mark in result["phases"][0]["marks"]}
    check_row("server hangs for 4 s", "tcp", ended, result)


def test_a_server_that_hangs_while_files_are_opened_is_survived_and_said(lab, version, nfs_dir, tmp_path):
    run = WaitingRun(lab, nfs_dir, tmp_path / "out")
    with lab.frozen(nfs_lab.SERVER):
        time.sleep(15)
    ended, result = run.end()
    assert ended.returncode == 0, ended
    assert run.end_workers() == [0, 0]
    stalled = [mark["text"] for mark in result["phases"][0]["marks"] if mark["code"] == "stalled"]
    assert any("in its preparation" in text for text in stalled), result["phases"][0]["marks"]
    check_row("server hangs for 12 s while files are opened", "tcp", ended, result)


# Over NFSv4, Linux asks again until the server answers, soft or not.
def test_errors_of_a_soft_mount_are_said_to_be_that(lab, version, directory_name, tmp_path):
    lab.run(nfs_lab.SERVER, ["mkdir", f"{nfs_lab.EXPORT}/{directory_name}"])
    for client in lab.clients:
        lab.run(client, "mkdir -p /mnt/soft && mount -t nfs -o vers=3,nolock,soft,timeo=10,retrans=1,nosharecache "
                        "10.77.0.1:/mnt/export /mnt/soft")
    run = Run(lab, f"/mnt/soft/{directory_name}", tmp_path / "out")
    with lab.frozen(nfs_lab.SERVER):
        time.sleep(12)
    ended, result = run.end()
    run.end_workers()
    assert ended.returncode == 2, ended
    text, = [mark["text"] for mark in result["phases"][0]["marks"] if mark["code"] == "failed_ops"]
    assert "a mount with soft,timeo=10,retrans=1 returns this when the server does not answer in time" in text
    check_row("server hangs for 12 s, soft mounts of NFSv3", "tcp", ended, result)
    for client in lab.clients:
        lab.run(client, ["umount", "/mnt/soft"])


@pytest.mark.parametrize("transport", RUNS)
def test_a_client_without_network_for_a_while_goes_on(transport, lab, version, nfs_dir, cut_client, tmp_path):
    """With the defaults of --lost-after and --lease."""
    run = RUNS[transport](lab, nfs_dir, tmp_path / "out")
    with without_network(lab, cut_client):
        time.sleep(15)
    ended, result = run.end()
    assert ended.returncode == 0, ended
    assert set(run.end_workers()) <= {0}
    check_row("client without network for 15 s", transport, ended, result)


def test_a_server_that_hangs_for_good_ends_the_run_which_names_what_hangs(lab, version, nfs_dir, tmp_path):
    run = Run(lab, nfs_dir, tmp_path / "out", *SHORT)
    with lab.frozen(nfs_lab.SERVER):
        ended, result = run.end()
    run.end_workers()
    assert ended.returncode == result["run"]["exit_code"] == 3, ended
    lost = lost_workers(result["phases"][0])
    assert len(lost) == 2 and all(worker["bytes"] > 0 for worker in lost)
    for worker in lost:
        assert "no progress for" in worker["lost_reason"] and "lane-00000" in worker["lost_reason"], lost
    check_row("server hangs for good", "tcp", ended, result)


def test_one_ctrl_c_ends_a_run_whose_server_hangs(lab, version, nfs_dir, tmp_path):
    run = Run(lab, nfs_dir, tmp_path / "out")
    with lab.frozen(nfs_lab.SERVER):
        time.sleep(2)
        os.kill(processes.program_of(run.coordinator), signal.SIGINT)
        begin = time.monotonic()
        ended, result = run.end()
        took_s = time.monotonic() - begin
    run.end_workers()
    print(f"ended {took_s:.1f} s after Ctrl-C")
    assert ended.returncode == 130, ended
    assert result["phases"][0]["interrupted"] and len(lost_workers(result["phases"][0])) == 2
    check_row("server hangs, then Ctrl-C", "tcp", ended, result)


@pytest.mark.parametrize("transport", RUNS)
def test_a_server_that_loses_its_power_is_survived_and_the_report_names_who_stalled(transport, lab, version, nfs_dir, tmp_path):
    run = RUNS[transport](lab, nfs_dir, tmp_path / "out")
    lab.power_cut(nfs_lab.SERVER)
    lab.boot(nfs_lab.SERVER)
    ended, result = run.end()
    assert ended.returncode == 0, ended
    assert set(run.end_workers()) <= {0}
    marks = [mark for mark in result["phases"][0]["marks"] if mark["code"] == "stalled"]
    assert {mark["subject"] for mark in marks} == set(lab.clients), result["phases"][0]["marks"]
    for mark in marks:
        assert re.search(r"worker \d lane \d \(.*/lane-00000\d\.0\) completed no op for", mark["text"]), mark
    check_row("server loses power and boots", transport, ended, result)


@pytest.mark.parametrize("transport", RUNS)
def test_a_client_that_loses_its_power_costs_its_own_numbers(transport, lab, version, nfs_dir, tmp_path):
    off = lab.clients[1]
    run = RUNS[transport](lab, nfs_dir, tmp_path / "out", *SHORT)
    lab.power_cut(off)
    try:
        ended, result = run.end_without_a_host()
    finally:
        for worker in run.workers:
            processes.kill(worker)
        lab.boot(off)
    assert result["run"]["exit_code"] == 3, ended
    assert len(result["phases"]) == 2
    for phase in result["phases"]:
        (lost,) = lost_workers(phase)
        assert "has not answered" in lost["lost_reason"], lost
        (whole,) = lanes_of(phase)
        # 160 on hosts that keep up: 8 s at 20 ops per second.
        assert whole["ops"] > 30, "the other client's numbers are whole"
    check_row("client loses power", transport, ended, result)


def test_the_data_of_a_coordinator_that_is_killed_over_mpi_are_removed_by_the_janitor_of_another_host(lab, version, nfs_dir,
                                                                                                      tmp_path):
    run = MpiRun(lab, nfs_dir, tmp_path / "out", *SHORT)
    data = f"{nfs_lab.EXPORT}/{nfs_dir.rsplit('/', 1)[1]}/cluster-iobench.data"
    lab.run(lab.clients[0], "pkill -9 -x cluster-iobench")
    lab.run(nfs_lab.SERVER, f"while [ -e {data} ]; do sleep 0.1; done", timeout=PATIENCE_S)
    ended = lab.finish(run.coordinator, timeout=PATIENCE_S)
    assert ended.returncode != 0, ended
    for client in lab.clients:
        lab.run(client, "while pgrep -x 'cluster-iobench|iobench-janitor' > /dev/null; do sleep 0.1; done", timeout=PATIENCE_S)


def test_a_coordinator_whose_results_are_on_a_server_that_hangs_ends_all_the_same(lab, version, nfs_dir):
    """A process in fsync there, or that has written a file there, ends only when the server is back, even after kill -9."""
    client = lab.clients[0]
    lab.run(client, "mkdir -p /run/local")
    words = [nfs_lab.binary(), "--path", "/run/local", "--out", f"{nfs_dir}/out", "-i", "0", "-+n", "-r", "4k", "-s", "64k",
             "-t", "1", "--time", "1", "--repeat", "200"]
    coordinator = lab.start(client, f"exec {shlex.join(words)}")
    first = f"{nfs_lab.EXPORT}/{nfs_dir.rsplit('/', 1)[1]}/out/raw/phase-000.pb"
    lab.run(nfs_lab.SERVER, f"until [ -e {first} ]; do sleep 0.1; done", timeout=PATIENCE_S)
    with lab.frozen(nfs_lab.SERVER):
        waits = next(line for line in coordinator.stderr if "does not answer" in line)
        assert f"{nfs_dir}/out" in waits
        lab.run(client, "pkill -INT -x cluster-iobench")
        begin = time.monotonic()
        ended = lab.finish(coordinator, timeout=PATIENCE_S)
        print(f"{waits}ended {time.monotonic() - begin:.1f} s after Ctrl-C")
        assert ended.returncode == 130, ended
        assert "results are incomplete" in in_one_line(ended.stdout) and "write" in ended.stdout
        assert lab.run(client, "pgrep -x cluster-iobench", check=False).returncode == 1
    lab.run(client, "while pgrep -x iobench-files > /dev/null; do sleep 0.1; done", timeout=PATIENCE_S)


def test_a_rank_without_network_costs_its_own_numbers(lab, version, nfs_dir, cut_client, tmp_path):
    run = MpiRun(lab, nfs_dir, tmp_path / "out", *SHORT)
    with without_network(lab, cut_client):
        run.wait_for_rank_0()
    ended, result = run.end()
    assert ended.returncode == result["run"]["exit_code"] == 3, ended
    check_row("client without network", "mpi", ended, result)
    check_lost_alone(result)


def test_a_client_without_network_costs_its_own_numbers(lab, version, nfs_dir, cut_client, tmp_path):
    run = Run(lab, nfs_dir, tmp_path / "out", *SHORT)
    with without_network(lab, cut_client):
        ended, result = run.end()
    assert ended.returncode == result["run"]["exit_code"] == 3, ended
    check_row("client without network", "tcp", ended, result)
    check_lost_alone(result)
    # The worker that was cut off ends when its mount is back, which may take minutes: its close waits for the server.
    for worker in run.workers:
        processes.kill(worker)
    # Until the lease of the client without network expires, an NFSv4 server may keep its files: the user is then told.
    left = lab.run(nfs_lab.SERVER, f"ls -AR {nfs_lab.EXPORT}/{nfs_dir.rsplit('/', 1)[1]}").stdout
    assert "cluster-iobench" not in left or f"`cluster-iobench clean {nfs_dir}`" in in_one_line(ended.stdout, ended.stderr), (left, ended)


def check_lost_alone(result):
    for phase in result["phases"]:
        (lost,) = lost_workers(phase)
        assert "has not answered" in lost["lost_reason"]
        assert phase["bytes"] > 0, "the other client's numbers are whole"
