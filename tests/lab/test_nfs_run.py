"""The report of runs over two real NFS clients agrees with what the server, clients, clocks and wire say themselves."""

import contextlib
import functools
import itertools
import time

import pytest

import lab as nfs_lab
from cluster_run import PATIENCE_S, TRANSPORTS, Cluster, Outcome, in_one_line, on_time, start_over_grpc
from host_clock import HostClock
from slow_disk import mounted

KIB, MIB = 1 << 10, 1 << 20
CLIENTS = 2
# Besides a phase's data the server sees the manifest, and before the run a check file of a few bytes, written and read.
SLACK_BYTES = 64 * KIB


@pytest.fixture
def cluster(lab, version, nfs_dir, tmp_path):
    return Cluster(lab, version, nfs_dir, tmp_path)


@pytest.mark.parametrize("transport", list(TRANSPORTS))
def test_two_clients_move_the_bytes_that_the_server_counts(cluster, transport):
    lab = cluster.lab
    outcome = cluster.run("-i 0 -i 1 -+n -c -e -r 64k -s 2m --drop-caches", transport)

    assert outcome.result["run"]["transport"] == transport
    clients = outcome.result["clients"]
    assert [client["host"] for client in clients] == lab.clients
    for client in clients:
        boot_id = lab.run(client["host"], "cat /proc/sys/kernel/random/boot_id").stdout.strip()
        assert client["boot_id"] == boot_id
        assert client["worker_count"] == 1
        kind = "nfs4" if cluster.version == "4.2" else "nfs"
        assert client["targets"][0]["filesystem"] == kind
    assert list(outcome.phases) == ["write", "read"]
    for phase in outcome.phases.values():
        assert phase["bytes"] == CLIENTS * 2 * MIB
        assert [client["host"] for client in phase["clients"]] == lab.clients
        assert [client["bytes"] for client in phase["clients"]] == [2 * MIB, 2 * MIB]
        assert phase["errors"] == []
    assert "unflushed" not in outcome.marks("write")
    assert "cached" not in outcome.marks("read")

    total = CLIENTS * 2 * MIB
    assert total <= outcome.server.write_bytes <= total + SLACK_BYTES
    assert total <= outcome.server.read_bytes <= total + SLACK_BYTES
    for counted in outcome.clients.values():
        assert 2 * MIB <= counted.write_bytes <= 2 * MIB + SLACK_BYTES
        assert 2 * MIB <= counted.read_bytes <= 2 * MIB + SLACK_BYTES
        assert counted.requests["COMMIT"] >= 1
    commits = outcome.phases["write"]["nfs_rpc"]["kinds"]["COMMIT"]["rpcs"]
    assert f"COMMIT by the kernel: {commits} request" in in_one_line(outcome.printed), "beside the fsync that waited for them"
    assert cluster.files() == [], "the data are removed"


# Counters are read a millisecond before the start, and later on a busy host: lanes at this pace have then done an op or two.
PACE = "-+O 100"


def nearly(count):
    return range(count - 2, count + 1)


def test_the_report_has_each_client_s_own_nfs_counters(cluster):
    outcome = cluster.run(f"-i 0 -+n -e -x -r 64k -s 2m {PACE}")
    assert len(outcome.phases["write"]["clients"]) == 2
    for client in outcome.phases["write"]["clients"]:
        (nfs,) = client["host_delta"]["nfs"].values()
        counted = outcome.clients[client["host"]]
        # The flush comes after the last op, so that what the server gets is counted exactly.
        assert nfs["app_write_bytes"] // (64 * KIB) in nearly(32) and nfs["server_write_bytes"] == 2 * MIB
        assert nfs["ops"]["WRITE"]["ops"] == 2 * MIB // (64 * KIB)
        assert 0 <= counted.requests["WRITE"] - nfs["ops"]["WRITE"]["ops"] <= 3, "manifest and check file"
        assert 1 <= nfs["ops"]["COMMIT"]["ops"] <= counted.requests["COMMIT"]
        rpc = client["nfs_rpc"]
        for kind in ("WRITE", "COMMIT"):
            assert rpc["kinds"][kind]["rpcs"] == nfs["ops"][kind]["ops"]
        assert rpc["all_rpcs"] == sum(op["ops"] for op in nfs["ops"].values())
        assert rpc["app_ops"] == 2 * MIB // (64 * KIB)
        assert rpc["kinds"]["WRITE"]["rpcs_per_op"] == rpc["write_bytes_per_rpc"] / (64 * KIB) == 1
        assert rpc["wsize_bytes"] >= 64 * KIB
        # The interface that leads to the server carried the data, and the report identifies it.
        (carrier,) = [nic for nic in client["host_delta"]["nics"] if nic["carries_targets"]]
        assert 2 * MIB <= carrier["tx_bytes"] <= 3 * MIB, client["host_delta"]["nics"]


