#!/usr/bin/env python3
"""The cost of a phase that does nothing, with an in-process worker and all results saved: milliseconds of wall time of the
first and the last hundred phases of a run, and of processor time over all phases.

    tests/perf/empty_phases.py build/release/cluster-iobench [--phases 2000] [--lanes 1]

Both hundreds should cost the same, and each phase less than 2 ms. If other programs share the machine, use the
processor time.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--phases", type=int, default=2000)
    parser.add_argument("--lanes", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        before = os.times()
        subprocess.run([options.program.resolve(), "-i", "0", "-+n", "--engine", "null", "-r", "4k", "-s", "4k",
                        "-t", str(options.lanes), "--repeat", str(options.phases), "--path", scratch,
                        "--out", f"{scratch}/out"], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        with open(f"{scratch}/out/result.json") as file:
            phases = json.load(file)["phases"]
    started = [datetime.datetime.fromisoformat(phase["started_at"].replace("Z", "+00:00")) for phase in phases]
    span_ms = [(later - earlier).total_seconds() * 1e3 for earlier, later in zip(started, started[1:])]
    cpu_s = sum(getattr(after, name) - getattr(before, name) for name in ("children_user", "children_system"))
    for name, some in (("first hundred", span_ms[:100]), ("last hundred", span_ms[-100:])):
        print(f"{name:14}  mean {statistics.mean(some):.2f} ms, median {statistics.median(some):.2f} ms a phase")
    print(f"{'processor time':14}  {cpu_s * 1e3 / len(phases):.2f} ms a phase")
    skew_us = [phase["start"]["skew_us"] for phase in phases]
    print(f"{'start skew':14}  median {statistics.median(skew_us):.1f} us, most {max(skew_us):.0f} us; "
          f"{sum(phase['start']['attempts'] for phase in phases)} starts")


if __name__ == "__main__":
    main()
