"""A real remote shell starts workers on real NFS clients, and -U remounts between phases."""

import json

import pytest

import lab as nfs_lab
from cluster_run import MAX_RUNS, in_one_line

KIB, MIB = 1 << 10, 1 << 20
PATIENCE_S = 150
SLACK_BYTES = 64 * KIB
REMOTE_SHELL = f"ssh -F {nfs_lab.SCRATCH}/ssh_config"


class Listed:
    """Runs with -+m, coordinated from outside, with `workers_per_client` workers on each client."""

    def __init__(self, lab, version, nfs_dir, scratch):
        self.lab, self.version, self.nfs_dir = lab, version, nfs_dir
        self.mount_point = nfs_lab.MOUNT_POINTS[version]
        self.file, self.out, self.count = scratch / "clients", scratch, 0

    def list(self, workers_per_client=1, directory=None):
        words = f"{directory or self.nfs_dir} {nfs_lab.binary()}"
        lines = [f"{client} {words}" for client in self.lab.clients for _ in range(workers_per_client)]
        self.file.write_text("\n".join(lines) + "\n")

    def run(self, text, check=True):
        """Runs with the options in `text`. The program repeats a start that came too late, which makes exact counts
        meaningless: such a run is repeated, as in cluster_run.py."""
        for _ in range(MAX_RUNS):
            self.result = None
            done = self._run_once(text, check)
            if not self.result or all(phase["start"]["attempts"] == 1 for phase in self.result["phases"]):
                return done
        raise nfs_lab.LabError(f"{MAX_RUNS} runs, and none of them started all phases in time")

    def _run_once(self, text, check):
        self.count += 1
        out = self.out / f"out-{self.count}"
        saved = [] if "-+t" in text.split() else ["--out", str(out)]  # the network test saves nothing
        place = ["-+m", str(self.file), "-+h", nfs_lab.OUTSIDE, "--insecure", *saved]
        before = self.lab.server_counters()
        done = self.lab.run_outside([nfs_lab.binary(), "run", *place, *text.split()], timeout=PATIENCE_S,
                                    check=check, env={"RSH": REMOTE_SHELL})
        self.server = self.lab.server_counters() - before
        if (out / "result.json").exists():
            self.result = json.loads((out / "result.json").read_text())
            self.phases = {phase["name"]: phase for phase in self.result["phases"]}
        return done


@pytest.fixture
def listed(lab, version, nfs_dir, tmp_path):
    return Listed(lab, version, nfs_dir, tmp_path)


def test_a_remote_shell_starts_a_worker_for_each_line(listed):
    listed.list(workers_per_client=2)
    listed.run("-i 0 -i 1 -+n -c -e -r 64k -s 1m")
    run = listed.result["run"]
    assert (run["worker_count"], run["lane_count"]) == (4, 4)
    assert [client["host"] for client in listed.result["clients"]] == listed.lab.clients
    assert [client["worker_count"] for client in listed.result["clients"]] == [2, 2]
    assert [target["path"] for target in run["plan"]["targets"]] == [listed.nfs_dir]
    assert listed.phases["write"]["bytes"] == 4 * MIB
    assert 4 * MIB <= listed.server.write_bytes <= 4 * MIB + SLACK_BYTES
    for client in listed.lab.clients:
        left = listed.lab.run(client, "pgrep -f 'worker --[j]oin'", check=False).stdout
        assert left == "", "a worker outlives its run"


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_client_without_the_directory_is_named(listed):
    listed.list(directory="/nonexistent/dir")
    done = listed.run("-i 0 -r 64k -s 1m", check=False)
    assert done.returncode == 3, "no worker has joined"
    assert "client client-1" in done.stderr and "/nonexistent/dir" in done.stderr, done.stderr


