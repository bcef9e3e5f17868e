"""cluster-iobench over two real NFS clients, one worker with one lane on each.

What it reports against what the server, the clients, the clocks and the wire say themselves.
"""

import contextlib

import pytest

import lab as nfs_lab
from cluster_run import TRANSPORTS, over_grpc
from host_clock import HostClock

KIB, MIB = 1 << 10, 1 << 20
CLIENTS = 2
# Besides a phase's data the server sees the manifest written and read; nothing else.
SLACK_BYTES = 64 * KIB


def options(nfs_dir, text):
    return ["--path", nfs_dir, "-t", "1", *text.split()]


@pytest.fixture(params=list(TRANSPORTS))
def run(lab, tmp_path, request):
    """run(nfs_dir, "-i 0 …") → Outcome, over each transport."""
    over = TRANSPORTS[request.param]
    return lambda nfs_dir, text: over(lab, tmp_path / "out", options(nfs_dir, text))


@pytest.fixture
def grpc_run(lab, tmp_path):
    """grpc_run(nfs_dir, "-i 0 …") → Outcome; may be called repeatedly."""
    runs = []

    def start(nfs_dir, text):
        runs.append(text)
        return over_grpc(lab, tmp_path / f"out-{len(runs)}", options(nfs_dir, text))

    return start


class Counted:
    """What server and clients counted while this was open."""

    def __init__(self, lab, version):
        self._lab, self._version = lab, version

    def _read(self):
        lab, version = self._lab, self._version
        clients = {name: lab.client_counters(name, version) for name in lab.clients}
        return lab.server_counters(), clients

    def __enter__(self):
        self._before = self._read()
        return self

    def __exit__(self, *_):
        server, clients = self._read()
        self.server = server - self._before[0]
        self.clients = {name: clients[name] - self._before[1][name] for name in clients}


def test_two_clients_move_the_bytes_that_the_server_counts(lab, version, nfs_dir, run):
    with Counted(lab, version) as counted:
        outcome = run(nfs_dir, "-i 0 -i 1 -+n -c -e -r 64k -s 2m --drop-caches")

    clients = outcome.result["clients"]
    assert [client["host"] for client in clients] == lab.clients
    for client in clients:
        boot_id = lab.run(client["host"], "cat /proc/sys/kernel/random/boot_id").stdout.strip()
        assert client["boot_id"] == boot_id
        assert client["worker_count"] == 1
        assert client["targets"][0]["filesystem"] == ("nfs4" if version == "4.2" else "nfs")
    assert list(outcome.phases) == ["write", "read"]
    for phase in outcome.phases.values():
        assert phase["bytes"] == CLIENTS * 2 * MIB
        assert [client["host"] for client in phase["clients"]] == lab.clients
        assert [client["bytes"] for client in phase["clients"]] == [2 * MIB, 2 * MIB]
        assert phase["errors"] == []
    assert "unflushed" not in outcome.marks("write")
    assert "cached" not in outcome.marks("read")

    total = CLIENTS * 2 * MIB
    assert total <= counted.server.write_bytes <= total + SLACK_BYTES
    assert total <= counted.server.read_bytes <= total + SLACK_BYTES
    for client in counted.clients.values():
        assert 2 * MIB <= client.write_bytes <= 2 * MIB + SLACK_BYTES
        assert 2 * MIB <= client.read_bytes <= 2 * MIB + SLACK_BYTES
        assert client.requests["COMMIT"] >= 1
    assert lab.run(nfs_lab.SERVER, f"ls -A {exported(nfs_dir)}").stdout == "", "data removed"


def exported(nfs_dir):
    return f"{nfs_lab.EXPORT}/{nfs_dir.rsplit('/', 1)[1]}"


def test_the_report_has_each_client_s_own_nfs_counters(lab, version, nfs_dir, grpc_run):
    with Counted(lab, version) as counted:
        outcome = grpc_run(nfs_dir, "-i 0 -+n -e -x -r 64k -s 2m")
    for client in outcome.phases["write"]["clients"]:
        (nfs,) = client["host_delta"]["nfs"].values()
        mine = counted.clients[client["host"]]
        assert nfs["app_write_bytes"] == nfs["server_write_bytes"] == 2 * MIB
        assert nfs["ops"]["WRITE"]["ops"] == 2 * MIB // (64 * KIB)
        assert 0 <= mine.requests["WRITE"] - nfs["ops"]["WRITE"]["ops"] <= 2, "manifest"
        assert 1 <= nfs["ops"]["COMMIT"]["ops"] <= mine.requests["COMMIT"]


def narrowed(first, second):
    """Bounds of an offset at any time between two readings: drift between them included."""
    return min(first[0], second[0]), max(first[1], second[1])


