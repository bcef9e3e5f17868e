"""--engine libnfs on two clients sends the kernel's NFS server one call per op, past the clients' own kernels."""

import pytest

import lab as nfs_lab
from cluster_run import Cluster

KIB, MIB = 1 << 10, 1 << 20
CLIENTS = 2
# No stonewall: it would end lanes early, which would then open and finish their files outside the clock.
ONE_RECORD = "--engine libnfs -+n -x -r 64k -s 64k"
MANY_RECORDS = "--engine libnfs -+n -x -r 64k -s 2m"
RECORDS = 32
# The numbers in the manifest, which both runs write and read, differ in length.
SLACK_BYTES = 256


@pytest.fixture
def cluster(lab, directory_name, tmp_path):
    """A Cluster whose directory is a URL; the server's portmapper gives the ports."""
    name = directory_name
    lab.run(nfs_lab.SERVER, ["mkdir", f"{nfs_lab.EXPORT}/{name}"])
    address = lab.hosts[nfs_lab.SERVER].address
    yield Cluster(lab, "3", f"nfs://{address}{nfs_lab.EXPORT}/{name}", tmp_path)
    lab.run(nfs_lab.SERVER, ["rm", "-rf", f"{nfs_lab.EXPORT}/{name}"])


def between(cluster, first, second):
    """How much more the server counted in the second run than in the first; the manifest and the like are in both."""
    before = cluster.run(first)
    after = cluster.run(second)
    for outcome in (before, after):
        for phase in outcome.phases.values():
            assert phase["engine"] == "libnfs" and phase["errors"] == []
        for counted in outcome.clients.values():
            assert counted.requests["WRITE"] == counted.requests["READ"] == 0, "nothing went by the kernel's client"
    return after, after.server - before.server


@pytest.mark.parametrize("depth", [1, 16])
def test_each_op_is_one_call_of_the_server_s_own_count(cluster, depth):
    more = CLIENTS * (RECORDS - 1)
    flags = f"-i 0 -i 1 -i 2 -c -e --depth {depth}"
    outcome, difference = between(cluster, f"{ONE_RECORD} {flags}", f"{MANY_RECORDS} {flags}")
    writes, reads = ("write", "random-write"), ("read", "random-read")
    assert sorted(outcome.phases) == sorted(writes + reads)
    for phase in outcome.phases.values():
        assert phase["ops"] == CLIENTS * RECORDS and phase["bytes"] == CLIENTS * 2 * MIB
    assert difference.requests["WRITE"] == len(writes) * more
    assert difference.requests["READ"] == len(reads) * more
    assert abs(difference.write_bytes - len(writes) * more * 64 * KIB) < SLACK_BYTES
    assert abs(difference.read_bytes - len(reads) * more * 64 * KIB) < SLACK_BYTES
    assert difference.requests["COMMIT"] == 0, "one of each file and phase, however many records"


@pytest.mark.parametrize("flags", ["-e", "-c", "-c -e", ""])
def test_a_phase_of_writes_ends_with_one_commit_of_each_file(cluster, flags):
    """The COMMIT is in the fsync with -e, otherwise in the close, whether the close is timed or not."""
    one = f"{MANY_RECORDS} -i 0 {flags}"
    outcome, difference = between(cluster, one, f"{one} --files-per-lane 4")
    assert outcome.phases["write"]["bytes"] == CLIENTS * 2 * MIB
    assert difference.requests["WRITE"] == 0
    assert difference.requests["COMMIT"] == CLIENTS * 3
    seconds = outcome.phases["write"]["regions_s"]
    waits, idle = ("fsync", "close") if "-e" in flags else ("close", "fsync")
    assert seconds[idle] < seconds[waits]


@pytest.mark.parametrize("sync", ["-o", "-+D"])
def test_synchronous_writes_are_followed_by_no_commit(cluster, sync):
    one = f"{MANY_RECORDS} -i 0 -c -e"
    _, difference = between(cluster, f"{one} {sync}", one)
    assert difference.requests["WRITE"] == 0
    assert difference.requests["COMMIT"] == CLIENTS


def test_a_record_longer_than_a_call_is_several(cluster):
    """1 MiB at most: the first and the second half of it, or whatever this server takes."""
    outcome, difference = between(cluster, "--engine libnfs -+n -x -i 0 -i 1 -r 4m -s 4m",
                                  "--engine libnfs -+n -x -i 0 -i 1 -r 4m -s 12m --verify")
    (options,) = {client["targets"][0]["mount_options"] for client in outcome.result["clients"]}
    sizes = dict(option.split("=") for option in options.split(",") if "=" in option)
    assert outcome.phases["write"]["ops"] == outcome.phases["read"]["ops"] == CLIENTS * 3
    assert difference.requests["WRITE"] == CLIENTS * 8 * MIB // int(sizes["wsize"])
    assert difference.requests["READ"] == CLIENTS * 8 * MIB // int(sizes["rsize"])


def test_what_one_client_wrote_the_other_reads_and_verifies(cluster):
    outcome = cluster.run(f"{MANY_RECORDS} -i 0 -i 1 -c --verify --rotate-clients --depth 8")
    verified = outcome.phases["read"]["verify"]
    assert verified["sectors"] == CLIENTS * 2 * MIB // 512 and verified["mismatched"] == 0
    assert cluster.files() == [], "the data are removed"
