"""capacity on two real NFS clients: clients and lanes are swept separately, and every op it counts reached the server."""

import json

import pytest

import lab as nfs_lab
from cluster_run import over_grpc

pytestmark = pytest.mark.parametrize("version", ["4.2"], indirect=True)
PATIENCE_S = 240
BRIEFLY = "--time 0.8 --warmup 0.2 --repeat 2 --points 2".split()


def measured(lab, nfs_dir, out, *options, briefly=BRIEFLY):
    before = lab.server_counters()
    over_grpc(lab, ["--path", nfs_dir, "--out", str(out), "-I", "-s", "256k", *briefly, *options], command="capacity")
    return json.loads((out / "capacity.json").read_text()), lab.server_counters() - before


def test_what_capacity_counts_is_what_the_server_did(lab, version, nfs_dir, tmp_path):
    report, server = measured(lab, nfs_dir, tmp_path / "out", "--op", "random-read", "-r", "4k", "-t", "4", "--slo", "p50<=1s")
    assert (report["client_count"], report["worker_count"]) == (2, 2)
    levels = {scaling["over"]: [level["n"] for level in scaling["levels"]] for scaling in report["scalings"]}
    assert levels == {"clients": [1, 2], "lanes": [2, 4, 6, 8]}
    phases = json.loads((tmp_path / "out" / "result.json").read_text())["phases"]
    # A start that a busy machine delays is repeated, so some records are read again.
    counted, most = sum(phase["ops"] for phase in phases), sum(phase["ops"] * phase["start"]["attempts"] for phase in phases)
    assert counted <= server.requests["READ"] <= 1.05 * most
    # The levels with one client use a different client in each repetition.
    alone = [phase for phase in phases if ": 1 client," in phase["name"]]
    assert {client["host"] for phase in alone for client in phase["clients"]} == set(lab.clients)
    assert len(alone) == 2 and all(len(phase["clients"]) == 1 for phase in alone)
    # Each lab client has one processor, which may be too busy to generate the closed loop's rate.
    assert report["slo"]["outcome"] in ("met_up_to_max", "generator_bound"), report["slo"]["text"]
    assert 0 < report["slo"]["max_ops_per_s"] <= report["max"]["ops_per_s"]
    # Little's law: no more ops are in flight than there are lanes. There are fewer while lanes wait for the only
    # processor of a client, on a busy machine most of the time, and the report says how many are missing.
    for level in report["scalings"][1]["levels"]:
        in_flight = level["median_ops_per_s"] * level["mean_us"] / 1e6
        assert 0 < in_flight < 1.5 * level["n"], level  # the medians of rate and latency may be of different repetitions
        assert level["little_error"] == pytest.approx(abs(in_flight - level["n"]) / level["n"], abs=0.01), level


def test_a_mix_is_scaled_until_it_is_not_kept_up_with(lab, version, nfs_dir, tmp_path):
    client = lab.clients[0]
    lab.run(client, f"{nfs_lab.binary()} capacity --path {nfs_dir} --out {tmp_path}/out --spawn 2 -t 2 -I -s 256k --items 2000 "
                    f"--mix '70r:30w@4k 90% + stat 10%' --rate 50 {' '.join(BRIEFLY)} 2>&1", timeout=PATIENCE_S)
    report = json.loads((tmp_path / "out" / "capacity.json").read_text())
    assert report["scalings"] == [] and report["max"]["ops_per_s"] >= 50
    phases = json.loads((tmp_path / "out" / "result.json").read_text())["phases"]
    busiest = max(phases, key=lambda phase: phase["ops"])
    shares = {part["operation"]: part["ops"] / busiest["ops"] for part in busiest["parts"]}
    assert shares["stat"] == pytest.approx(0.1, abs=0.05) and sum(shares.values()) == pytest.approx(1)

LINK_BYTES_PER_S = 2_000_000  # 61 ops/s of 32 KiB
LINKED = "--time 3 --warmup 1 --repeat 2 --points 2".split()


def clients_for(report, ops_per_s):
    (answer,) = [each["answer"] for each in report["answers"] if each["question"] == f"clients for {ops_per_s} ops/s"]
    return answer


def test_clients_with_links_of_their_own_are_as_many_as_it_takes(lab, version, nfs_dir, tmp_path):
    first, second = lab.clients
    with lab.limit_to(first, LINK_BYTES_PER_S), lab.limit_to(second, LINK_BYTES_PER_S):
        report, _ = measured(lab, nfs_dir, tmp_path / "out", "--op", "random-read", "-r", "32k", "-t", "4", "--need", "330",
                             briefly=LINKED)
    one, both = [level["mean_ops_per_s"] for level in report["scalings"][0]["levels"]]
    assert one == pytest.approx(58, rel=0.15) and both == pytest.approx(2 * one, rel=0.1)
    assert clients_for(report, 330).startswith("6 clients"), report["answers"]
    assert any("rose in proportion to the clients" in warning for warning in report["warnings"]), report["warnings"]


def test_no_number_of_clients_is_named_for_a_full_link_that_they_share(lab, version, nfs_dir, tmp_path):
    with lab.limit_to(nfs_lab.SERVER, LINK_BYTES_PER_S):
        report, _ = measured(lab, nfs_dir, tmp_path / "out", "--op", "random-write", "-r", "32k", "-t", "4", "--need", "330",
                             briefly=LINKED)
    answer = clients_for(report, 330)
    assert answer.startswith("no number of clients is known to reach it") and "adding clients does not help" in answer
    assert not any("in proportion" in warning for warning in report["warnings"])