@pytest.mark.parametrize("transport", list(TRANSPORTS))
@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_the_clock_map_agrees_with_an_independent_reading(lab, nfs_dir, tmp_path, transport):
    with contextlib.ExitStack() as stack:
        clocks = {name: stack.enter_context(HostClock(lab, name)) for name in lab.clients}
        before = {name: clock.offset_bounds_ns() for name, clock in clocks.items()}
        work = options(nfs_dir, "-i 0 -+n -e -r 64k -s 256k")
        outcome = TRANSPORTS[transport](lab, tmp_path / "out", work)
        after = {name: clock.offset_bounds_ns() for name, clock in clocks.items()}
    offsets = {name: narrowed(before[name], after[name]) for name in lab.clients}
    # The coordinator's clock: this machine's over gRPC, the first client's over MPI.
    origin = offsets[lab.clients[0]] if transport == "mpi" else (0, 0)
    for client in outcome.result["clients"]:
        low, high = offsets[client["host"]]
        low, high = low - origin[1], high - origin[0]
        own_clock = transport == "mpi" and client["host"] == lab.clients[0]
        assert client["same_clock"] == own_clock
        if own_clock:
            assert client["clock_offset_ns"] == client["clock_error_ns"] == 0
            continue
        offset, error = client["clock_offset_ns"], client["clock_error_ns"]
        assert 0 < error < 50_000_000
        assert abs(low) > 50_000_000, "clocks that hardly differ prove nothing"
        assert low - error <= offset <= high + error
        print(f"{client['host']}: offset {offset:.0f} ns +- {error}, read independently {low}…{high}")
    assert "clock_step" not in outcome.marks("write")


# Far slower than a client writes into its own memory, so that waiting for the server shows.
WIRE_BYTES_PER_S = 4_000_000


@pytest.mark.parametrize("flags", ["", "-c", "-e"])
def test_where_the_time_goes_that_the_server_needs(lab, version, nfs_dir, grpc_run, flags):
    with lab.limit_to(nfs_lab.SERVER, WIRE_BYTES_PER_S):
        phase = grpc_run(nfs_dir, f"-i 0 -+n -x -r 64k -s 2m {flags}").phases["write"]
    marks = {mark["code"] for mark in phase["marks"]}
    seconds, rate = phase["regions_s"], phase["headline"]["bytes_per_s"]
    wire_s = CLIENTS * 2 * MIB / WIRE_BYTES_PER_S

    # Whatever is timed, ops end when the bytes are in the client's memory…
    assert seconds["ops"] < wire_s / 4
    if flags == "":
        # … so without -c and -e they alone would claim more than the wire can carry.
        assert phase["headline"]["region"] == "ops"
        assert rate > 2 * WIRE_BYTES_PER_S
        assert "unflushed" in marks
    else:
        assert phase["headline"]["region"] == {"-c": "ops+close", "-e": "ops+fsync"}[flags]
        assert rate < 1.1 * WIRE_BYTES_PER_S
        assert "unflushed" not in marks
    # WRITE and COMMIT happen in fsync with -e, otherwise in close, measured in either case.
    waits, idle = ("fsync", "close") if flags == "-e" else ("close", "fsync")
    assert seconds[waits] > 0.6 * wire_s
    assert seconds[idle] < 0.1 * wire_s


def test_reads_of_what_a_client_wrote_itself_are_marked_as_cached(lab, version, nfs_dir, grpc_run):
    with Counted(lab, version) as counted:
        outcome = grpc_run(nfs_dir, "-i 0 -i 1 -+n -c -r 64k -s 1m")
    assert counted.server.read_bytes <= SLACK_BYTES
    assert "cached" in outcome.marks("read")


def test_rotated_clients_read_from_the_server_what_another_wrote(lab, version, nfs_dir, grpc_run):
    with Counted(lab, version) as counted:
        outcome = grpc_run(nfs_dir, "-i 0 -i 1 -c -r 64k -s 1m --rotate-clients")
    total = CLIENTS * MIB
    assert total <= counted.server.read_bytes <= total + SLACK_BYTES
    owners = {
        lane["lane"]: lane["file_owner"]
        for client in outcome.phases["read"]["clients"]
        for worker in client["workers"]
        for lane in worker["lanes"]
    }
    assert owners == {0: 1, 1: 0}
    assert outcome.phases["read"]["lanes_on_own_client"] == 0
    assert "cached" not in outcome.marks("read")
    assert "cached" in outcome.marks("reread"), "the same files again, now in this client's cache"


def test_a_second_run_reads_what_the_first_kept(lab, version, nfs_dir, grpc_run):
    with Counted(lab, version) as counted:
        grpc_run(nfs_dir, "-i 0 -+n -c -r 64k -s 1m -w")
    assert counted.server.write_bytes >= CLIENTS * MIB
    kept = lab.run(nfs_lab.SERVER, f"ls -A {exported(nfs_dir)}").stdout
    assert kept == "cluster-iobench.data\n"

    for client in lab.clients:
        lab.run(client, "sync; echo 3 >/proc/sys/vm/drop_caches")
    with Counted(lab, version) as counted:
        outcome = grpc_run(nfs_dir, "-i 1 -+n -r 64k -s 1m")
    assert outcome.phases["read"]["bytes"] == CLIENTS * MIB
    assert "cached" not in outcome.marks("read")
    assert CLIENTS * MIB <= counted.server.read_bytes <= CLIENTS * MIB + SLACK_BYTES
    assert counted.server.write_bytes <= SLACK_BYTES, "nothing but the manifest was written"
