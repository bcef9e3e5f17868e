"""A soak whose server loses its power and boots: the data that it acknowledged must be there, and if not, the soak says so."""

import pytest

import lab as nfs_lab
from cluster_run import in_one_line
from soak_run import Soak

pytestmark = pytest.mark.parametrize("version", ["4.2"], indirect=True)


@pytest.fixture(scope="session")
def disk_mb():
    """As in test_faults.py, whose lab this shares: files on the server's disk survive a power cut."""
    return 128


def power_cycle(lab):
    lab.power_cut(nfs_lab.SERVER)
    lab.boot(nfs_lab.SERVER)


def test_a_failover_in_the_middle_of_a_write_costs_time_and_no_data(lab, version, nfs_dir, tmp_path):
    run = Soak(lab, nfs_dir, tmp_path / "out", "15s")
    run.wait_for_phase(3)
    power_cycle(lab)
    ended, soak = run.end()
    assert ended.returncode == 0, ended
    loss = soak["loss"]
    assert loss["verified_sectors"] > 0
    assert loss["lost"] == loss["stale"] == loss["torn"] == loss["wrong"] == loss["short_reads"] == 0, loss
    for client in soak["clients"]:
        assert client["stalls"] >= 1 and client["failed_ops"] == [], client
    assert max(round_["longest_pause_s"] for round_ in soak["rounds"]) > 1


def test_an_async_export_loses_acknowledged_data_and_the_soak_finds_it(lab, version, nfs_dir, tmp_path):
    export = f"fsid=0,insecure,no_root_squash,no_subtree_check,rw 10.77.0.0/24:{nfs_lab.EXPORT}"
    lab.run(nfs_lab.SERVER, f"exportfs -o async,{export}")
    try:
        # Overwrites keep the files, so that only data are lost; the last read finds the older data of the disk.
        run = Soak(lab, nfs_dir, tmp_path / "out", "25s", "--op", "read,random-write,reread")
        run.wait_for_phase(1)
        lab.run(nfs_lab.SERVER, "sync")  # two phases before the second round's writes, so that none of these is on the disk
        run.wait_for_phase(4)
        power_cycle(lab)
    finally:
        lab.run(nfs_lab.SERVER, f"exportfs -o sync,{export}")
    ended, soak = run.end()
    assert ended.returncode == 2, ended
    loss = soak["loss"]
    assert loss["stale"] + loss["lost"] > 0, loss
    assert "data loss" in in_one_line(ended.stdout) and "none in the data" not in in_one_line(ended.stdout)
