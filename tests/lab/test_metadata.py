"""Metadata operations over two real NFS clients: the report says which of them the server saw and which a client
answered from memory."""

import pytest

import lab as nfs_lab
from cluster_run import Cluster
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
