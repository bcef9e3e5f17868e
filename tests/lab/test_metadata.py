"""Metadata operations over two real NFS clients: the report says which of them the server saw and which a client
answered from memory."""

import json

import pytest

import lab as nfs_lab
from cluster_run import Cluster, in_one_line
from report_checks import prepared_tree

CLIENTS, ITEMS = 2, 150
# Directories, the manifest and the path to them are looked up too.
SLACK = 40


@pytest.fixture
def cluster(lab, version, nfs_dir, tmp_path):
    return Cluster(lab, version, nfs_dir, tmp_path)


def requests(phase, host, *kinds):
    """How many requests of these kinds a client made in a phase, by the report."""
    (client,) = [client for client in phase["clients"] if client["host"] == host]
    (nfs,) = client["host_delta"]["nfs"].values()
    return sum(nfs["ops"].get(kind, {"ops": 0})["ops"] for kind in kinds)


def cached(phase):
    return {mark["subject"] for mark in phase["marks"] if mark["code"] == "cached"}


def test_a_client_answers_for_what_it_made_itself_and_is_marked(cluster):
    outcome = cluster.run(f"--op create --op stat --items {ITEMS} -w")
    stat = outcome.phases["stat"]
    assert stat["ops"] == CLIENTS * ITEMS
    assert cached(stat) == set(cluster.lab.clients)
    for host in cluster.lab.clients:
        assert requests(stat, host, "LOOKUP", "GETATTR") < 0.2 * ITEMS
    assert cached(outcome.phases["create"]) == set(), "a create reaches the server always"
    assert outcome.server.requests["LOOKUP"] < SLACK + ITEMS


def test_rotated_clients_ask_the_server_for_every_name(cluster):
    outcome = cluster.run(f"--op create --op stat --items {ITEMS} --rotate-clients -w")
    stat = outcome.phases["stat"]
    assert stat["ops"] == CLIENTS * ITEMS and stat["lanes_on_own_client"] == 0
    assert cached(stat) == set()
    for host in cluster.lab.clients:
        assert requests(stat, host, "LOOKUP", "GETATTR") >= ITEMS
    # The server's own account: a LOOKUP for each name that another client had made.
    assert CLIENTS * ITEMS <= outcome.server.requests["LOOKUP"] <= CLIENTS * ITEMS + 2 * SLACK


def test_names_that_another_client_has_changed_are_found(cluster):
    """A client must not trust its memory of names that appeared or vanished elsewhere."""
    operations = "--op create --op stat --op rename --op open-close --op unlink"
    outcome = cluster.run(f"{operations} --items 40 --tree-depth 1 --tree-branching 3 --rotate-clients --repeat 3")
    phases = outcome.result["phases"]
    assert len(phases) == 15
    for phase in phases:
        assert phase["errors"] == [], phase["name"]
        assert phase["ops"] == CLIENTS * 40
        assert prepared_tree(phase) == "the items were as they should be", phase["name"]
    assert cluster.files() == [], "trees are removed"


def test_lanes_of_two_clients_share_one_directory(cluster):
    outcome = cluster.run("--op mkdir --op create --op open-close --op readdir --op link --op symlink --op find --op unlink "
                          "--op rmdir --items 40 --shared-directory --file-bytes 3901 --find-name *-000001-*")
    for phase in outcome.result["phases"]:
        assert phase["errors"] == [], phase["name"]
        assert phase["ops"] == CLIENTS * (1 if phase["name"] == "readdir" else 40)
    assert outcome.phases["find"]["found_items"] == 40, "those of lane 1, each looked at by its own lane"
    for name in ("create", "open-close"):
        assert outcome.phases[name]["bytes"] == CLIENTS * 40 * 3901
    assert outcome.server.write_bytes >= CLIENTS * 40 * 3901
    assert cluster.files() == []


def test_find_walks_what_another_client_has_made(cluster):
    outcome = cluster.run(f"--op create --op find --items {ITEMS} --file-bytes 20 --min-file-bytes 10 --rotate-clients -w "
                          "--tree-depth 1 --tree-branching 3 --find-name *01* --find-bytes 15")
    find = outcome.phases["find"]
    assert find["ops"] == CLIENTS * ITEMS and find["lanes_on_own_client"] == 0 and find["errors"] == []
    exported = f"{nfs_lab.EXPORT}/{cluster.nfs_dir.rsplit('/', 1)[1]}"
    listed = cluster.lab.run(nfs_lab.SERVER, f"find {exported} -type f -name '*01*' -size 15c").stdout.splitlines()
    assert 0 < find["found_items"] == len(listed)
    for host in cluster.lab.clients:
        assert requests(find, host, "READDIR", "READDIRPLUS", "GETATTR", "LOOKUP") > 0, "the server is asked"
    assert cached(find) == set(), "one answer may be for many items"


def marked(phase, code):
    return {mark["subject"] for mark in phase["marks"] if mark["code"] == code}


def test_a_copy_by_the_server_is_told_from_one_by_the_client(cluster):
    """copy_file_range() is COPY over NFSv4.2; over NFSv3 the client reads and writes, unseen by the program."""
    outcome = cluster.run("--op create --op copy-range --op copy --items 40 --file-bytes 65536")
    offloaded, by_client = outcome.phases["copy-range"], outcome.phases["copy"]
    assert offloaded["ops"] == by_client["ops"] == CLIENTS * 40 * 2, "each copy is renamed"
    assert offloaded["bytes"] == by_client["bytes"] == CLIENTS * 40 * 65536
    by_server = cluster.version == "4.2"
    assert marked(offloaded, "not_offloaded") == (set() if by_server else set(cluster.lab.clients))
    assert marked(by_client, "not_offloaded") == set()
    for host in cluster.lab.clients:
        assert requests(offloaded, host, "COPY") == (40 if by_server else 0)
        assert requests(by_client, host, "COPY") == 0 and requests(by_client, host, "WRITE") >= 40


