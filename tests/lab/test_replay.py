"""observe and `run --mix` on loads of applications: what the server is asked in the replay is what it was asked before.

By default one load, another one each day; IOBENCH_LOADS=all runs all of them, a name that one.
"""

import json
import os
import pathlib
import shlex
import time

import pytest
import yaml

import application_loads
import day_sample
import lab as nfs_lab

PATIENCE_S = 150
LOAD_S, SEEN_S, REPLAY_S, SETTLED_S = 22, 12, 30, 10
SCRIPT = pathlib.Path(application_loads.__file__)
# Requests that a client sends in place of each other, depending on what it remembers.
TOGETHER = {"LOOKUP": "GETATTR", "ACCESS": "GETATTR", "READLINK": "GETATTR", "OPEN_NOATTR": "OPEN", "READDIRPLUS": "READDIR"}


def seen_of(lab, directory, out):
    """What observe saw for SEEN_S: the group of its file, and the rates of requests that are counted together."""
    lab.run(lab.clients[0], f"{nfs_lab.binary()} observe --path {directory} --for {SEEN_S} --interval 4 --output {out} 2>&1",
            timeout=PATIENCE_S)
    (group,) = yaml.safe_load(out.read_text())["groups"]
    rates, off = {}, {}
    for request in group["observed"]["requests"]:
        name = TOGETHER.get(request["name"], request["name"])
        rates[name] = rates.get(name, 0) + request["per_s"]
        if "not_replayed" in request:
            off[name] = request["not_replayed"]
    return group, rates, off


def chosen_loads():
    loads, wanted = sorted(application_loads.LOADS), os.environ.get("IOBENCH_LOADS", "")
    if wanted in ("", "all"):
        return loads if wanted else day_sample.of_today(loads, 1)
    return [wanted]


@pytest.mark.parametrize("load", chosen_loads())
def test_the_replay_of_an_application_asks_for_the_same(lab, version, nfs_dir, tmp_path, load):
    client, program = lab.clients[0], nfs_lab.binary()
    application = lab.start(client, shlex.join(["python3", str(SCRIPT), load, nfs_dir, str(LOAD_S)]))
    assert application.stdout.readline() == "READY\n"
    group, before, off = seen_of(lab, nfs_dir, tmp_path / "seen.yaml")
    lab.finish(application, timeout=PATIENCE_S, check=True)

    mix, out = tmp_path / "seen.yaml", tmp_path / "out"
    operations = {part["operation"] for part in group["parts"]}
    on_records = operations & {"random-read", "random-write"}
    shape = ("-I -s 4m " if on_records else "") + ("--items 1000 " if operations - on_records else "")
    ready = "/run/replay-began"
    lab.run(client, f"rm -f {ready}")
    replay = lab.start(client, f"exec {program} --mix {mix} --even-rate {shape} --spawn {len(group['parts'])} --time {REPLAY_S} "
                               f"--before-phase 'touch {ready}' --path {nfs_dir} --out {out} 2>&1")
    deadline = time.monotonic() + PATIENCE_S
    while lab.run(client, f"test -e {ready}", check=False).returncode != 0:
        if replay.poll() is not None:
            lab.finish(replay, check=True)
        assert time.monotonic() < deadline, "the replay did not begin"
        time.sleep(0.2)
    time.sleep(SETTLED_S)
    _, after, _ = seen_of(lab, nfs_dir, tmp_path / "again.yaml")
    lab.finish(replay, timeout=PATIENCE_S, check=True)
    (phase,) = json.loads((out / "result.json").read_text())["phases"]
    assert phase["open_loop"]["done_percent"] > 95, "the lab was too slow for this load"
    for name, rate in before.items():
        print(f"| {load} | {version} | {name} | {rate:.2f} | {after.get(name, 0):.2f} | {off.get(name, '')} |")
    for name, rate in before.items():
        if name not in off and rate > 0.2:
            assert after.get(name, 0) == pytest.approx(rate, rel=0.05), name
    assert {name for name, rate in after.items() if rate > 0.05 * sum(before.values())} <= set(before), "nothing else is asked"
    assert not set(off) & {"READ", "WRITE", "OPEN", "REMOVE", "RENAME", "SETATTR", "GETATTR"}, off
