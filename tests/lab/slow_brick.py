#!/usr/bin/env python3
"""Throttles one brick of four of the lab's GlusterFS volume, and counts how often it is named as the slow storage target.

    CLUSTER_IOBENCH=build/release/cluster-iobench tests/lab/slow_brick.py --runs 20 --slower 1 4 10

Each run writes files anew with another number of lanes, in another directory, so that bricks hold other numbers of files, and
then reads them once for each degree: 1 is no throttle, with 4 the brick runs for a quarter of the time. The bricks are throttled
in turn. Prints a row for each degree: how often that brick alone was named (right), none, or another (wrong); "alone" counts
runs in which fewer than two lanes had files on it, which says nothing. Exits with 1 if any other was named.
It has the same requirements as the tests of the lab.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import gluster  # noqa: E402
import lab as nfs_lab  # noqa: E402
from cluster_run import over_grpc  # noqa: E402

LANES = range(12, 17)  # of each of two clients: with fewer, one brick may have none
PERIOD_S = 1  # of a throttle: an op takes up to a tenth of it here, and a shorter stop would slow it by less than the degree


def named(phase):
    """The targets that are slow, and whether the phase says that they limit it."""
    slow = {target["name"] for target in phase["storage_targets"] if target["slow"]}
    return slow, "slow-target" in {limit["name"] for limit in phase["why"]}


def verdict(phase, throttled):
    """throttled: the name of the storage target, or nothing."""
    slow, limits = named(phase)
    if slow - {throttled}:
        return "wrong"
    lanes = {target["name"]: target["lanes"] for target in phase["storage_targets"]}
    if throttled and lanes.get(throttled, 0) < 2:
        return "alone"
    if not throttled:
        return "wrong" if limits else "right"
    return "right" if slow and limits else "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="of each degree (default %(default)s)")
    parser.add_argument("--slower", type=float, nargs="+", default=[1, 4, 10], help="degrees (default: 1 4 10)")
    parser.add_argument("--time", type=float, default=12, help="seconds of each run (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the numbers of lanes")
    parser.add_argument("--keep", type=pathlib.Path, help="copy the results there")
    args = parser.parse_args()

    counts = collections.defaultdict(collections.Counter)
    draws = random.Random(args.seed)
    logs = pathlib.Path(tempfile.mkdtemp(prefix="cluster-iobench-slow-brick-"))
    with nfs_lab.NfsLab(logs, disk_mb=512) as lab:
        volume = gluster.GlusterVolume(lab)
        volume.mount_all()
        for number in range(args.runs):
            brick = volume.bricks[number % len(volume.bricks)]
            place = f"{volume.path}/run-{number}"
            lanes = draws.choice(LANES)

            def phase_of(words, name, place=place, lanes=lanes, number=number):
                out = args.keep or logs
                over_grpc(lab, ["--path", place, "--out", str(out / f"{number}-{name}"), "-I", "-r", "16k", "-s", "1m", "-t",
                                str(lanes), "-w", *words.split()])
                return json.loads((out / f"{number}-{name}" / "result.json").read_text())["phases"][0]

            try:
                lab.run(lab.clients[0], f"mkdir {place}")
                phase_of("--op write", "write")
                for slower in args.slower:
                    throttled = f"{nfs_lab.SERVER}:{brick}" if slower > 1 else None
                    reads = f"--op random-read --time {args.time:g}"
                    begin = time.monotonic()
                    if throttled:
                        with volume.throttled(brick, slower, PERIOD_S):
                            phase = phase_of(reads, f"{slower:g}")
                    else:
                        phase = phase_of(reads, f"{slower:g}")
                    said = verdict(phase, throttled)
                    counts[slower][said] += 1
                    shares = " ".join(f"{target['name'][-1]}:{target['lanes']}x{target['share_of_median']:.2f}"
                                      for target in sorted(phase["storage_targets"], key=lambda target: target["name"]))
                    print(f"run {number}, {slower:g} times slower{' brick ' + brick[-1] if throttled else ''}: {said}: "
                          f"{[name[-1] for name in named(phase)[0]]}; lanes x share of the median: {shares}; "
                          f"load {os.getloadavg()[0]:.1f}, {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
                lab.run(lab.clients[0], f"rm -r {place}")
            except nfs_lab.LabError:
                counts[0]["failed"] += 1
                traceback.print_exc()
        volume.remove()
    shutil.rmtree(logs)

    print("| times slower | right | unknown | wrong | alone |\n|---|---|---|---|---|")
    for slower in args.slower:
        count = counts[slower]
        print(f"| {slower:g} | {count['right']} | {count['unknown']} | {count['wrong']} | {count['alone']} |")
    print(f"{counts[0]['failed']} failed", file=sys.stderr)
    return 1 if any(count["wrong"] for count in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
