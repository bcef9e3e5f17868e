"""`explain` names what really sets the pace: each test creates a limit, which the same plan without it must not name."""

import itertools

import pytest

import lab as nfs_lab
import limits
import reruns
from cluster_run import with_sampler
from limit_makers import DISK_MS, LINK_BYTES_PER_S, MANY_THREADS, SLOW_LINK_BYTES_PER_S, busy_processor, few_slots, nfsd_threads
from slow_disk import mounted, slow_disk

HERE = "/run/explain"  # on each client, where a test mounts
BUSY_DISK_MS = 30  # the longer, the less the pauses of a busy machine between requests matter
MAX_BUSY_RUNS = 3  # on a busy machine, the lab's hosts have no idle processor either

DIRECT = "-i 0 -+n -I -r 16k -s 256k --time 2 -t 4"
WRITE_AND_READ = "-i 0 -i 1 -+n -I -r 16k -s 256k --time 2"
SYNC = "-i 0 -+n -o -r 16k -s 64k --time 2 -t 4"


class Explained:
    """Runs plans and keeps what `explain` says of their phases."""

    def __init__(self, lab, out_dir):
        self.lab, self._out_dir, self._numbers = lab, out_dir, itertools.count(1)

    def phases(self, path, words, **more):
        """Runs and returns the phases by name, each as in result.json; `limits` are the names of its limits."""
        result = with_sampler(self.lab, path, self._out_dir / f"out-{next(self._numbers)}", words, **more)
        for phase in result["phases"]:
            phase["limits"] = [limit["name"] for limit in phase["why"]]
            said = [limit["evidence"] for limit in phase["why"]]
            assert phase["limited_by"] == (said[0] if said else "")
            print(f"{words}: {phase['name']}: {phase['limits']}: {' | '.join(said) or 'unknown'}")
        return {phase["name"]: phase for phase in result["phases"]}

    def phase(self, path, words, **more):
        """Runs a plan with a single phase and returns that phase."""
        (phase,) = self.phases(path, words, **more).values()
        return phase


@pytest.fixture(scope="module")
def explained(lab, tmp_path_factory):
    return Explained(lab, tmp_path_factory.mktemp("explain"))


@pytest.fixture(scope="module")
def fast_dir(lab):
    """A directory on the server's tmpfs."""
    lab.run(nfs_lab.SERVER, f"mkdir -p {nfs_lab.EXPORT}/fast")
    return f"{nfs_lab.MOUNT_POINTS['4.2']}/fast"


@pytest.fixture(scope="module")
@reruns.measures
def unlimited(explained, fast_dir):
    """The phase of DIRECT with nothing to slow it down."""
    return explained.phase(fast_dir, DIRECT)


@pytest.fixture(scope="module")
def slow_storage(lab):
    """Storage that answers late but has room: it takes all requests, and no counter of the server shows that it is slow."""
    with slow_disk(lab, DISK_MS, visible=False) as directory, nfsd_threads(lab, MANY_THREADS):
        yield directory


@pytest.fixture
def slow_dir(lab, slow_storage):
    with mounted(lab, "vers=4.2", slow_storage, HERE) as place:
        yield place


@pytest.fixture(scope="module")
@reruns.measures
def sync_writes(lab, explained, slow_storage):
    """The phase of SYNC, limited only by each write's wait for the storage."""
    with mounted(lab, "vers=4.2", slow_storage, HERE) as place:
        return explained.phase(place, SYNC)


# The network


def test_a_full_link_to_the_server(lab, explained, fast_dir, unlimited):
    with lab.limit_to(nfs_lab.SERVER, LINK_BYTES_PER_S):
        direct = explained.phase(fast_dir, DIRECT)
        buffered = explained.phase(fast_dir, "-i 0 -+n -c -e -r 64k -s 512k -t 4")
        unwatched = explained.phase(fast_dir, DIRECT, samplers=0)
        one_lane = explained.phase(fast_dir, "-i 0 -+n -I -r 256k -s 1m --time 2 -t 1", clients=lab.clients[:1])
    assert direct["limits"][0] == "network", direct["why"]
    assert buffered["limits"][0] == "network", buffered["why"]
    # Without the server's own counters, a slow server would look the same.
    assert unwatched["why"] == [] and unwatched["limited_by"] == ""
    assert "lanes" not in one_lane["limits"], "more lanes would find the link as full"
    assert "network" not in unlimited["limits"], unlimited["why"]


