"""GlusterFS on real hosts: a volume distributed over four bricks, and its client in user space on each client of the lab.

docs/validate.md describes the differences from NFS.
"""

import collections
import json

import pytest

import gluster
import lab as nfs_lab
from cluster_run import over_grpc, with_sampler
from validation import Validation, verdicts

# The hosts' clocks differ by up to a second here, because each starts at a whole second.
CLOCKS = ("--clock-difference", "3")
OF_NFS = {"nfsd-threads", "packet-loss", "slots", "one-connection", "transfer-size", "commit", "locks"}  # limits


@pytest.fixture(scope="session")
def disk_mb():
    """A disk for the bricks, which keep their files when the server loses its power."""
    return 512


@pytest.fixture(scope="module")
def volume(lab):
    made = gluster.GlusterVolume(lab)
    yield made
    made.remove()


@pytest.fixture
def shared(volume):
    """The volume mounted with default options; its bricks are empty before and after the test."""
    volume.mount_all()
    yield volume
    left = volume.names()
    if left:
        volume.clear()
    volume.unmount_all()
    assert left == []


def validation(volume, tmp_path):
    return Validation(volume.lab, volume.path, tmp_path)


def test_a_run_verifies_what_other_clients_wrote_and_says_what_it_ran_on(shared, tmp_path):
    words = "--op write --op read --op create --op stat -r 64k -s 512k -t 2 --items 20 -e --verify --rotate-clients -w"
    result = with_sampler(shared.lab, shared.path, tmp_path / "out", words)
    assert {client["host"] for client in result["clients"]} == set(shared.lab.clients)
    assert len({client["boot_id"] for client in result["clients"]}) == 2
    for client in result["clients"]:
        (target,) = client["targets"]
        assert (target["filesystem"], target["mount_source"]) == ("fuse.glusterfs", shared.source)
        assert (target["settings"]["bricks"], target["settings"]["nic"]) == (str(len(shared.bricks)), "vec0")
    phases = {phase["operation"]: phase for phase in result["phases"]}
    assert phases["read"]["verify"]["sectors"] == 4 * 1024 and phases["read"]["verify"]["mismatched"] == 0
    assert [phases[name]["ops"] for name in ("create", "stat")] == [80, 80]
    for phase in result["phases"]:
        assert (phase["failed_ops"], phase["lanes_failed"]) == ([], 0)
        # Its traffic is not NFS; the server's NFS, whose clients are idle, moves none of it.
        assert all(client["host_delta"]["nfs"] == {} for client in phase["clients"])
        assert all(server["nfsd"]["reads_per_s"] == server["nfsd"]["writes_per_s"] == 0 for server in phase["servers"])
        assert not OF_NFS & {limit["name"] for limit in phase["why"]}
        assert phase["limited_by"] == (phase["why"][0]["evidence"] if phase["why"] else "")
    for client in phases["write"]["clients"]:
        (nic,) = client["host_delta"]["nics"]
        assert nic["carries_targets"] and nic["tx_bytes"] > client["measured_bytes"] > 0
    # No counter shows where the bytes came from; but the client's network carried them, and it had none of them before.
    sources = phases["read"]["read_sources"]
    assert sources["unknown_bytes"] == sources["asked_bytes"] == 4 * (512 << 10)
    for name in ("read", "stat"):
        assert "maybe_cached" not in {mark["code"] for mark in phases[name]["marks"]}, phases[name]["marks"]
    # A directory is on all bricks, a file on one, with a link file on another if its name belongs there.
    kinds = collections.Counter(name.rsplit("/", 1)[-1].split("-")[0] for name in set(shared.names()))
    assert (kinds["lane"], kinds["tree"], kinds["item"]) == (4, 4, 80), kinds
    shared.lab.run(shared.lab.clients[0], [nfs_lab.binary(), "clean", "--force", shared.path])


def test_the_brick_that_is_throttled_is_the_slow_one_of_four(shared, tmp_path):
    def run(words, out):
        # Each read asks the brick; writes would wait in the client.
        over_grpc(shared.lab, ["--path", shared.path, "--out", str(tmp_path / out), "-I", "-r", "16k", "-s", "1m", "-t", "12", "-w",
                               *words.split()])
        return json.loads((tmp_path / out / "result.json").read_text())["phases"]

    def slow_ones(phase):
        return [target["name"] for target in phase["storage_targets"] if target["slow"]]

    reads = "--op random-read --time 12"
    written, = run("--op write", "written")
    names = {f"{nfs_lab.SERVER}:{brick}" for brick in shared.bricks}
    assert {target["name"] for target in written["storage_targets"]} == names, "24 files are on all of four bricks"
    assert sum(target["lanes"] for target in written["storage_targets"]) == 24
    assert all(target["only_lanes"] == target["lanes"] for target in written["storage_targets"])
    as_it_is, = run(reads, "clean")
    assert slow_ones(as_it_is) == [], as_it_is["storage_targets"]
    assert "slow-target" not in {limit["name"] for limit in as_it_is["why"]}
    # The many lanes of a full brick may do more together than the few of others; and what is slow with one lane may be the lane.
    slow = min((target for target in as_it_is["storage_targets"] if target["lanes"] > 1), key=lambda target: target["lanes"])["name"]
    with shared.throttled(slow.split(":", 1)[1]):
        throttled, = run(reads, "throttled")
    assert slow_ones(throttled) == [slow], throttled["storage_targets"]
    assert throttled["storage_targets"][0]["name"] == slow
    assert f"one storage target: {slow} at " in {limit["name"]: limit["evidence"] for limit in throttled["why"]}["slow-target"]
    shared.lab.run(shared.lab.clients[0], [nfs_lab.binary(), "clean", "--force", shared.path])


