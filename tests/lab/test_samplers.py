"""A sampler on a real NFS server agrees with the server's own counters and with what the clients moved."""

import json

import pytest

import cluster_run
import lab as nfs_lab
from cluster_run import with_sampler
from slow_disk import mounted, slow_disk

MIB = 1 << 20
CLIENTS = 2
DISK_MS = 10


def run_with_sampler(lab, nfs_dir, out, words):
    """Runs with a sampler on the server. Returns the result, and its phases by name."""
    result = with_sampler(lab, nfs_dir, out, words)
    return result, {phase["name"]: phase for phase in result["phases"]}


def threads_of(lab):
    return int(lab.run(nfs_lab.SERVER, "cat /proc/fs/nfsd/threads").stdout)


def moved(rate, server):
    return rate * server["sampled_s"]


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_the_server_s_network_nfsd_and_processors_are_those_of_the_phase(lab, version, nfs_dir, tmp_path):
    result, phases = run_with_sampler(lab, nfs_dir, tmp_path / "out",
                                      "-i 0 -i 1 -+n -c -e -x -r 64k -s 48m --drop-caches")
    (facts,) = result["run"]["servers"]
    assert facts["host"] == nfs_lab.SERVER
    nfs = facts["nfs"]
    assert "4.2" in nfs["versions"] and "3" in nfs["versions"] and nfs["threads"] == threads_of(lab)
    assert nfs["lease_s"] == int(lab.run(nfs_lab.SERVER, "cat /proc/fs/nfsd/nfsv4leasetime").stdout)
    (export,) = [export for export in nfs["exports"] if export["path"] == nfs_lab.EXPORT]
    kernels = lab.run(nfs_lab.SERVER, "findmnt -n -o FSTYPE,SOURCE -T /mnt/export").stdout.split()
    assert export["filesystem"] == kernels[0] and export["clients"] == "10.77.0.0/24" and "rw" in export["options"]
    for client in phases["write"]["clients"]:
        transport = client["transport"]
        # Each sends 48 MiB, in segments of at most 64 KiB and, without segmentation by the card, of 1448 bytes.
        assert transport["of_servers"] and 48 * 16 <= transport["sent_segments"], transport
        assert transport["retransmitted_share"] < 0.01 and transport["smallest_path_mtu"] == 1500, transport
    total = CLIENTS * 48 * MIB
    for name, data, wire in [("write", "write_bytes_per_s", "receive_bytes_per_s"),
                             ("read", "read_bytes_per_s", "send_bytes_per_s")]:
        (server,) = phases[name]["servers"]
        assert server["problem"] == "" and server["interval_count"] >= 2, server
        # An interval that begins before the phase counts by its share inside: with few intervals, some bytes are lost.
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


def test_layers_below_the_clients_agree_with_the_server_s_own_counters(lab, tmp_path):
    file_mib = 2
    with slow_disk(lab, DISK_MS, visible=True) as directory, mounted(lab, "vers=4.2", directory, "/run/layers") as place:
        own = f"{nfs_lab.EXPORT}/{directory}"
        result = with_sampler(lab, place, tmp_path / "out", f"-i 0 -i 1 -+n -I -x -r 64k -s {file_mib}m --drop-caches",
                              server_path=own)
        assert lab.run(nfs_lab.SERVER, f"ls -A {own}").stdout.split() == ["lost+found"]
    phases = {phase["name"]: phase for phase in result["phases"]}
    assert list(phases) == ["write", "read", "write on the server", "read on the server"]
    total = CLIENTS * file_mib * MIB
    for phase in phases.values():
        assert phase["bytes"] == total and phase["lane_count"] == CLIENTS
    passed_disk = {}
    for name, phase in phases.items():
        (server,) = phase["servers"]
        passed_disk[name] = sum(moved(disk[f"{name.split()[0]}_bytes_per_s"], server) for disk in server["disks"])
    # All data and the journal, which gets a commit for each write of a client unless two of them share one; an interval
    # at the start of the phase counts by its share inside.
    for name, most in [("write", 3), ("write on the server", 1.6), ("read on the server", 1.6)]:
        assert 0.9 * total <= passed_disk[name] <= most * total, (name, passed_disk)
        assert phases[name]["servers"][0]["disks"][0]["busy"] > 0.2, name  # it waits for hosts that share few processors
    # The sampler has dropped what the server had of the clients' data in its memory.
    assert passed_disk["read"] >= 0.9 * total
    write, read = result["layers"]
    for entry in (write, read):
        disk, network, clients = entry["rows"]
        assert disk["rate"] == phases[entry["phase"] + " on the server"]["headline"]["bytes_per_s"]
        assert clients["rate"] == phases[entry["phase"]]["headline"]["bytes_per_s"]
        assert clients["problem"] == ""
        assert network["rate"] is None and "no driver tells" in network["remark"]
    # NFS commits its writes, with the journal; the server by itself does not.
    for entry in (write, read):
        disk, _, clients = entry["rows"]
        assert disk["problem"] == "" and disk["reached"] == pytest.approx(clients["rate"] / disk["rate"]), entry
        # For its clients the server reads ahead, in larger requests than its own direct reads; the disk takes as long for each.
        assert 0.02 < disk["reached"] < 10 and entry["narrowest"] == ("disk" if disk["reached"] >= 0.8 else "clients"), entry
    # The clients' data went over NFS, and none of the server's own.
    (clients_server,), (own_server,) = phases["write"]["servers"], phases["write on the server"]["servers"]
    assert moved(clients_server["nfsd"]["write_bytes_per_s"], clients_server) > 0.9 * total
    assert moved(own_server["nfsd"]["write_bytes_per_s"], own_server) < total / 100