def test_a_full_link_to_a_client(lab, explained, fast_dir):
    """Data that are read pass through it. Written data go the other way, where nothing limits the same lanes."""
    client = lab.clients[0]
    with lab.limit_to(client, LINK_BYTES_PER_S):
        phases = explained.phases(fast_dir, f"{WRITE_AND_READ} -t 4", clients=[client])
    assert phases["read"]["limits"][0] == "network", phases["read"]["why"]
    assert "network" not in phases["write"]["limits"], phases["write"]["why"]


def test_one_client_with_a_slow_link(lab, explained, fast_dir):
    """If both clients' links are equally slow, there is no slow client."""
    client, other = lab.clients
    with lab.limit_to(client, SLOW_LINK_BYTES_PER_S):
        for _ in range(MAX_BUSY_RUNS):
            slow = explained.phases(fast_dir, f"{WRITE_AND_READ} -t 1")["read"]
            if slow["why"]:
                break
        with lab.limit_to(other, SLOW_LINK_BYTES_PER_S):
            both = explained.phases(fast_dir, f"{WRITE_AND_READ} -t 1")["read"]
    assert slow["limits"][0] == "slow-client", slow["why"]
    assert client in slow["limited_by"]
    assert "slow-client" not in both["limits"], both["why"]


# Clients


def test_a_busy_processor(lab, explained, fast_dir):
    client, plan = lab.clients[0], "-i 0 -i 1 -+n -I -r 64k -s 1m --time 2 -t 1"
    with busy_processor(lab, client):
        busy = explained.phases(fast_dir, plan, clients=[client])
    for name in ("read", "write"):
        # The others are to blame only if the lane waited for the processor, which the kernel gives it first when it wakes.
        figures = busy[name]["clients"][0]
        waited = figures.get("lanes_run_delay_s", float("inf")) / figures["lanes_wall_s"]
        assert ("client-cpu" in busy[name]["limits"]) == (waited >= 0.1), (waited, busy[name]["why"])
        assert "lanes" not in busy[name]["limits"], busy[name]["why"]
    for _ in range(MAX_BUSY_RUNS):
        idle = explained.phases(fast_dir, plan, clients=[client])["read"]
        if idle["clients"][0]["cpu_percent"] < 90:
            break
    assert "client-cpu" not in idle["limits"], idle["why"]


def test_one_lane_whoever_uses_its_processor(lab, explained, slow_dir):
    """Its op waits for the server, which has room. For a limit with many lanes, see test_one_nfsd_thread."""
    client, plan = lab.clients[0], "--op create --items 16 -t 1"
    idle = explained.phase(slow_dir, plan, clients=[client])
    with busy_processor(lab, client):
        busy = explained.phase(slow_dir, plan, clients=[client])
    assert "lanes" in idle["limits"] and set(idle["limits"]) <= {"lanes", "server-delay"}, idle["why"]
    assert "client-cpu" not in busy["limits"], busy["why"]


def test_reads_from_the_clients_memory(explained, fast_dir):
    """Reads large records, since the pauses of a busy machine fall between records."""
    for _ in range(MAX_BUSY_RUNS):
        phases = explained.phases(fast_dir, "-i 0 -i 1 -+n -o -r 4m -s 8m --time 2 -t 1")
        if all(client["own_cpu_percent"] > 90 for client in phases["read"]["clients"]):
            break
    assert phases["read"]["limits"][0] == "memory-copy", phases["read"]["why"]
    # Each write is sent as 64 requests at once, which queue even if the network is no limit.
    assert not {"memory-copy", "network"} & set(phases["write"]["limits"]), phases["write"]["why"]


