"""Maps, streams, vectors and locks reach a real NFS server from two clients, and locks of one make the other wait."""

import re
import threading
import time

import pytest

import lab as nfs_lab
from cluster_run import PATIENCE_S, Cluster, on_time

KIB, MIB = 1 << 10, 1 << 20
CLIENTS, RECORDS = 2, 32
SLACK_BYTES = 64 * KIB
SMALL = "-r 4k -s 128k -+n"


@pytest.fixture
def cluster(lab, version, nfs_dir, tmp_path):
    return Cluster(lab, version, nfs_dir, tmp_path)


@pytest.mark.parametrize("what, phases", [
    ("--engine mmap -i 0 -i 1", ["write", "read"]),
    ("-i 6 -i 7", ["fwrite", "fread"]),
    ("-i 11 -i 12", ["pwritev", "preadv"]),
    ("--op putc --op getc", ["putc", "getc"]),
])
def test_every_engine_s_bytes_reach_the_server_and_come_from_it(cluster, what, phases):
    outcome = cluster.run(f"{what} -+n -c -e -r 64k -s 2m --drop-caches")
    assert list(outcome.phases) == phases
    for phase in outcome.phases.values():
        assert phase["errors"] == [] and phase["bytes"] == CLIENTS * 2 * MIB
    assert "unflushed" not in outcome.marks(phases[0])
    assert "cached" not in outcome.marks(phases[1])
    total = CLIENTS * 2 * MIB
    assert total <= outcome.server.write_bytes <= total + SLACK_BYTES
    # The first touch of a mapped page reads it, even if it is then written in full: a map's writes read as much again.
    # The exception is the last page under NFSv3, which cannot allocate: there, writing its last byte grows the file.
    # The kernel may also read pages again that it has just dropped or found changed; no other engine gives it the chance.
    read, again = (2 * total - CLIENTS * 4 * KIB, total // 4) if "mmap" in what else (total, 0)
    assert read <= outcome.server.read_bytes <= read + again + SLACK_BYTES


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_locks_of_files_and_of_records_are_asked_of_the_server_and_given_back(cluster):
    lab = cluster.lab
    cluster.run(f"-i 0 -w -c -e {SMALL}")
    # A server that has just started grants no locks for a while, and its clients keep asking.
    lab.run(lab.clients[0], f"flock {cluster.nfs_dir}/cluster-iobench.data/lane-000000.0 true")
    # Writers only: a reader with a delegation locks locally, without the server.
    for options, locks in (("--op rewrite -w -W", 1), ("--op random-write -w -+l", RECORDS),
                           ("--engine mmap --op rewrite -+l", RECORDS)):
        outcome = cluster.run(f"{options} {SMALL}")
        for counted in outcome.clients.values():
            # Some requests are repeated while a delegation is being returned.
            assert locks <= counted.requests["LOCK"] <= locks + 8, options
            assert locks <= counted.requests["LOCKU"] <= counted.requests["LOCK"], options
    assert lab.run(nfs_lab.SERVER, "grep -c POSIX /proc/locks", check=False).stdout.strip() == "0"


def lock_calls(lab, client):
    """LOCK calls that the client has made since its file systems were mounted."""
    mountstats = lab.run(client, "cat /proc/self/mountstats").stdout
    return sum(int(calls) for calls in re.findall(r"^\s*LOCK: (\d+)", mountstats, re.MULTILINE))


def run_while_the_other_client_holds_a_lock(cluster, options):
    """Runs with lane 0's file locked by the second client, which releases it 1.5 s after the first has asked for the lock."""
    lab = cluster.lab
    first, second = lab.clients
    held_file = f"{cluster.nfs_dir}/cluster-iobench.data/lane-000000.0"
    holder = lab.start(second, f"flock -x {held_file} sh -c 'echo held; read line'")
    assert holder.stdout.readline().strip() == "held"
    lock_calls_before = lock_calls(lab, first)

    def release():
        deadline = time.monotonic() + PATIENCE_S
        while lock_calls(lab, first) == lock_calls_before and time.monotonic() < deadline:
            time.sleep(0.2)
        time.sleep(1.5)
        lab.finish(holder)                    # its input ends, which releases the lock

    releaser = threading.Thread(target=release)
    releaser.start()
    try:
        return cluster.run_once(options)
    finally:
        releaser.join()


# Client 2 holds the lock that a lane of client 1 wants, through another mount of the same export. The lane goes on once the
# lock is released; it waits in the op that locks its record (-+l), or before the first op (-W).
@pytest.mark.parametrize("version", ["4.2"], indirect=True)  # the lab's NFSv3 mounts have no lock daemon
@pytest.mark.parametrize("option, waits_in_op", [("-+l", True), ("-W", False)])
def test_a_lock_that_another_client_holds_is_waited_for(cluster, option, waits_in_op):
    cluster.run(f"-i 0 -w -c -e {SMALL}")
    outcome = on_time(lambda: run_while_the_other_client_holds_a_lock(cluster, f"-i 10 -w {option} -x {SMALL}"))
    phase = outcome.phases["pread"]
    assert phase["errors"] == [] and phase["bytes"] == CLIENTS * 128 * KIB
    longest_us = phase["latency_us"]["max"]
    assert (longest_us > 1_000_000) == waits_in_op, f"{longest_us} us"
