"""The report of writes over two real NFS clients agrees with the server's own counters."""

import pytest

from cluster_run import Cluster

KIB, MIB = 1 << 10, 1 << 20
CLIENTS = 2
SLACK_BYTES = 64 * KIB


@pytest.fixture
def cluster(lab, version, nfs_dir, tmp_path):
    return Cluster(lab, version, nfs_dir, tmp_path)


@pytest.mark.parametrize("flags", ["-c -e", "-c"])
def test_passes_that_are_flushed_reach_the_server(cluster, flags):
    outcome = cluster.run(f"-i 0 -+n -r 64k -s 256k --time 2 {flags}")
    phase = outcome.phases["write"]
    assert phase["bytes"] > CLIENTS * 256 * KIB, "nothing went round"
    assert phase["bytes"] <= outcome.server.write_bytes <= phase["bytes"] + SLACK_BYTES
    assert phase["reached_bytes"] == phase["written_bytes"] == phase["bytes"]
    assert not outcome.marks("write") & {"absorbed", "unflushed"}
    assert phase["stonewall"]["kind"] == "flushed"


def test_what_stayed_on_the_clients_is_said_per_client(cluster):
    outcome = cluster.run("-i 0 -+n -r 64k -s 256k --time 1")
    phase = outcome.phases["write"]
    assert outcome.server.write_bytes < 0.5 * phase["bytes"]
    assert "unflushed" in outcome.marks("write")
    for client in phase["clients"]:
        # The last flush pass follows after the clock has stopped.
        counted = outcome.clients[client["host"]].write_bytes
        assert client["reached_bytes"] <= counted <= client["reached_bytes"] + 256 * KIB + SLACK_BYTES
        assert client["written_bytes"] == client["bytes"]


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_records_that_are_written_over_before_the_flush_are_marked_on_each_client(cluster):
    outcome = cluster.run("--op record-rewrite -r 64k -s 1m -e -x")
    phase = outcome.phases["record-rewrite"]
    assert {mark["subject"] for mark in phase["marks"] if mark["code"] == "absorbed"} == set(cluster.lab.clients)
    assert phase["written_bytes"] == CLIENTS * MIB
    assert phase["reached_bytes"] < 0.5 * phase["written_bytes"]


@pytest.mark.parametrize("flags", ["", "-I", "--engine mmap", "-+V"])
def test_writes_that_arrived_have_no_mark(cluster, flags):
    outcome = cluster.run(f"-i 0 -i 2 -r 16k -s 256k -c {flags}", lanes=2)
    for name in ("write", "rewrite", "random-write"):
        phase = outcome.phases[name]
        assert not outcome.marks(name) & {"absorbed", "unflushed"}, name
        assert flags or "reached_bytes" in phase, "plain writes have the server's counts"
        if "reached_bytes" in phase:
            assert phase["reached_bytes"] == phase["written_bytes"] > 0


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_close_over_nfs_is_a_flush_by_the_mount_s_own_counts(cluster):
    # Without a stonewall, no lane ends early. The pace leaves a busy host time to read its counters before the close.
    outcome = cluster.run("-i 0 -+n -r 64k -s 1m -c -x -+O 100")
    assert "unflushed" not in outcome.marks("write")
    for client in outcome.phases["write"]["clients"]:
        (nfs,) = client["host_delta"]["nfs"].values()  # read when the last file was closed
        assert nfs["server_write_bytes"] == MIB
        assert nfs["ops"]["COMMIT"]["ops"] >= 1
    assert outcome.server.requests["COMMIT"] >= CLIENTS