# NFS


@pytest.mark.parametrize("version, options", [("4.2", "vers=4.2"), ("3", "vers=3,nolock")])
def test_few_slots(lab, explained, slow_storage, sync_writes, version, options):
    with few_slots(lab, version):
        with mounted(lab, options, slow_storage, HERE) as place:
            phase = explained.phase(place, SYNC)
    assert phase["limits"][0] == "slots", phase["why"]
    assert "slots" not in sync_writes["limits"], sync_writes["why"]


def test_small_requests(lab, explained, fast_dir):
    """They also keep the server's processor busy, so that either may be the limit."""
    plan, phases = "-i 0 -+n -I -r 64k -s 1m --time 2 -t 1", {}
    for wsize in (4096, 65536):
        with mounted(lab, f"vers=4.2,wsize={wsize}", "fast", HERE) as place:
            phases[wsize] = explained.phase(place, plan)
    assert "transfer-size" in phases[4096]["limits"], phases[4096]["why"]
    assert "transfer-size" not in phases[65536]["limits"], phases[65536]["why"]


# The server


def test_a_flush_for_each_write(explained, sync_writes, slow_dir):
    assert sync_writes["limits"][0] == "sync-writes", sync_writes["why"]
    at_once = explained.phase(slow_dir, SYNC.replace("-o ", "-c -e "))
    assert not {"sync-writes", "commit"} & set(at_once["limits"]), at_once["why"]


def test_a_commit_for_each_write(explained, slow_dir):
    """A write is several WRITE requests, which the server may keep in memory until a COMMIT follows."""
    phase = explained.phase(slow_dir, SYNC.replace("-r 16k -s 64k", "-r 256k -s 256k"))
    assert phase["limits"][0] == "commit", phase["why"]


def test_one_nfsd_thread(lab, explained, sync_writes, slow_dir):
    with nfsd_threads(lab, 1):
        phase = explained.phase(slow_dir, SYNC)
    assert phase["limits"][0] == "nfsd-threads", phase["why"]
    assert "lanes" not in phase["limits"], phase["why"]
    assert "nfsd-threads" not in sync_writes["limits"], sync_writes["why"]


def test_one_shared_directory(explained, slow_dir):
    shared = explained.phase(slow_dir, "--op create --items 4 --shared-directory -t 4")
    own = explained.phase(slow_dir, "--op create --items 4 -t 4")
    assert shared["limits"][0] == "one-directory", shared["why"]
    assert "one-directory" not in own["limits"], own["why"]


def test_a_slow_disk_of_the_server(lab, explained, unlimited):
    with slow_disk(lab, BUSY_DISK_MS, visible=True) as directory, mounted(lab, "vers=4.2", directory, HERE) as place:
        phase = explained.phase(place, DIRECT)
    assert phase["limits"][0] == "server-disk", phase["why"]
    assert "server-disk" not in unlimited["limits"], unlimited["why"]


# Rows of limits.py for whose limits there is no test above.


@pytest.mark.parametrize("name", [
    "server frozen for 2 s of 5 s",
    "full link of the server, without the first ops",
    "full link of the server, after fewer lanes",
    "think time that counts",
    "little memory for unwritten data",
    "another client's load on a full link",
])
def test_a_row_of_limits(lab, tmp_path, name):
    (row,) = (each for each in limits.ROWS if each.name == name)
    for number in range(MAX_BUSY_RUNS):  # unknown is no error, but not always
        names, evidence = limits.names_of(lab, row, tmp_path / f"out-{number}")
        if names:
            break
    assert limits.verdict(row, names) in ("right", "fair"), (names, evidence)


def test_little_read_ahead_is_never_taken_for_something_else(lab, tmp_path):
    """Its cause is often unknown in the lab, which limits.py counts; a wrong one is an error."""
    (row,) = (each for each in limits.ROWS if each.name == "read-ahead of 16 KiB")
    names, evidence = limits.names_of(lab, row, tmp_path / "out")
    assert limits.verdict(row, names) != "wrong", (names, evidence)
