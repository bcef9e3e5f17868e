"""A soak on two real NFS clients, whose server stands still for some seconds: each says how long, and nothing is lost."""

import json
import os
import signal
import time

import pytest

import lab as nfs_lab
import processes
from cluster_run import PATIENCE_S, PORT

FROZEN_S = 4


@pytest.mark.parametrize("version", ["4.2"], indirect=True)
def test_a_server_that_stands_still_is_survived_and_each_client_says_when_and_for_how_long(lab, version, nfs_dir, tmp_path):
    out = tmp_path / "out"
    address = f"{nfs_lab.OUTSIDE}:{PORT}"
    program = nfs_lab.binary()
    coordinator = lab.start_outside([program, "run", "--listen", address, "--workers", "2", "--insecure", "--path", nfs_dir,
                                     "--out", str(out), "--soak", "12s", "-r", "16k", "-s", "256k", "-t", "1", "--time", "3",
                                     "-c", "-e"])
    join = f"exec {program} worker --join {address} --insecure --root / --allow drop-caches --join-timeout 60"
    workers = [lab.start(client, join) for client in lab.clients]
    server = processes.program_of(lab.hosts[nfs_lab.SERVER].process)
    deadline = time.monotonic() + PATIENCE_S
    while not (out / "raw" / "phase-003.pb").exists():  # the read of the second round; its write lasts for 3 s
        assert time.monotonic() < deadline, "no round ends"
        time.sleep(0.05)
    time.sleep(1.5)
    os.kill(server, signal.SIGSTOP)
    try:
        time.sleep(FROZEN_S)
    finally:
        os.kill(server, signal.SIGCONT)
    ended = lab.finish(coordinator, timeout=PATIENCE_S)
    assert ended.returncode == 0, ended
    assert [lab.finish(worker, timeout=PATIENCE_S).returncode for worker in workers] == [0, 0]
    result = json.loads((out / "result.json").read_text())
    soak = result["soak"]
    assert soak["complete_rounds"] >= 2
    loss = soak["loss"]
    assert loss["verified_sectors"] > 0 and loss["undetermined"] == 0
    assert loss["lost"] == loss["stale"] == loss["torn"] == loss["wrong"] == loss["short_reads"] == 0
    assert {client["host"] for client in soak["clients"]} == set(lab.clients)
    # A lane may have waited in any part of a phase, and asked again a little later.
    for client in soak["clients"]:
        assert client["stalls"] >= 1 and client["stalled_s"] >= FROZEN_S - 1, soak["clients"]
        assert client["longest"]["seconds"] >= FROZEN_S - 1 and client["longest"]["at"].startswith("20"), client
        assert client["failed_ops"] == [] and client["phases_failed"] == client["phases_lost"] == 0
    frozen = [round_ for round_ in soak["rounds"] if round_["longest_pause_s"] >= FROZEN_S - 1]
    assert frozen and frozen[0]["longest_pause_client"] in lab.clients
    assert "longest pause" in ended.stdout