def test_a_warm_server_is_not_cold_unless_its_sampler_may_drop_its_caches(lab, tmp_path):
    total = CLIENTS * 2 * MIB
    words = "-i 0 -i 1 -+n -c -e -x -r 64k -s 2m --cold"
    reads = {}
    with slow_disk(lab, DISK_MS, visible=True) as directory, mounted(lab, "vers=4.2", directory, "/run/cold") as place:
        for name, rights in (("warm", ""), ("dropped", "--allow drop-caches")):
            result = with_sampler(lab, place, tmp_path / name, words, rights=rights)
            reads[name] = next(phase for phase in result["phases"] if phase["name"] == "read")
    for read in reads.values():
        sources = read["read_sources"]
        assert sources["server_bytes"] >= 0.95 * total and not read["cold"]["clients"].startswith("not"), read["cold"]
        assert sources["server_memory_bytes"] + sources["server_disk_bytes"] == sources["server_bytes"]
    marks = {name: {mark["code"] for mark in read["marks"]} for name, read in reads.items()}
    warm, dropped = reads["warm"], reads["dropped"]
    assert warm["read_sources"]["server_disk_bytes"] < total / 10 and "server_cached" in marks["warm"], warm["read_sources"]
    assert not warm["cold"]["verified"] and "without --allow drop-caches" in warm["cold"]["server"], warm["cold"]
    assert dropped["read_sources"]["server_disk_bytes"] >= 0.95 * total, dropped["read_sources"]
    assert "server_cached" not in marks["dropped"] and dropped["cold"]["verified"], dropped["cold"]
    assert "drop-server-caches" in {step["name"] for step in dropped["steps"]}


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_validation_records_both_ends(lab, version, nfs_dir, tmp_path):
    report = tmp_path / "report.json"
    coordinator, workers = cluster_run.start_over_grpc(
        lab, "validate", ["--samplers", "1", "--path", nfs_dir, "--only", "mounts,network", "--format", "json", "--output",
                          str(report)], f"--root {nfs_dir}")
    join = f"exec {nfs_lab.binary()} worker --join {nfs_lab.OUTSIDE}:{cluster_run.PORT} --insecure --join-timeout 60 --sampler"
    sampler = lab.start(nfs_lab.SERVER, join)
    lab.finish(coordinator, timeout=cluster_run.PATIENCE_S, check=True)
    for helper in (*workers, sampler):
        lab.finish(helper)
    said = json.loads(report.read_text())
    (server,) = said["servers"]
    assert server["nfs"]["threads"] == threads_of(lab) and "4.2" in server["nfs"]["versions"]
    assert [export["path"] for export in server["nfs"]["exports"]] == [nfs_lab.EXPORT]
    for client in said["clients"]:
        assert client["mtu"] == 1500 and client["nic"] == "vec0" and client["mount_point"] == nfs_lab.MOUNT_POINTS["4.2"]
        # 4 MiB in segments of at most 64 KiB.
        assert client["transport"]["of_servers"] and client["transport"]["sent_segments"] >= 64, client
        assert client["transport"]["smallest_path_mtu"] == 1500, client
