"""A sampler on a real NFS server agrees with the server's own counters and with what the clients moved."""

import pytest

import lab as nfs_lab
from cluster_run import with_sampler

MIB = 1 << 20
CLIENTS = 2


def run_with_sampler(lab, nfs_dir, out, words):
    """Returns the result, and its phases by name."""
    result = with_sampler(lab, nfs_dir, out, words)
    return result, {phase["name"]: phase for phase in result["phases"]}


def moved(rate, server):
    return rate * server["sampled_s"]


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_the_server_s_network_nfsd_and_processors_are_those_of_the_phase(lab, version, nfs_dir, tmp_path):
    result, phases = run_with_sampler(lab, nfs_dir, tmp_path / "out",
                                      "-i 0 -i 1 -+n -c -e -x -r 64k -s 48m --drop-caches")
    (facts,) = result["run"]["servers"]
    assert facts["host"] == nfs_lab.SERVER
    total = CLIENTS * 48 * MIB
    for name, data, wire in [("write", "write_bytes_per_s", "receive_bytes_per_s"),
                             ("read", "read_bytes_per_s", "send_bytes_per_s")]:
        (server,) = phases[name]["servers"]
        assert server["problem"] == "" and server["interval_count"] >= 2, server
        # An interval that begins before the phase counts by its part inside: a phase of few intervals loses some bytes.
        lost = total * 2 / server["interval_count"]
        assert total - lost <= moved(server["nfsd"][data], server) <= total + MIB, (name, server)
        carried = max(moved(nic[wire], server) for nic in server["nics"])
        assert total - lost <= carried <= 1.5 * total, (name, server)
        assert 0 < server["cpu_busy"] <= 1
        assert server["nfsd"]["threads"] >= 1 and server["nfsd"]["busy_threads_max"] <= server["nfsd"]["threads"]
    (write,), (read,) = phases["write"]["servers"], phases["read"]["servers"]
    assert write["nfsd"]["commits_per_s"] * write["sampled_s"] > 0.5 and write["nfsd"]["writes_per_s"] > 0
    assert read["nfsd"]["reads_per_s"] > 0 and moved(read["nfsd"]["write_bytes_per_s"], read) < total / 10


@pytest.mark.parametrize("version", ["3"], indirect=True)
def test_nfsd_s_counts_of_version_3_are_found(lab, version, nfs_dir, tmp_path):
    _, phases = run_with_sampler(lab, nfs_dir, tmp_path / "out", "-i 0 -+n -c -e -x -r 64k -s 8m")
    (server,) = phases["write"]["servers"]
    assert server["nfsd"]["writes_per_s"] > 0 and server["nfsd"]["rpcs_per_s"] >= server["nfsd"]["writes_per_s"]