def mountstats_numbers(text, mount_point, key):
    """The numbers of every line that begins with `key`, of one mount in /proc/self/mountstats."""
    (section,) = [part for part in text.split("device ") if f" mounted on {mount_point} " in part]
    lines = [line.split() for line in section.splitlines()]
    return [[int(word) for word in line if word.isdigit()] for line in lines if line[:1] == [key]]


def test_requests_and_connections_are_those_that_the_clients_and_the_server_count(cluster):
    lab = cluster.lab
    mount_point = nfs_lab.MOUNT_POINTS[cluster.version]

    def sends():
        texts = {name: lab.run(name, "cat /proc/self/mountstats").stdout for name in lab.clients}
        return {name: [numbers[5] for numbers in mountstats_numbers(text, mount_point, "xprt:")] for name, text in texts.items()}

    before = sends()
    outcome = cluster.run("-i 0 -i 1 -+n -e -c -x -r 64k -s 4m --cold")
    after = sends()
    for name in lab.clients:
        counted = outcome.clients[name].requests
        (write,) = [client for client in outcome.phases["write"]["clients"] if client["host"] == name]
        (read,) = [client for client in outcome.phases["read"]["clients"] if client["host"] == name]
        # Between the phases, each request for the manifest counts once.
        for client, kind in ((write, "WRITE"), (read, "READ")):
            assert 0 <= counted[kind] - client["nfs_rpc"]["kinds"][kind]["rpcs"] <= 4
            assert client["nfs_rpc"]["connections"] == len(after[name])
        in_phases = write["nfs_rpc"]["sends"] + read["nfs_rpc"]["sends"]
        assert write["nfs_rpc"]["all_rpcs"] <= write["nfs_rpc"]["sends"] + 2
        assert 0 < in_phases <= sum(after[name]) - sum(before[name])
    for phase, kind in (("write", "WRITE"), ("read", "READ")):
        in_phase = outcome.phases[phase]["nfs_rpc"]["kinds"][kind]["rpcs"]
        assert 0 <= outcome.server.requests[kind] - in_phase <= 4 * CLIENTS
    assert outcome.phases["write"]["nfs_rpc"]["reconnects"] == 0
    printed = in_one_line(outcome.printed)
    assert " per op " in printed and "per WRITE (wsize" in printed and "in flight" in printed

    cold, sources = outcome.phases["read"]["cold"], outcome.phases["read"]["read_sources"]
    assert cold["verified"], cold
    assert cold["server"].startswith("unknown")
    assert sources["asked_bytes"] == CLIENTS * 4 * MIB
    assert sources["server_bytes"] + sources["cache_bytes"] == sources["asked_bytes"]
    assert sources["server_bytes"] >= 0.95 * sources["asked_bytes"]
    assert 0 < sources["files_to_memory"] < 0.1
    assert "not_cold" not in outcome.marks("read")
    assert "server cache: unknown" in printed


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_client_with_other_settings_is_found(cluster):
    lab = cluster.lab
    odd = lab.clients[1]
    mount_point = nfs_lab.MOUNT_POINTS[cluster.version]
    bdi = lab.run(odd, f"cat /sys/class/bdi/$(mountpoint -d {mount_point})/read_ahead_kb").stdout.strip()
    lab.run(odd, f"echo 64 >/sys/class/bdi/$(mountpoint -d {mount_point})/read_ahead_kb")
    try:
        outcome = cluster.run("-i 0 -+n -c -r 64k -s 1% --eat-memory 10")
    finally:
        lab.run(odd, f"echo {bdi} >/sys/class/bdi/$(mountpoint -d {mount_point})/read_ahead_kb")
    targets = {client["host"]: client["targets"][0]["settings"] for client in outcome.result["clients"]}
    assert targets[odd]["read_ahead_kb"] == "64"
    assert targets[lab.clients[0]]["read_ahead_kb"] == bdi != "64"
    assert targets[odd]["nic_mtu"] == lab.run(odd, f"cat /sys/class/net/{targets[odd]['nic']}/mtu").stdout.strip()
    for client in outcome.result["clients"]:
        slots = lab.run(client["host"], "cat /proc/sys/sunrpc/tcp_slot_table_entries").stdout.strip()
        assert client["settings"]["sunrpc.tcp_slot_table_entries"] == slots
    (difference,) = [each for each in outcome.result["differences"] if each["what"].endswith(": read_ahead_kb")]
    assert (difference["value"], difference["clients"], difference["usual"]) == ("64", [odd], bdi)
    assert f"read_ahead_kb is 64 on {odd}" in in_one_line(outcome.printed)

    memory = min(client["memory_bytes"] for client in outcome.result["clients"])
    files = outcome.result["run"]["plan"]["files"]
    assert files["memory_percent"] == 1
    assert 0 <= files["bytes_per_lane"] - memory // 100 <= 64 * KIB
    (step,) = [step for step in outcome.phases["write"]["steps"] if step["name"] == "eat-memory"]
    assert step["outcome"].startswith("locked "), step


