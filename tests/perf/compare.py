#!/usr/bin/env python3
"""Our lanes against bare loops of the same calls, and against fio where it does the same, on files in memory.

    cmake -S . -B build/perf -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DIOBENCH_PERF=ON
    ninja -C build/perf timed_loop_bench posix_bench uring_bench
    tests/perf/compare.py --build build/perf
    tests/perf/compare.py --lanes 1,4,16 --program build/perf/cluster-iobench     # needs no build of the benchmarks

Every round runs, for each case, a few alternating pairs of the bare loop and our lane (posix_bench, uring_bench) and
then fio with its fastest settings; the figures are medians over the rounds. `CPU` compares processor time per op
instead of wall time: use it when other programs share the machine. Exits with 1 if a limit is missed.

With --lanes, whole programs take turns on the same files, at each of these numbers of lanes: bare loops, our lanes in
one process and a process each, fio if installed, and IOzone if given (many_lanes.py).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import many_lanes

# case -> lowest rate allowed relative to the bare loop; fio, where it has the case, must be slower. None: no limits, shown for
# completeness.
CASES = {
    "4k:read:1": 0.97,
    "4k:pread:1": 0.97,
    "4k:random-read:1": 0.97,
    "4k:rewrite:1": 0.93,
    "4k:repwrite:1": 0.93,
    "1k:read:1": 0.95,
    "1k:random-read:1": 0.95,
    "4k:read:2": 0.97,
    "4k:random-read:2": 0.97,
    "4k:rewrite:2": 0.93,
    "1k:read:2": 0.95,
    "1k:random-read:2": 0.95,
    "4k:random-write:1": None,
    "1m:read:1": None,
    "1m:rewrite:1": None,
    # Against a bare loop whose data are not always the same: it fills its buffer before each write.
    "4k:rewrite:1:posix:fresh": 0.93,
    "64k:rewrite:1:posix:fresh": 0.95,
    "1m:rewrite:1:posix:fresh": 0.95,
    "4k:fread:1": 0.95,
    "4k:refwrite:1": 0.93,         # as rewrite: a bare loop generates no data
    "64k:refwrite:1": 0.95,
    "4k:getc:1": 0.95,
    "4k:putc:1": 0.95,
    "4k:preadv:1": 0.95,
    "4k:repwritev:1": 0.95,
    "64k:read:1:mmap": 0.95,
    "64k:random-read:1:mmap": 0.95,
    "64k:rewrite:1:mmap": 0.95,
    # Reading the clock keeps the processor from overlapping one copy's cache misses with the next one's (85 ns of 500, as
    # much as a fence): this is the cost of a time per op if an op is only a copy of 4 KiB.
    "4k:read:1:mmap": None,
    "4k:random-read:1:uring:32": 0.95,
    "4k:read:1:uring:32": 0.95,
    "4k:rewrite:1:uring:32": 0.93,
    "1m:rewrite:1:uring:32": None,
}
LOOP_LIMIT_NS = 30.0
FIO_MODES = {"read": "read", "random-read": "randread", "rewrite": "write", "random-write": "randwrite",
             "pread": "read", "repwrite": "write"}


def run_loop_bench(build):
    """ns of CPU time per op of the timed loop itself, by benchmark."""
    command = [os.path.join(build, "timed_loop_bench"), "--benchmark_repetitions=9", "--benchmark_format=json",
               "--benchmark_report_aggregates_only=true", "--benchmark_min_time=0.1"]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    return {each["run_name"]: each["per_op"] * 1e9
            for each in report["benchmarks"] if each["aggregate_name"] == "median"}


def run_ours(args, case):
    program = "uring_bench" if ":uring:" in case else "posix_bench"
    command = [os.path.join(args.build, program), "--directory", args.directory, "--file-bytes", args.size,
               "--pairs", str(args.pairs), "--case", case]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def has_fio(case):
    return case.split(":")[1] in FIO_MODES and (case.count(":") == 2 or ":uring:" in case)


def fio_engine(case):
    """fio's fastest options for moving the bytes."""
    if ":uring:" not in case:
        return ["--ioengine=psync"]
    depth = case.split(":")[4]
    return ["--ioengine=io_uring", f"--iodepth={depth}", "--fixedbufs=1", "--registerfiles=1", "--nonvectored=1",
            f"--iodepth_batch_submit={depth}", "--iodepth_batch_complete_min=1",
            f"--iodepth_batch_complete_max={depth}"]


