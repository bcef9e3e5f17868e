"""observe on a real NFS client sees the load of a run, and the mix that it writes reproduces that load."""

import json
import time

import pytest
import yaml

import lab as nfs_lab
from cluster_run import start_over_grpc

PATIENCE_S = 150
PHASE_S, SEEN_S = 26, 12
READS_PER_S = 40
# For 3 s after a client has made an item, it answers calls on it from memory.
SETTLED_S = 5
# Every op of this mix reaches the server: O_DIRECT, and no item is visited twice within that time.
MIX = """
parts:
  - {operation: random-read, record_bytes: 8k, ops_per_s: %d}
  - {operation: random-write, record_bytes: 4k, ops_per_s: 20}
  - {operation: stat, ops_per_s: 20}
""" % READS_PER_S


def await_reads(lab, client, version, more_than, run):
    """Waits until the client has made more than `more_than` READ requests; only the phase itself reads."""
    deadline = time.monotonic() + PATIENCE_S
    while lab.client_counters(client, version).requests["READ"] <= more_than:
        if run.poll() is not None:
            lab.finish(run, check=True)
        assert time.monotonic() < deadline, "the phase did not begin"
        time.sleep(0.2)


def watched_run(lab, version, nfs_dir, mix, out, watched):
    """Runs a mix on a client while observe watches in the middle of it. Returns the run's parts and the file that observe wrote.

    watched: the directory as observe is told it, from within nfs_dir.
    """
    client, program = lab.clients[0], nfs_lab.binary()
    before = lab.client_counters(client, version).requests["READ"]
    run = lab.start(client, f"exec {program} --mix {mix} --even-rate -I -s 1m --items 600 --spawn 3 --time {PHASE_S} "
                            f"--path {nfs_dir} --out {out} 2>&1")
    await_reads(lab, client, version, before + SETTLED_S * READS_PER_S, run)
    seen = out.with_suffix(".yaml")
    lab.run(client, f"cd {nfs_dir} && {program} observe --path {watched} --for {SEEN_S} --interval 3 --output {seen} 2>&1", timeout=PATIENCE_S)
    lab.finish(run, timeout=PATIENCE_S, check=True)
    (phase,) = json.loads((out / "result.json").read_text())["phases"]
    assert phase["open_loop"]["done_percent"] > 95, "the lab was too slow for this load"
    return {part["operation"]: part for part in phase["parts"]}, yaml.safe_load(seen.read_text())


def parts_seen(mix):
    (group,) = mix["groups"]
    return {part["operation"]: part for part in group["parts"]}


def first_probe_of_capacity(lab, nfs_dir, mix, out):
    """The parts of capacity's first probe, by operation: the mix at 1x. What would follow, the highest load, is cut off."""
    client, pid = lab.clients[0], "/run/capacity-pid"
    run = lab.start(client, f"echo $$ >{pid}; exec {nfs_lab.binary()} capacity --mix {mix} --even-rate -I -s 1m --items 600 --spawn 3 "
                            f"-t 4 --time 8 --warmup 1 --points 1 --path {nfs_dir} --out {out} 2>&1")
    deadline = time.monotonic() + PATIENCE_S
    while not (out / "raw" / "phase-001.pb").exists():  # phase 0 creates the files
        if run.poll() is not None:
            lab.finish(run, check=True)
        assert time.monotonic() < deadline, "capacity did not finish its first probe"
        time.sleep(0.2)
    lab.run(client, f"kill -INT $(cat {pid})")
    lab.finish(run, timeout=PATIENCE_S)
    probe = json.loads((out / "result.json").read_text())["phases"][1]
    assert probe["open_loop"]["done_percent"] > 95, "the lab was too slow for this load"
    return {part["operation"]: part for part in probe["parts"]}