@pytest.mark.parametrize("allow, remounts, cold", [("remount", 2, True), ("log-files", 0, False), ("drop-caches,remount", 0, True)],
                         ids=["remount", "neither", "both"])
@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_cold_remounts_where_names_cannot_be_dropped_and_the_worker_may(cluster, allow, remounts, cold, monkeypatch):
    monkeypatch.setitem(TRANSPORTS, "grpc", functools.partial(TRANSPORTS["grpc"], allow=allow))
    lab, mount_point = cluster.lab, nfs_lab.MOUNT_POINTS[cluster.version]
    time.sleep(1)  # ages are in whole seconds
    begin = time.monotonic()
    outcome = cluster.run("--op create --op stat --items 200 --cold")
    stat = outcome.phases["stat"]
    steps = [step for step in stat["steps"] if step["name"] == "cold-remount"]
    assert len(steps) == (1 if remounts else 0), stat["steps"]
    texts = {name: lab.run(name, "cat /proc/self/mountstats").stdout for name in lab.clients}
    ages_s = {name: mountstats_numbers(text, mount_point, "age:")[0][0] for name, text in texts.items()}
    assert len([name for name, age_s in ages_s.items() if age_s < time.monotonic() - begin]) == remounts, ages_s
    if remounts:
        assert "names cannot be dropped without it" in steps[0]["outcome"]
        assert stat["cold"]["clients"].endswith(", after a remount on 2 clients")
    assert ("not_cold" not in outcome.marks("stat")) == stat["cold"]["verified"] == cold, stat["cold"]


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_clients_of_one_file_system_fill_it_once_and_empty_it_again(cluster):
    lab = cluster.lab

    def df():
        total, free, available = (4096 * int(word) for word in lab.run(nfs_lab.SERVER, f"stat -f -c '%b %f %a' {nfs_lab.EXPORT}").stdout.split())
        return total, total - free, available

    total, used_before, available = df()
    percent = round(100 * used_before / (used_before + available)) + 15
    missing = (used_before + available) * percent / 100 - used_before
    outcome = cluster.run(f"-i 0 -+n -c -r 64k -s 1m --fill {percent}")
    write = outcome.phases["write"]
    (step,) = [step for step in write["steps"] if step["name"] == "fill"]
    assert 0 <= step["bytes"] - missing < MIB and step["seconds"] > 0
    assert step["outcome"].startswith(f"{percent} % of ")
    (fullness,) = write["fullness"]
    assert fullness["filesystem_count"] == 1 and fullness["total_bytes"] == total
    assert percent - 0.5 < fullness["percent"] < percent + 3  # a client sees whole blocks of 1 MiB
    # Both clients wrote the fill data, and the server stored them all, once.
    for client in lab.clients:
        assert outcome.clients[client].requests["WRITE"] > 5
    _, used_after, _ = df()
    assert abs(used_after - used_before) < MIB


def bounds_throughout(first, second):
    """Bounds of an offset at any time between two readings, including drift."""
    return min(first[0], second[0]), max(first[1], second[1])