def test_capacity_measures_clients_and_lanes(shared, tmp_path):
    out = tmp_path / "out"
    briefly = "--time 0.5 --warmup 0.1 --repeat 2 --points 2".split()
    over_grpc(shared.lab, ["--path", shared.path, "--out", str(out), "--op", "random-read", "-I", "-r", "4k", "-s", "256k",
                           "-t", "2", *briefly], command="capacity")
    report = json.loads((out / "capacity.json").read_text())
    assert (report["client_count"], report["worker_count"]) == (2, 2)
    levels = {scaling["over"]: [level["n"] for level in scaling["levels"]] for scaling in report["scalings"]}
    assert levels["clients"] == [1, 2] and levels["lanes"][-1] == 4
    assert report["max"]["ops_per_s"] > 0
    assert not any("nfs" in limit.lower() or "slot" in limit for limit in report["max"]["limited_by"])


def test_validate_finds_what_its_caches_do_to_shared_files(shared, tmp_path):
    checks = validation(shared, tmp_path).validate("--names", "100", *CLOCKS)
    found = verdicts(checks)
    assert {name for name, verdict in found.items() if verdict == "skipped"} >= {"durability", "quota", "expected"}
    for name in ("storage", "identity", "groups", "visibility", "append", "open-unlink", "listings", "limits"):
        assert found[name] == "pass", checks[name]
    assert found["mounts"] == "pass" and f"fuse.glusterfs from {shared.source} on all" in checks["mounts"]["found"]
    assert checks["mounts"]["found"].endswith("as far as the kernel knows them")
    # A client trusts what it has read for a second. On a busy machine, this may expire before the next call of a check.
    deceived = {name: checks[name] for name in ("close-to-open", "mmap", "locks", "delegations") if found[name] == "fail"}
    assert deceived and all("performance.quick-read" in check["advice"] for check in deceived.values()), deceived
    assert all("got an exclusive lock" not in line for line in checks["locks"]["evidence"]), "locks do exclude others"
    # Distribution over bricks gives some races two winners, and in others an error that is not a loser's.
    assert found["races"] == "fail" or checks["races"]["evidence"] == []
    assert {line.split(":")[0] for line in checks["races"]["evidence"]} <= {"mkdir", "link", "remove"}, checks["races"]


def test_without_its_caches_all_but_mappings_is_right(shared, tmp_path):
    shared.unmount_all()
    shared.switch_caches("off")
    shared.mount_all(gluster.COHERENT_MOUNT)
    try:
        checks = validation(shared, tmp_path).validate("--only", "mounts,visibility,mmap,locks,delegations")
    finally:
        shared.unmount_all()
        shared.switch_caches("on")
        shared.mount_all()
    assert verdicts(checks) == {"mounts": "pass", "visibility": "pass", "mmap": "fail", "locks": "pass", "delegations": "pass"}
    assert "ENODEV" in checks["mmap"]["found"]


def test_a_volume_that_cannot_be_had_names_what_is_missing(lab, monkeypatch):
    monkeypatch.setitem(gluster.NEEDED_COMMANDS, "no-such-command", "no-such-package")
    with pytest.raises(nfs_lab.LabError, match="apt-get install no-such-package"):
        gluster.GlusterVolume(lab, "another")


# This test is the last, because the server loses its power.
def test_a_power_cut_of_its_only_server_fails_writes_and_loses_locks_but_nothing_that_fsync_acknowledged(shared, tmp_path):
    def cut_power():
        shared.lab.power_cut(nfs_lab.SERVER)
        shared.lab.boot(nfs_lab.SERVER)
        gluster.serve(shared.lab)
        shared.await_bricks()
    checks = validation(shared, tmp_path).validate("--only", "durability,failover,lock-reclaim", fault=cut_power)
    found = verdicts(checks)
    # What only close() has acknowledged is lost, unless the server has written it by then of its own accord.
    assert found == {"durability": found["durability"], "failover": "fail", "lock-reclaim": "fail"}
    assert found["durability"] == "pass" or "close() does not make data durable here" in checks["durability"]["found"]
    assert all("ENOTCONN" in line for line in checks["failover"]["evidence"])
    assert "replicate over servers" in checks["failover"]["advice"]
    assert "in memory only" in checks["lock-reclaim"]["advice"]