def test_what_works_on_contents_and_attributes_reaches_the_server(cluster):
    with_holes = " --op reallocate --op seek-hole" if cluster.version == "4.2" else ""
    outcome = cluster.run(f"--op create --op symlink --op resize --op chown --op utimes --op append --op readlink --op list-long{with_holes} "
                          "--items 40 --file-bytes 8192 --rotate-clients")
    sent = {"resize": {"SETATTR": 80}, "chown": {"SETATTR": 40}, "utimes": {"SETATTR": 40}, "append": {"WRITE": 40}, "readlink": {"READLINK": 40}}
    if with_holes:
        sent |= {"reallocate": {"DEALLOCATE": 40, "ALLOCATE": 40}, "seek-hole": {"SEEK": 40}}
    for name, kinds in sent.items():
        for host in cluster.lab.clients:
            for kind, count in kinds.items():
                assert requests(outcome.phases[name], host, kind) >= count, (name, host, kind)
        assert cached(outcome.phases[name]) == set(), name
    for host in cluster.lab.clients:
        assert requests(outcome.phases["list-long"], host, "READDIR", "READDIRPLUS") > 0


def run_on_a_client(cluster, out, *words, code):
    host = cluster.lab.clients[0]
    command = [nfs_lab.binary(), "run", "--transport", "local", "-t", "1", "--items", "20", "--path", cluster.nfs_dir, "--out", str(out), *words]
    done = cluster.lab.run(host, command, timeout=120, check=False)
    assert done.returncode == code, done
    return " ".join((done.stdout + done.stderr).split())


def test_what_a_mount_does_not_have_is_told_by_its_operation(cluster, tmp_path):
    """NFS has no ZERO_RANGE at all, and the server's file system no clones."""
    said = run_on_a_client(cluster, tmp_path / "zero", "--op", "zero-range", code=2)
    assert "leave out zero-range" in said
    said = run_on_a_client(cluster, tmp_path / "clone", "--op", "clone", code=2)
    assert "cannot clone files" in said and "leave out clone" in said


@pytest.fixture
def on_xfs(lab, directory_name):
    """The test's directory on the server is an XFS with reflinks, which the NFS clients cross into."""
    there, image = f"{nfs_lab.EXPORT}/{directory_name}", f"/tmp/{directory_name}.xfs"
    lab.run(nfs_lab.SERVER, f"modprobe loop; truncate -s 400m {image} && mkfs.xfs -q -m reflink=1 {image} && mount -o loop {image} {there} && "
            f"exportfs -o rw,sync,no_root_squash,no_subtree_check,insecure,fsid=8 10.77.0.0/24:{there}")
    yield
    lab.run(nfs_lab.SERVER, f"exportfs -u 10.77.0.0/24:{there}; exportfs -f; for i in $(seq 100); do umount {there} && break; sleep 0.2; done; rm {image}")


@pytest.mark.parametrize("version", ["4.2"])
def test_a_clone_shares_the_blocks_of_its_original(cluster, on_xfs, tmp_path):
    run_on_a_client(cluster, tmp_path / "out", "--op", "create", "--op", "clone", "--file-bytes", "65536", "-w", code=0)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    clone = result["phases"][1]
    assert clone["by_kind"]["clone"]["ops"] == clone["by_kind"]["rename"]["ops"] == 20 and clone["bytes"] == 0
    (nfs,) = clone["clients"][0]["host_delta"]["nfs"].values()
    assert nfs["ops"]["CLONE"]["ops"] == 20 and nfs["ops"].get("WRITE", {"ops": 0})["ops"] == 0


def test_lanes_of_both_clients_open_one_file_and_pass_a_lock_on(cluster):
    lanes, turns = 2, 12
    if cluster.version == "3":     # mounted with nolock: each client has locks of its own, which exclude no other
        with pytest.raises(nfs_lab.CommandFailed) as failed:
            cluster.run("--op lock --time 10", lanes=lanes)
        assert "its counts do not add up: two lanes had the lock at once" in in_one_line(failed.value.out, failed.value.err)
        return
    outcome = cluster.run(f"--op open-many --op lock --items {turns} --file-bytes 4096", lanes=lanes)
    opened, locked = outcome.phases["open-many"], outcome.phases["lock"]
    for phase in (opened, locked):
        assert phase["ops"] == CLIENTS * lanes * turns and phase["lanes_failed"] == 0
        assert {lane["file_owner"] for client in phase["clients"] for worker in client["workers"] for lane in worker["lanes"]} == {0}
    for host in cluster.lab.clients:
        assert requests(locked, host, "LOCK") >= lanes * turns and requests(locked, host, "LOCKU") >= lanes * turns, "the server grants each"
    assert cluster.files() == [], "the lock's file is removed with the tree"


def test_a_tree_is_moved_about_and_removed_on_the_server(cluster):
    outcome = cluster.run(f"--op create --op move --op remove-tree --items {ITEMS} --tree-depth 1 --tree-branching 3")
    assert outcome.phases["move"]["ops"] == CLIENTS * 2 * ITEMS
    assert outcome.server.requests["RENAME"] >= CLIENTS * 2 * ITEMS
    removed = outcome.phases["remove-tree"]
    assert removed["by_kind"]["unlink"]["ops"] == CLIENTS * ITEMS and removed["by_kind"]["rmdir"]["ops"] == CLIENTS * 3
    for host in cluster.lab.clients:
        assert requests(removed, host, "REMOVE", "RMDIR") >= ITEMS + 3
        assert requests(removed, host, "READDIR", "READDIRPLUS") >= 3