@pytest.mark.parametrize("transport", list(TRANSPORTS))
@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_the_clock_map_agrees_with_an_independent_reading(cluster, transport):
    lab = cluster.lab
    with contextlib.ExitStack() as stack:
        clocks = {name: stack.enter_context(HostClock(lab, name)) for name in lab.clients}
        before = {name: clock.offset_bounds_ns() for name, clock in clocks.items()}
        outcome = cluster.run("-i 0 -+n -e -r 64k -s 256k", transport)
        after = {name: clock.offset_bounds_ns() for name, clock in clocks.items()}
    offsets = {name: bounds_throughout(before[name], after[name]) for name in lab.clients}
    # The coordinator's clock: this machine's over gRPC, the first client's over MPI.
    origin = offsets[lab.clients[0]] if transport == "mpi" else (0, 0)
    for client in outcome.result["clients"]:
        offset, error = client["clock_offset_ns"], client["clock_error_ns"]
        own_clock = transport == "mpi" and client["host"] == lab.clients[0]
        assert client["same_clock"] == own_clock
        if own_clock:
            assert offset == error == 0
            continue
        low, high = offsets[client["host"]]
        low, high = low - origin[1], high - origin[0]
        print(f"{client['host']}: {offset:.0f} ns +- {error:.0f}, independently {low}…{high}")
        assert 0 < error < 50_000_000
        assert abs(low) > 50_000_000, "clocks that hardly differ prove nothing"
        assert low - error <= offset <= high + error
    assert "clock_step" not in outcome.marks("write")


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_mounts_that_share_the_kernel_s_counters_are_counted_once(lab, version, nfs_dir, directory_name, tmp_path):
    """Two mounts of one file system with the same options, of different directories: one set of counters, shown twice."""
    below = f"{directory_name}-below"
    lab.run(nfs_lab.SERVER, ["mkdir", f"{nfs_lab.EXPORT}/{below}"])
    with mounted(lab, "vers=4.2", below, "/run/below") as place:
        options = ["-i", "0", "-+n", "-I", "-r", "64k", "-s", "1m", *PACE.split(), "--path", nfs_dir, "--path", place]
        numbers = itertools.count()

        def run_once():
            out = tmp_path / f"out-{next(numbers)}"
            coordinator, workers = start_over_grpc(lab, "run", [*options, "--out", str(out)], workers_per_client=2)
            for process in (coordinator, *workers):
                lab.finish(process, timeout=PATIENCE_S, check=True)
            return Outcome(out, server=None, clients={})

        phase = on_time(run_once).phases["write"]
    writes = []
    for client in phase["clients"]:
        assert len(client["host_delta"]["nfs"]) == 2, "both mounts were in use, and both have counters"
        writes.append(client["nfs_rpc"]["kinds"]["WRITE"]["rpcs"])
        assert 2 * MIB // (64 * KIB) - 4 <= writes[-1] <= 2 * MIB // (64 * KIB), "up to two ops of each worker came before"
    assert phase["nfs_rpc"]["kinds"]["WRITE"]["rpcs"] == sum(writes)


# Far slower than a client writes into its own memory, so that the wait for the server shows.
WIRE_BYTES_PER_S = 4_000_000


@pytest.mark.parametrize("flags", ["", "-c", "-e"])
def test_where_the_time_goes_that_the_server_needs(cluster, flags):
    with cluster.lab.limit_to(nfs_lab.SERVER, WIRE_BYTES_PER_S):
        outcome = cluster.run(f"-i 0 -+n -x -r 64k -s 2m {flags}")
    phase, marks = outcome.phases["write"], outcome.marks("write")
    seconds, headline = phase["regions_s"], phase["headline"]
    wire_s = CLIENTS * 2 * MIB / WIRE_BYTES_PER_S

    # Whatever is timed, ops end once the bytes are in the client's memory…
    assert seconds["ops"] < wire_s / 2
    if flags == "":
        # … so without -c and -e they alone would claim more than the wire can carry.
        assert headline["region"] == "ops"
        assert headline["bytes_per_s"] > 1.5 * WIRE_BYTES_PER_S
        assert "unflushed" in marks
    else:
        assert headline["region"] == {"-c": "ops+close", "-e": "ops+fsync"}[flags]
        assert headline["bytes_per_s"] < 1.1 * WIRE_BYTES_PER_S
        assert "unflushed" not in marks
    # All this time, requests waited in the client's queue or for the reply.
    rpc, counted = phase["nfs_rpc"], outcome.clients.values()
    sent = sum(client.requests[kind] for client in counted for kind in ("READ", "WRITE", "COMMIT"))
    assert sent - 4 * CLIENTS <= rpc["rpcs"] <= sent, "but for the manifest's"
    assert rpc["retransmissions"] == 0
    waited_s = rpc["rpcs"] * (rpc["queue_ms"] + rpc["round_trip_ms"]) / 1000
    assert waited_s > 0.6 * wire_s
    assert f"{rpc['rpcs']:,} RPCs (READ, WRITE, COMMIT)" in outcome.printed
    # WRITE and COMMIT happen in fsync with -e, otherwise in close, measured in either case.
    waits, idle = ("fsync", "close") if flags == "-e" else ("close", "fsync")
    assert seconds[waits] > 0.6 * wire_s
    # `idle` calls the server too (CLOSE, GETATTR), and waits behind data that the other client has queued.
    assert seconds[idle] < 0.4 * wire_s


