"""Undisturbed runs over NFS carry no mark that would make a reader doubt them."""

import pytest

from cluster_run import Cluster
from machine_marks import ABOUT_THE_MACHINE

# A phase of milliseconds is shorter than 100 times the error of the clocks between hosts of the lab.
OF_THE_LAB = ABOUT_THE_MACHINE | {"clock_uncertain"}

# name: (options, marks that are true of its phases besides OF_THE_LAB)
RUNS = {
    "fsync and close": ("-i 0 -c -e -r 64k -s 2m", {}),
    "a time": ("-i 0 -+n -c -e -r 64k -s 1m --time 1", {}),
    "direct": ("-i 0 -i 1 -i 2 -+n -I -r 64k -s 1m", {}),
    "synchronous": ("-i 0 -+n -o -r 64k -s 1m", {}),
    "read by others": ("-i 0 -i 1 -+n -c -e -r 64k -s 2m --rotate-clients --drop-caches", {}),
    "read back from memory": ("-i 0 -i 1 -+n -c -e -r 64k -s 2m", {"read": {"cached"}}),
    "verified": ("-i 0 -i 1 -+n -c -e -r 64k -s 1m --verify --drop-caches", {}),
    "several files": ("-i 0 -+n -c -e --files-per-lane 4 -r 64k -s 2m", {}),
    "a shared file": ("-i 0 -+n -c -e -+V -r 64k -s 1m", {}),
    "names": ("--op create,stat,unlink --items 50 --drop-caches", {}),
}


@pytest.fixture
def cluster(lab, version, nfs_dir, tmp_path):
    return Cluster(lab, version, nfs_dir, tmp_path)


@pytest.mark.parametrize("name", list(RUNS))
def test_a_clean_run_over_nfs_has_no_mark(cluster, name):
    options, true_of = RUNS[name]
    outcome = cluster.run(options)
    for phase in outcome.phases.values():
        codes = {mark["code"] for mark in phase["marks"]} - OF_THE_LAB
        assert codes <= true_of.get(phase["name"], set()), f"{phase['name']}: {phase['marks']}"
    assert cluster.files() == [], "the data are removed"