def test_what_is_read_after_a_remount_comes_from_the_server(listed):
    """Without a remount, a reread costs nothing: see test_reads_from_a_client_s_own_cache_are_marked."""
    listed.list(workers_per_client=2)
    listed.run(f"-i 0 -i 1 -c -e -x -r 64k -s 512k -U {listed.mount_point}")
    total = 4 * 512 * KIB
    assert list(listed.phases) == ["write", "rewrite", "read", "reread"]
    for name in ("read", "reread"):
        assert "cached" not in {mark["code"] for mark in listed.phases[name]["marks"]}
    assert 2 * total <= listed.server.read_bytes <= 2 * total + SLACK_BYTES
    assert 2 * total <= listed.server.write_bytes <= 2 * total + SLACK_BYTES
    for phase in listed.result["phases"]:
        (remount,) = (step for step in phase["steps"] if step["name"] == "remount")
        assert listed.mount_point in remount["outcome"] and "10.77.0.1:/" in remount["outcome"]
        assert remount["seconds"] > 0
    for client in listed.lab.clients:  # mounted as before
        mounts = listed.lab.run(client, f"grep ' {listed.mount_point} ' /proc/self/mountinfo").stdout
        assert len(mounts.splitlines()) == 1 and f"vers={listed.version}" in mounts


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_data_that_a_remounted_phase_needs_are_written_before(listed):
    listed.list()
    listed.run(f"-i 1 -+n -r 64k -s 512k -U {listed.mount_point}")
    total = 2 * 512 * KIB
    assert total <= listed.server.read_bytes <= total + SLACK_BYTES
    steps = {step["name"]: step for step in listed.phases["read"]["steps"]}
    assert steps["prefill"]["bytes"] == total, "the first prepare's work is in the report"
    assert listed.phases["read"]["bytes"] == total


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_verified_data_and_names_stand_a_remount(listed):
    """Every kind of file is closed when the mount goes, and found again when it is back."""
    listed.list()
    listed.run(f"-i 0 -i 2 --verify -x -r 64k -s 512k -U {listed.mount_point}")
    assert list(listed.phases) == ["write", "rewrite", "random-read", "random-write"]
    assert listed.phases["random-read"]["verify"]["sectors"] == 2 * 512 * KIB // 512
    assert listed.phases["random-read"]["verify"]["mismatched"] == 0
    listed.run(f"--op create --op stat --op unlink --items 40 -U {listed.mount_point}")
    for name in ("create", "stat", "unlink"):
        assert listed.phases[name]["ops"] == 2 * 40
        assert "remount" in {step["name"] for step in listed.phases[name]["steps"]}


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_mount_in_use_is_told_with_its_user(listed):
    lab, client = listed.lab, listed.lab.clients[1]
    listed.list()
    user = lab.start(client, f"cd {listed.nfs_dir} && exec sleep 600")
    try:
        done = listed.run(f"-i 0 -+n -r 64k -s 64k -U {listed.mount_point}", check=False)
    finally:
        lab.run(client, "pkill -x sleep")
        lab.finish(user)
    assert done.returncode == 2
    assert client in done.stderr and "still in use" in in_one_line(done.stderr)
    assert "(sleep): its working directory" in in_one_line(done.stderr)
    assert lab.run(client, f"ls {listed.nfs_dir}").returncode == 0, "left mounted"


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_directory_is_no_mount_point(listed):
    listed.list()
    done = listed.run(f"-i 0 -+n -r 64k -s 64k -U {listed.nfs_dir}", check=False)
    assert done.returncode == 1 and "nothing is mounted there" in in_one_line(done.stderr), done.stderr


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_the_network_test_sees_what_the_wire_can_do(listed):
    """Only one client's receiving side is made slow."""
    lab, slow = listed.lab, listed.lab.clients[0]
    listed.list(workers_per_client=2)
    with lab.limit_to(slow, 2 * MIB):
        done = listed.run("-+t --time 2")
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines()[2:]}
    assert set(rows) == {*lab.clients, "all"}
    backs = {}
    for client in lab.clients:
        to, backs[client], median, p99, all_to, all_from = map(float, rows[client][1:7])
        assert 0 < median <= p99 and rows[client][7] == nfs_lab.OUTSIDE
        if client == slow:
            assert 1 < backs[slow] < 2.2 and 1 < all_from < 2.2, done.stdout
            assert to > 1.5 * backs[slow], done.stdout
        assert all_to > 0
    assert backs[lab.clients[1]] > 1.5 * backs[slow], done.stdout
    assert lab.run(lab.clients[0], f"ls -A {listed.nfs_dir}").stdout == "", "no file is touched"