def run_fio(args, case, folder):
    """The same case by fio: threads, no latency statistics, one clock read now and then, constant buffers."""
    record, operation, lanes = case.split(":")[:3]
    command = ["fio", "--name=case", f"--directory={folder}", *fio_engine(case), "--thread=1",
               f"--rw={FIO_MODES[operation]}", f"--bs={record}", f"--size={args.size}", f"--numjobs={lanes}",
               "--group_reporting=1", "--overwrite=1", "--invalidate=0", "--fallocate=none", "--gtod_reduce=1",
               "--norandommap=1", "--scramble_buffers=0", "--refill_buffers=0", "--zero_buffers=1",
               "--time_based=1", f"--runtime={args.fio_seconds}", "--output-format=json"]
    job = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["jobs"][0]
    side = job["read" if "read" in operation else "write"]
    cpu_share = (job["usr_cpu"] + job["sys_cpu"]) / 100.0
    # job_runtime and the ops are both sums over the jobs of a group.
    return {"kops": side["iops"] / 1e3, "cpu_ns_per_op": cpu_share * job["job_runtime"] * 1e6 / side["total_ios"]}


def median_of(rounds, key):
    return statistics.median(each[key] for each in rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", help="build directory with the benchmarks")
    parser.add_argument("--directory", default="/dev/shm", help="where the files go: tmpfs (default %(default)s)")
    parser.add_argument("--size", default="256m", help="bytes per lane (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="at least 7 for figures to quote (default %(default)s)")
    parser.add_argument("--pairs", type=int, default=5, help="pairs per round and case (default %(default)s)")
    parser.add_argument("--fio-seconds", type=int, default=1)
    parser.add_argument("--no-fio", action="store_true")
    parser.add_argument("--judge", choices=("wall", "cpu"), default="wall",
                        help="which ratio the limits apply to, and --lanes shows (default %(default)s)")
    many_lanes.add_options(parser)
    parser.add_argument("cases", nargs="*", help=f"default: {' '.join(CASES)}")
    args = parser.parse_args()
    if args.lanes:
        with tempfile.TemporaryDirectory() as folder:
            many_lanes.find_programs(args, folder)
            many_lanes.print_table(args)
        return 0
    if not args.build:
        parser.error("--build is needed, or --lanes with --program")
    cases = args.cases or list(CASES)
    missed = []

    print("timed loop on the null engine, ns of CPU per op (limit 30 for sequential and random)")
    for name, ns in run_loop_bench(args.build).items():
        print(f"  {name:26} {ns:6.1f}")
        if name in ("BM_Sequential", "BM_Random") and ns > LOOP_LIMIT_NS:
            missed.append(f"{name}: {ns:.1f} ns")

    ours = {case: [] for case in cases}
    fio = {case: [] for case in cases}
    with tempfile.TemporaryDirectory(dir=args.directory, prefix="iobench-compare-") as folder:
        for number in range(args.rounds):
            for case in cases:
                ours[case].append(run_ours(args, case))
                if not args.no_fio and has_fio(case):
                    fio[case].append(run_fio(args, case, folder))
            print(f"round {number + 1} of {args.rounds} done", file=sys.stderr)

    print("\nthousand ops/s, and ratios by wall time and by CPU time")
    print(f"{'case':24}{'bare':>7}{'ours':>7}{'fio':>7} |{'ours/bare':>10}{'CPU':>7}{'limit':>7} |{'ours/fio':>9}{'CPU':>7}")
    for case in cases:
        limit = CASES.get(case)
        ratio, cpu_ratio = median_of(ours[case], "ratio"), median_of(ours[case], "cpu_ratio")
        judged = cpu_ratio if args.judge == "cpu" else ratio
        if limit and judged < limit:
            missed.append(f"{case}: {judged:.3f} of the bare loop, limit {limit}")
        against_fio, fio_kops = "", "-"
        if fio[case]:
            fio_kops = f"{median_of(fio[case], 'kops'):.0f}"
            pairs = list(zip(ours[case], fio[case]))
            over_fio = statistics.median(a["kops"] / b["kops"] for a, b in pairs)
            cpu_over_fio = statistics.median(b["cpu_ns_per_op"] / a["cpu_ns_per_op"] for a, b in pairs)
            against_fio = f"{over_fio:9.2f}{cpu_over_fio:7.2f}"
            if limit and (cpu_over_fio if args.judge == "cpu" else over_fio) <= 1.0:
                missed.append(f"{case}: behind fio ({over_fio:.3f}, CPU {cpu_over_fio:.3f})")
        print(f"{case:24}{median_of(ours[case], 'bare_kops'):7.0f}{median_of(ours[case], 'kops'):7.0f}{fio_kops:>7} |"
              f"{ratio:10.3f}{cpu_ratio:7.3f}{limit or '-':>7} |{against_fio}")
    for each in missed:
        print(f"MISSED {each}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
