#!/usr/bin/env python3
"""The cost of the coordinator with many clients: runs `selftest --simulate N` for several N, and prints the table and the
plot of docs/scaling.md.

    tests/perf/scale.py build/release/cluster-iobench [--workers 100,500,1000] [--phases 5] [--insecure] [--threads] [--mpi 64,128]

Everything runs on this host: the simulated clients use its processors too. Run nothing else meanwhile. --mpi measures ranks of
an oversubscribed MPI instead, whose processor time is not separated from the coordinator's. --threads also prints what each
of the coordinator's threads takes per worker and phase: what one thread takes cannot be spread over processors.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

COLUMNS = ("workers", "join s", "fixed cost of a phase s", "per worker us", "CPU per worker us", "memory MiB",
           "prepare", "clocks", "arm", "wait", "collect", "check", "analyse", "save")
UNITS = {"B": 1 / 2**20, "KiB": 1 / 2**10, "MiB": 1, "GiB": 2**10}


def figures_of(count, text):
    def number(pattern):
        return float(re.search(pattern, text)[1])

    memory, unit = re.search(r"([\d.]+) (\w+) of memory at most", text).groups()
    parts = dict(part.split() for part in re.search(r"its parts, medians +(.*) ms", text)[1].split(", "))
    fixed_s = number(r"fixed cost of a phase +median ([\d.]+) ms") / 1e3
    return {"workers": count, "join s": number(r"join +([\d.]+) ms") / 1e3, "fixed cost of a phase s": fixed_s,
            "per worker us": fixed_s / count * 1e6, "CPU per worker us": number(r"coordinator +([\d.]+) us"),
            "memory MiB": float(memory) * UNITS[unit],
            **{name: float(value) / 1e3 for name, value in parts.items()},
            "silent": int(number(r"silent workers +(\d+)"))}


def thread_times_s(pid):
    """thread -> (name, processor time) of a process, which may end meanwhile."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
        try:
            name = "main" if task.name == str(pid) else (task / "comm").read_text().strip()
            found[task.name] = name, int((task / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            pass
    return found


def measure(command, count, phases):
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begun = subprocess.Popen([*command, "--phases", str(phases)], stdout=out, stderr=err)
        threads = {}
        while begun.poll() is None:
            threads.update(thread_times_s(begun.pid))
            time.sleep(0.05)
        out.seek(0), err.seek(0)
        text, problems = out.read(), err.read()
    if begun.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {begun.returncode}\n{text}{problems}")
    if problems:
        print(problems, file=sys.stderr, end="")
    return figures_of(count, text) | {"threads": sorted(threads.values(), key=lambda each: -each[1])}


def print_threads(row, phases):
    """Of a thread, with what joining took."""
    print(f"\n{row['workers']:,} workers: us of processor time per worker and phase, joining included")
    for name, seconds in row["threads"]:
        if (us := seconds * 1e6 / row["workers"] / phases) >= 1:
            print(f"  {us:6.0f}  {name}")


def print_table(rows):
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for row in rows:
        cells = [f"{row['workers']:,}"]
        for name in COLUMNS[1:]:
            decimals = 0 if "us" in name or "MiB" in name else 2 if row[name] >= 0.1 else 3
            cells.append(f"{row[name]:,.{decimals}f}")
        print("| " + " | ".join(cells) + " |")


def print_plot(rows, names=("per worker us", "CPU per worker us"), width=60):
    """Prints a bar per figure: a cost that does not grow with the cluster has bars of equal length."""
    most = max(row[name] for row in rows for name in names)
    for name in names:
        print(f"\n{name}, per phase")
        for row in rows:
            print(f"{row['workers']:>7,} {'#' * max(1, round(width * row[name] / most))} {row[name]:,.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--workers", default="100,500,1000,2000,5000,10000")
    parser.add_argument("--phases", type=int, default=5)
    parser.add_argument("--insecure", action="store_true", help="without TLS")
    parser.add_argument("--threads", action="store_true", help="also the processor time of each thread")
    parser.add_argument("--mpi", default="", help="numbers of MPI ranks to measure instead")
    options = parser.parse_args()
    program = options.program.resolve()
    rows = []
    for count in map(int, (options.mpi or options.workers).split(",")):
        if options.mpi:
            command = ["mpirun", "--oversubscribe", "-np", str(count), program, "selftest"]
            if os.geteuid() == 0:
                command.insert(1, "--allow-run-as-root")
        else:
            command = [program, "selftest", "--simulate", str(count), *(["--insecure"] if options.insecure else [])]
        rows.append(measure(command, count, options.phases))
        print(f"{count}: fixed cost {rows[-1]['fixed cost of a phase s']:.3f} s", file=sys.stderr)
    print_table(rows)
    print("\n```", end="")
    print_plot(rows)
    print("```")
    for row in rows if options.threads else []:
        print_threads(row, options.phases)
    if any(row["silent"] for row in rows):
        sys.exit("workers were reported as silent although they were not")


if __name__ == "__main__":
    main()
