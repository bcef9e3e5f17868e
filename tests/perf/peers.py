#!/usr/bin/env python3
"""Reads of files in memory by cluster-iobench and by the other tools that are installed, as thousand ops per second.

    tests/perf/peers.py --program build/release/cluster-iobench
    tests/perf/peers.py --program … --lanes 1,4,16
    tests/perf/peers.py --program … --tool iozone=/opt/iozone/iozone --tool ior=/opt/ior/bin/ior

All tools read the same files, which this script writes in pieces of 1 MiB: the layout of a file's pages alone changes a 4 KiB
read by up to 20 %. Every round runs each tool once per row; figures are medians over the rounds. Each tool runs the fastest way
its documentation offers: fio with psync, threads and without statistics, IOR with its POSIX backend under mpirun, elbencho with
its default engine. IOzone and fio add up the rates of their lanes, elbencho and IOR divide all bytes by the time until the last
lane is done; ours has both figures, and each tool is compared with the one that it computes itself. Prints the table of
docs/performance.md; exits with 1 if a tool is ahead of ours in any row.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import many_lanes

# record, order
KINDS = [("4k", "read"), ("4k", "random-read"), ("1k", "read"), ("1k", "random-read"), ("1m", "read")]
MPI_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **MPI_ROOT}, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


# Each returns the ops per second of one pass over `files`.

def ours(program, files, size, record, order, lanes):
    """By window: "children" is the sum of the lanes' rates, "full" divides by the time until the last one is done."""
    with tempfile.TemporaryDirectory() as out:
        existing = [word for file in files[:lanes] for word in ("--existing", file)]
        run([program, "--op", order, "-r", record, "-s", size, "-t", str(lanes), *existing, "--out", f"{out}/out"])
        with open(f"{out}/out/result.json", encoding="utf-8") as report:
            return json.load(report)["phases"][0]["throughput_ops_per_s"]


def fio(program, files, size, record, order, lanes):
    command = [program, "--output-format=json", "--ioengine=psync", "--thread=1", "--gtod_reduce=1", "--norandommap=1",
               "--invalidate=0", f"--size={size}", f"--bs={record}", f"--rw={'randread' if 'random' in order else 'read'}",
               "--group_reporting=1"]
    for number, file in enumerate(files[:lanes]):
        command += [f"--name=job{number}", f"--filename={file}"]
    return json.loads(run(command))["jobs"][0]["read"]["iops"]


def iozone(program, files, size, record, order, lanes):
    test = "2" if "random" in order else "1"
    output = run([program, "-i", test, "-+n", "-w", "-O", "-r", record, "-s", size, "-t", str(lanes), "-F", *files[:lanes]])
    title = "random readers" if "random" in order else "readers"
    return float(re.search(rf"Children see throughput for +\d+ {title}\s*=\s*([0-9.]+)", output)[1])


def ior(program, files, size, record, order, lanes):
    command = ["mpirun", "--oversubscribe", "-np", str(lanes), program, "-a", "POSIX", "-r", "-E", "-k", "-F",
               "-o", files[0].rsplit(".", 1)[0], "-b", size, "-t", record, "-O", "summaryFormat=JSON"]
    output = run(command + (["-z"] if "random" in order else []))
    summary = json.loads(re.sub(r"\n, *\n", ",\n", output[output.index("{"):]))["summary"]
    return summary[0]["bwMaxMIB"] * (1 << 20) / many_lanes.bytes_of(record)


def elbencho(program, files, size, record, order, lanes):
    with tempfile.TemporaryDirectory() as out:
        run([program, "-r", "-b", record, "-s", size, "-t", str(lanes), "--jsonfile", f"{out}/json",
             *(["--rand", "--randalign"] if "random" in order else []), *files[:lanes]])
        with open(f"{out}/json", encoding="utf-8") as report:
            return float(json.loads(report.readline())["IOPS last"])


TOOLS = {"iozone": iozone, "fio": fio, "elbencho": elbencho, "ior": ior}
WINDOW_OF = {"iozone": "children", "fio": "children", "elbencho": "full", "ior": "full"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="cluster-iobench, built as released")
    parser.add_argument("--tool", action="append", default=[], metavar="NAME=PROGRAM", help="a tool that is not in PATH")
    parser.add_argument("--directory", default="/dev/shm", help="where the files go: tmpfs (default %(default)s)")
    parser.add_argument("--size", default="256m", help="bytes per lane (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="default %(default)s")
    parser.add_argument("--lanes", type=many_lanes.numbers, default=[1, 2], metavar="N,N…", help="default 1,2")
    args = parser.parse_args()
    rows = [(*kind, lanes) for kind in KINDS for lanes in args.lanes]

    given = dict(each.split("=", 1) for each in args.tool)
    others = {name: found for name in TOOLS if (found := given.get(name) or shutil.which(name))}

    figures = {}
    with tempfile.TemporaryDirectory(dir=args.directory, prefix="iobench-peers-") as folder:
        files = many_lanes.write_files(folder, args.size, max(args.lanes))
        for number in range(args.rounds):
            for row in rows:
                for window, rate in ours(args.program, files, args.size, *row).items():
                    figures.setdefault((row, window), []).append((rate or 0) / 1e3)
                for name, program in others.items():
                    figures.setdefault((row, name), []).append(TOOLS[name](program, files, args.size, *row) / 1e3)
            print(f"round {number + 1} of {args.rounds} done", file=sys.stderr)

    print(f"| lanes | | ours, thousand ops/s | {' | '.join(f'ours / {name}' for name in others)} |")
    print("|---|---|---|" + "---|" * len(others))
    behind = []
    for row in rows:
        record, order, lanes = row
        ratios = []
        for name in others:
            pairs = [a / b for a, b in zip(figures[row, WINDOW_OF[name]], figures[row, name]) if b > 0]
            if not pairs:  # IOzone and IOR print 0 for a pass that is too short for them
                ratios.append("-")
                continue
            ratio = statistics.median(pairs)
            ratios.append(f"{ratio:.2f}")
            if ratio < 1:
                behind.append(f"{name} is ahead: {order} {record}, {lanes} lanes: {ratio:.3f}")
        print(f"| {lanes} | {order.replace('-', ' ')} {record} | {statistics.median(figures[row, 'children']):.0f} | {' | '.join(ratios)} |")
    for each in behind:
        print(each)
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
