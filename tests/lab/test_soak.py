"""A soak on two real NFS clients, whose server hangs for some seconds: each client reports how long, and nothing is lost."""

import time

import pytest

import lab as nfs_lab
from cluster_run import in_one_line
from soak_run import Soak

FROZEN_S = 4
SOFT = "/run/soft"  # on each client


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_server_that_stands_still_is_survived_and_each_client_says_when_and_for_how_long(lab, version, nfs_dir, tmp_path):
    run = Soak(lab, nfs_dir, tmp_path / "out", "12s")
    run.wait_for_phase(3)
    time.sleep(1.5)  # in the middle of the write, which lasts for 3 s
    with lab.frozen(nfs_lab.SERVER):
        time.sleep(FROZEN_S)
    ended, soak = run.end()
    assert ended.returncode == 0, ended
    assert soak["complete_rounds"] >= 2
    loss = soak["loss"]
    assert loss["verified_sectors"] > 0 and loss["undetermined"] == 0
    assert loss["lost"] == loss["stale"] == loss["torn"] == loss["wrong"] == loss["short_reads"] == 0
    assert {client["host"] for client in soak["clients"]} == set(lab.clients)
    # A lane may have stalled in any part of a phase, and retried a little later.
    for client in soak["clients"]:
        assert client["stalls"] >= 1 and client["stalled_s"] >= FROZEN_S - 1, soak["clients"]
        assert client["longest"]["seconds"] >= FROZEN_S - 1 and client["longest"]["at"].startswith("20"), client
        assert client["failed_ops"] == [] and client["phases_failed"] == client["phases_lost"] == 0
    frozen = [round_ for round_ in soak["rounds"] if round_["longest_pause_s"] >= FROZEN_S - 1]
    assert frozen and frozen[0]["longest_pause_client"] in lab.clients
    assert "longest pause" in in_one_line(ended.stdout)


@pytest.fixture
def soft_dir(lab, directory_name):
    """A directory of the export, on a soft mount of each client."""
    lab.run(nfs_lab.SERVER, ["mkdir", f"{nfs_lab.EXPORT}/{directory_name}"])
    for client in lab.clients:
        lab.run(client, f"mkdir -p {SOFT} && mount -t nfs -o vers=3,nolock,soft,timeo=5,retrans=1 "
                f"10.77.0.1:{nfs_lab.EXPORT}/{directory_name} {SOFT}")
    yield SOFT
    for client in lab.clients:
        lab.run(client, ["umount", "-l", SOFT])
    lab.run(nfs_lab.SERVER, ["rm", "-rf", f"{nfs_lab.EXPORT}/{directory_name}"])


def test_on_soft_mounts_ops_that_fail_are_counted_by_errno_and_the_soak_goes_on(lab, soft_dir, tmp_path):
    # O_DIRECT: the op itself sees the error, not a later flush.
    run = Soak(lab, soft_dir, tmp_path / "out", "28s", "-I")
    run.wait_for_phase(3)
    time.sleep(1)
    with lab.frozen(nfs_lab.SERVER):
        time.sleep(6)
    ended, soak = run.end()
    assert ended.returncode == 2, ended
    assert soak["complete_rounds"] >= 2
    for client in soak["clients"]:
        assert client["failed_ops"] and all(row["error"] in ("EIO", "ETIMEDOUT") for row in client["failed_ops"]), client
    # The result of failed writes is unknown until those records are written again; nothing else is wrong.
    loss = soak["loss"]
    assert loss["lost"] == loss["stale"] == loss["torn"] == loss["wrong"] == 0, loss
    assert soak["rounds"][-1]["failed_ops"] == 0, "the last round is clean again"