def test_reads_from_a_client_s_own_cache_are_marked(cluster):
    outcome = cluster.run("-i 0 -i 1 -c -x -r 64k -s 1m")
    served_bytes = 0
    for name in ("read", "reread"):
        phase = outcome.phases[name]
        marked = {mark["subject"] for mark in phase["marks"] if mark["code"] == "cached"}
        for client in phase["clients"]:
            (nfs,) = client["host_delta"]["nfs"].values()
            # Whether a client trusts its cache after its own writes is for its kernel to decide.
            assert (client["host"] in marked) == (nfs["server_read_bytes"] < 0.95 * MIB)
            sources = client["read_sources"]
            assert sources["server_bytes"] == min(MIB, nfs["server_read_bytes"])
            assert sources["cache_bytes"] == MIB - sources["server_bytes"]
            served_bytes += nfs["server_read_bytes"]
        if name == "reread":
            assert marked == set(cluster.lab.clients)
    assert 0 <= outcome.server.read_bytes - served_bytes <= SLACK_BYTES
    assert outcome.server.read_bytes <= CLIENTS * MIB + SLACK_BYTES, "reread costs nothing"


def test_rotated_clients_read_from_the_server_what_another_wrote(cluster):
    outcome = cluster.run("-i 0 -i 1 -c -r 64k -s 1m --rotate-clients")
    total = CLIENTS * MIB
    assert total <= outcome.server.read_bytes <= total + SLACK_BYTES
    read = outcome.phases["read"]
    lanes = [lane for client in read["clients"] for lane in client["workers"][0]["lanes"]]
    assert {lane["lane"]: lane["file_owner"] for lane in lanes} == {0: 1, 1: 0}
    assert read["lanes_on_own_client"] == 0
    assert "cached" not in outcome.marks("read")
    assert "cached" in outcome.marks("reread"), "the same files again, now in this client's cache"


@pytest.mark.parametrize("engine", ["posix", "mmap"])
def test_rotated_clients_read_from_the_server_what_another_prepared(cluster, engine):
    # Large enough that the few requests that a busy client sends before its counters are read are less than 5 % of it.
    outcome = cluster.run(f"-i 1 -r 64k -s 8m --rotate-clients --engine {engine}")
    total = CLIENTS * 8 * MIB
    again = total // 8 if engine == "mmap" else 0  # pages that the kernel has dropped before the map was read
    assert total <= outcome.server.read_bytes <= total + again + SLACK_BYTES
    read = outcome.phases["read"]
    lanes = [lane for client in read["clients"] for lane in client["workers"][0]["lanes"]]
    assert {lane["lane"]: lane["file_owner"] for lane in lanes} == {0: 1, 1: 0}
    prepared = [step["bytes"] for step in read["steps"] if step["name"] == "prefill"]
    assert sum(prepared) == total
    assert "cached" not in outcome.marks("read")
    # The same files again, now from this client's cache; this includes reads through maps, which no client counts.
    assert "cached" in outcome.marks("reread")


def test_a_second_run_reads_what_the_first_kept(cluster):
    first = cluster.run("-i 0 -+n -c -r 64k -s 1m -w")
    assert first.server.write_bytes >= CLIENTS * MIB
    assert cluster.files() == ["cluster-iobench.data"]

    second = cluster.run("-i 1 -+n -r 64k -s 1m -w", cold=True)
    assert second.phases["read"]["bytes"] == CLIENTS * MIB
    assert "cached" not in second.marks("read")
    assert CLIENTS * MIB <= second.server.read_bytes <= CLIENTS * MIB + SLACK_BYTES
    assert second.server.write_bytes <= SLACK_BYTES, "nothing but the manifest was written"

    cluster.run("-i 1 -+n -r 64k -s 1m")
    assert cluster.files() == [], "a run without -w removes them in the end"
