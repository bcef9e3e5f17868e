#!/usr/bin/env python3
"""MPI-IO by cluster-iobench and by IOR, in MiB/s of the ops alone: without open, close and flush.

    tests/perf/mpi_io.py --program build/release/cluster-iobench --ior /opt/ior/bin/ior
    tests/perf/mpi_io.py --program … --ior … --ranks 4 --directory /scratch --rounds 11 --romio

The two take turns, and so does which of them is first; each figure is a median over the rounds, and so is the ratio of the two
in a round. IOR makes its file anew for each write, so new files are compared; reads are of the file that the same tool has
just written. Both write one buffer again and again, and divide all bytes by the time of the slowest rank's ops. Below the table
are the geometric means of the ratios, with their standard errors.
"""
import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

MPI_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MIB = 1 << 20
# Name, our options, IOR's options for transfers of `t` in blocks of `b`.
LAYOUTS = {
    "an extent per rank": ([], lambda t, b: ["-b", f"{b}m", "-s", "1"]),
    "records alternate": (["--interleaved"], lambda t, b: ["-b", t, "-s", str(b * MIB // bytes_of(t))]),
}


def bytes_of(size):
    return int(size[:-1]) << {"k": 10, "m": 20}[size[-1]]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **MPI_ROOT})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


# Each returns MiB/s by operation.

def ours(options, mpirun, record, layout, collective, directory):
    with tempfile.TemporaryDirectory() as scratch:
        out = f"{scratch}/out"
        run([*mpirun, options.program, "--engine", "mpiio", "-t", "1", "--path", directory, "--op", "write,read", "-+n", "--cold=0", "--data", "same",
             "-r", record, "-s", f"{options.size_mib}m", "-+V", "-x", "--out", out, *LAYOUTS[layout][0],
             *(["--collective"] if collective else [])])
        with open(f"{out}/result.json", encoding="utf-8") as report:
            phases = json.load(report)["phases"]
    return {phase["name"]: phase["bytes"] / phase["regions_max_s"]["ops"] / MIB for phase in phases}


def ior(options, mpirun, record, layout, collective, directory):
    rates = {}
    file = f"{directory}/ior"
    for operation, words in [("write", ["-w"]), ("read", ["-r", "-E"])]:
        with tempfile.NamedTemporaryFile() as summary:
            run([*mpirun, options.ior, "-a", "MPIIO", "-t", record, *LAYOUTS[layout][1](record, options.size_mib), "-o", file, "-k",
                 "-O", f"summaryFormat=JSON,summaryFile={summary.name}", *words, *(["-c"] if collective else [])])
            result = json.load(open(summary.name, encoding="utf-8"))["tests"][0]["Results"][0]
        result = result[0] if isinstance(result, list) else result
        rates[operation] = options.ranks * options.size_mib / result["wrRdTime"]
    os.remove(file)
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--ior", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--size-mib", type=int, default=256, help="per rank")
    parser.add_argument("--record", action="append", help="default: 1m")
    parser.add_argument("--directory", default="/dev/shm", help="a directory in it is made, and removed")
    parser.add_argument("--romio", action="store_true", help="Open MPI's other component")
    options = parser.parse_args()
    mpirun = ["mpirun", "--oversubscribe", "-np", str(options.ranks), *(["--mca", "io", "romio321"] if options.romio else [])]
    directory = tempfile.mkdtemp(prefix="mpi-io-", dir=options.directory)
    print("record  layout              calls        op     ours MiB/s  IOR MiB/s  ratio  quartiles")
    of_all = {"write": [], "read": []}
    try:
        for record in options.record or ["1m"]:
            for layout in LAYOUTS:
                for collective in (False, True):
                    rounds = []
                    for number in range(options.rounds):
                        pair = [(tool, tool(options, mpirun, record, layout, collective, directory))
                                for tool in ((ours, ior) if number % 2 == 0 else (ior, ours))]
                        rounds.append(dict(pair))
                    for operation in ("write", "read"):
                        mine, theirs = ([each[tool][operation] for each in rounds] for tool in (ours, ior))
                        ratios = [a / b for a, b in zip(mine, theirs)]
                        of_all[operation] += ratios
                        low, _, high = statistics.quantiles(ratios, n=4)
                        print(f"{record:6}  {layout:18}  {'collective' if collective else 'independent':11}  {operation:5}  "
                              f"{statistics.median(mine):10,.0f}  {statistics.median(theirs):9,.0f}  "
                              f"{statistics.median(ratios):.3f}  {low:.3f} to {high:.3f}", flush=True)
        for operation, ratios in of_all.items():
            # The arithmetic mean of noisy ratios is too high.
            error = statistics.stdev(map(math.log, ratios)) / len(ratios) ** 0.5
            print(f"{operation}: mean {statistics.geometric_mean(ratios):.3f} ± {100 * error:.1f} % of {len(ratios)} rounds")
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