def test_what_observe_saw_is_the_load_and_its_replay_is_the_same_again(lab, version, nfs_dir, tmp_path):
    original = tmp_path / "original.yaml"
    original.write_text(MIX)
    did, file = watched_run(lab, version, nfs_dir, original, tmp_path / "first", ".")
    first = parts_seen(file)
    (group,) = file["groups"]
    assert group["observed"]["client"] == lab.clients[0]
    assert group["observed"]["filesystem"] == ("nfs4" if version == "4.2" else "nfs")
    assert "lost_intervals" not in group["observed"] and len(group["observed"]["intervals"]) == SEEN_S / 3
    for operation in ("random-read", "random-write", "stat"):
        assert first[operation]["ops_per_s"] == pytest.approx(did[operation]["ops_per_s"], rel=0.05), operation
    assert first["random-read"]["record_bytes"] == 8192 and first["random-write"]["record_bytes"] == 4096
    assert set(first) == set(did), "nothing else was asked for"

    link = f"/run/link-to-nfs{version}"
    lab.run(lab.clients[0], ["ln", "-sfn", nfs_dir, link])
    redid, again = watched_run(lab, version, nfs_dir, tmp_path / "first.yaml", tmp_path / "second", link)
    second = parts_seen(again)
    assert set(second) == set(first)
    total = {name: sum(part["ops_per_s"] for part in parts.values()) for name, parts in (("first", first), ("second", second))}
    for operation, part in first.items():
        assert redid[operation]["open_loop"]["asked_ops_per_s"] == pytest.approx(part["ops_per_s"])
        assert second[operation]["ops_per_s"] == pytest.approx(part["ops_per_s"], rel=0.05), operation
        share = part["ops_per_s"] / total["first"]
        assert second[operation]["ops_per_s"] / total["second"] == pytest.approx(share, rel=0.05), operation

    if version == "4.2":
        probe = first_probe_of_capacity(lab, nfs_dir, tmp_path / "first.yaml", tmp_path / "capacity")
        assert set(probe) == set(first)
        for operation, part in first.items():
            assert probe[operation]["ops_per_s"] == pytest.approx(part["ops_per_s"], rel=0.05), operation


TWO_GROUPS = """
groups:
  - name: readers
    parts:
      - {operation: random-read, record_bytes: 8k, ops_per_s: 30}
  - name: writers
    parts:
      - {operation: random-write, record_bytes: 4k, ops_per_s: 15}
      - {operation: stat, ops_per_s: 5}
"""


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_groups_of_a_mix_are_clients_of_their_own(lab, version, nfs_dir, tmp_path):
    mix, out = tmp_path / "two.yaml", tmp_path / "out"
    mix.write_text(TWO_GROUPS)
    options = ["--mix", str(mix), "--even-rate", "-I", "-s", "256k", "--items", "100", "--time", "6", "--path", nfs_dir,
               "--out", str(out)]
    coordinator, helpers = start_over_grpc(lab, "run", options, workers_per_client=2)
    lab.finish(coordinator, timeout=PATIENCE_S, check=True)
    for helper in helpers:
        lab.finish(helper, check=True)
    result = json.loads((out / "result.json").read_text())
    (phase,) = result["phases"]
    workers = {part["name"]: part["worker_count"] for part in phase["parts"]}
    assert workers == {"readers: random-read 8 KiB": 2, "writers: random-write 4 KiB": 1, "writers: stat": 1}
    # By each client's own counters during the phase, one only read and the other only wrote.
    done = {}
    for client in phase["clients"]:
        (nfs,) = client["host_delta"]["nfs"].values()
        done[client["host"]] = (nfs.get("server_read_bytes", 0), nfs.get("server_write_bytes", 0))
    reader, writer = sorted(done.values(), reverse=True)
    # The first direct access to a file flushes the data that its preparation left in the client's memory, 256 KiB per file.
    prepared = range(0, 2 * 262144 + 1, 262144)
    assert reader[0] == pytest.approx(30 * 6 * 8192, rel=0.05) and reader[1] in prepared
    assert writer[0] == 0
    assert any(writer[1] - flushed == pytest.approx(15 * 6 * 4096, rel=0.05) for flushed in prepared)
