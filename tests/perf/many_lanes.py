"""Lanes beside bare loops, fio and IOzone at several numbers of lanes, on the same files, for compare.py --lanes.

The files are written one after the other, in pieces of 1 MiB, and serve every contender: the layout of a file's pages
alone changes a 4 KiB read by up to 20 %. Reads use them with --existing. Rewrites use kept data (-w), whose files are
these, moved to where the run expects them and back. The contenders of a row take turns; figures are medians of ratios
over rounds, with the least and the greatest. With --judge cpu, rates are per second of the lanes' processor time, not
of time: for hosts on which other programs run.
"""
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# order, record, options of ours
ROWS = [("read", "4k", ()), ("random-read", "4k", ()), ("read", "1m", ()), ("rewrite", "4k", ()),
        ("rewrite", "4k", ("--data", "same"))]
FIO_MODES = {"read": "read", "random-read": "randread", "rewrite": "write"}
START_AFTER_NS = 100_000_000    # by then, all bare loops have been started
PIECE_BYTES = 1 << 20


def bytes_of(size):
    return int(size[:-1]) * {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[size[-1]]


def write_files(folder, size, count):
    """IOzone expects the data that it would have written, which are blanks; IOR's file names end in the rank."""
    files = [f"{folder}/file.{number:08}" for number in range(count)]
    for file in files:
        with open(file, "wb", buffering=0) as out:
            for _ in range(bytes_of(size) // PIECE_BYTES):
                out.write(b" " * PIECE_BYTES)
    return files


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


class Ours:
    """One program with one way to run lanes. `lane_options`: from the number of lanes."""

    def __init__(self, title, program, lane_options, folder, args):
        self.title, self.program, self.lane_options, self.args = title, program, lane_options, args
        self.folder = tempfile.mkdtemp(dir=folder, prefix="ours-")
        self.kept = {}  # number of lanes -> files of the run that is kept

    def phase(self, options):
        out = f"{self.folder}/out"
        run([self.program, "-s", self.args.size, "--out", out, "--force", *options])
        with open(f"{out}/result.json", encoding="utf-8") as report:
            return json.load(report)["phases"][-1]

    def rate(self, row, files):
        order, record, more = row
        options = ["--op", order, "-r", record, "--time", str(self.args.seconds), *self.lane_options(len(files)), *more]
        if order != "rewrite":
            phase = self.phase([*options, *(word for file in files for word in ("--existing", file))])
        else:
            phase = self.rewrite(options, files)
        if self.args.judge == "cpu":
            return phase["bytes"] / (phase["lanes_cpu_user_s"] + phase["lanes_cpu_system_s"])
        return phase["throughput_bytes_per_s"]["children"]

    def rewrite(self, options, files):
        lanes = len(files)
        path = f"{self.folder}/{lanes}"
        if lanes not in self.kept:
            os.mkdir(path)
            self.phase(["--op", "write", "-w", "-r", "1m", "--path", path, *self.lane_options(lanes)])
            self.kept[lanes] = sorted(pathlib.Path(path, "cluster-iobench.data").glob("lane-*.0"))
        for file, name in zip(files, self.kept[lanes], strict=True):
            os.replace(file, name)
        before = [os.stat(name).st_ino for name in self.kept[lanes]]
        phase = self.phase([*options, "-w", "--path", path])
        if [os.stat(name).st_ino for name in self.kept[lanes]] != before:
            sys.exit(f"{self.title}: the run has not rewritten the files that it was given")
        for file, name in zip(files, self.kept[lanes]):
            os.rename(name, file)
        return phase


class Bare:
    title = "bare"

    def __init__(self, program, args):
        self.program, self.args = program, args

    def rate(self, row, files):
        order, record, _ = row
        start_ns = time.monotonic_ns() + START_AFTER_NS
        how = [str(bytes_of(record)), order, str(self.args.seconds), str(start_ns)]
        loops = [subprocess.Popen([self.program, file, *how], stdout=subprocess.PIPE, text=True) for file in files]
        printed = [loop.communicate()[0].split() for loop in loops]
        if any(loop.returncode != 0 for loop in loops):
            sys.exit(f"{self.program} failed")
        if self.args.judge == "cpu":
            return statistics.harmonic_mean(float(per_cpu_s) for _, per_cpu_s in printed)
        return sum(float(per_s) for per_s, _ in printed)


class Fio:
    """A process per lane, no latency statistics, one clock read now and then, a buffer that stays as it is."""
    title = "fio"

    def __init__(self, program, args):
        self.program, self.args = program, args

    def rate(self, row, files):
        order, record, _ = row
        command = [self.program, "--output-format=json", "--ioengine=psync", "--gtod_reduce=1", "--norandommap=1",
                   "--invalidate=0", f"--size={self.args.size}", f"--bs={record}", f"--rw={FIO_MODES[order]}",
                   "--overwrite=1", "--fallocate=none", "--scramble_buffers=0", "--refill_buffers=0", "--time_based=1",
                   f"--runtime={round(self.args.seconds * 1000)}ms", "--group_reporting=1"]
        for number, file in enumerate(files):
            command += [f"--name=job{number}", f"--filename={file}"]
        text = run(command)
        job = json.loads(text[text.index("{"):])["jobs"][0]
        side = job["write" if order == "rewrite" else "read"]
        if self.args.judge == "cpu":  # job_runtime is the sum over the jobs
            return side["io_bytes"] / ((job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1000)
        return side["bw_bytes"]


class Iozone:
    """One pass over each file. It reads only: its rewrite follows a write of its own, which makes the files anew."""
    title = "IOzone"

    def __init__(self, program, args):
        self.program, self.args = program, args

    def rate(self, row, files):
        import peers
        order, record, _ = row
        if order == "rewrite" or self.args.judge == "cpu":
            return None
        return peers.iozone(self.program, files, self.args.size, record, order, len(files)) * bytes_of(record)


def contenders(args, folder):
    one, each = (lambda lanes: ("-t", str(lanes))), (lambda lanes: ("--spawn", str(lanes), "-t", "1"))
    found = [Bare(args.bare, args),
             Ours("ours, one process", args.program, one, folder, args),
             Ours("ours, a process a lane", args.program, each, folder, args)]
    if args.before:
        found += [Ours("before, one process", args.before, one, folder, args),
                  Ours("before, a process a lane", args.before, each, folder, args)]
    if fio := (None if args.no_fio else shutil.which("fio")):
        found.append(Fio(fio, args))
    if args.iozone:
        found.append(Iozone(args.iozone, args))
    return found


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    load = os.getloadavg()[0]
    return (f"{datetime.date.today()}, {os.cpu_count()} processors ({names[0] if names else os.uname().machine}), "
            f"Linux {os.uname().release}, load {load:.1f} before")


def measure(args, row, files, all_contenders, seconds):
    """Rates by contender; a list each, one figure per round."""
    rates = {each.title: [] for each in all_contenders}
    until = time.monotonic() + seconds
    for number in range(args.rounds):
        if number > 0 and time.monotonic() > until:
            break
        # The one that begins changes from round to round.
        for each in all_contenders[number % len(all_contenders):] + all_contenders[:number % len(all_contenders)]:
            if (rate := each.rate(row, files)) is not None:
                rates[each.title].append(rate)
    return rates


def line_of(row, lanes, rates, titles):
    order, record, more = row
    name = f"{order.replace('-', ' ')} {record}{', ' + ' '.join(more) if more else ''} × {lanes}"
    bare = rates["bare"]
    cells = [f"{statistics.median(bare) / 2**30:.1f} ({len(bare)} rounds)"]
    for title in titles[1:]:
        ratios = sorted(a / b for a, b in zip(rates[title], bare))
        cells.append(f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})" if ratios else "-")
    return f"| {name} | {' | '.join(cells)} |"


def print_table(args):
    """`args`: program, bare, before, iozone, no_fio, directory, size, seconds, rounds, minutes, judge, lanes, rows."""
    # A program before --data same can only write unique data.
    rows = [row for row in ROWS if not args.rows or f"{row[0]}:{row[1]}{':same' if row[2] else ''}" in args.rows]
    if args.before:
        rows = [row for row in rows if not row[2]]
    print(f"{machine()}; {' '.join(sys.argv)}\n")
    with tempfile.TemporaryDirectory(dir=args.directory, prefix="iobench-lanes-") as folder:
        files = write_files(folder, args.size, max(args.lanes))
        all_contenders = contenders(args, folder)
        titles = [each.title for each in all_contenders]
        unit = "GiB per second of processor time" if args.judge == "cpu" else "GiB/s"
        print(f"| | {titles[0]}, {unit} | {' | '.join(titles[1:])} |")
        print("|---|" + "---|" * len(titles), flush=True)
        for row in rows:
            for lanes in args.lanes:
                seconds = args.minutes * 60 / (len(rows) * len(args.lanes))
                rates = measure(args, row, files[:lanes], all_contenders, seconds)
                print(line_of(row, lanes, rates, titles), flush=True)


def numbers(text):
    return [int(each) for each in text.split(",")]


def add_options(parser):
    parser.add_argument("--lanes", type=numbers, metavar="N,N…", help="print the table for these numbers of lanes")
    parser.add_argument("--program", help="cluster-iobench (default: that of --build)")
    parser.add_argument("--bare", help="bare_lane (default: that of --build, otherwise built with c++)")
    parser.add_argument("--before", metavar="PROGRAM", help="an earlier cluster-iobench, to alternate with")
    parser.add_argument("--iozone", metavar="PROGRAM", help="IOzone, for the rows that read")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement (default %(default)s)")
    parser.add_argument("--minutes", type=float, default=60,
                        help="begin no further round of a row after its share of them (default %(default)s)")
    parser.add_argument("--rows", nargs="*", metavar="ORDER:RECORD",
                        help="only these, such as read:1m or rewrite:4k:same")


def find_programs(args, folder):
    """Completes `program` and `bare`; `folder` holds what is built."""
    build = args.build or ""
    args.program = args.program or shutil.which(os.path.join(build, "cluster-iobench"))
    if args.program is None:
        sys.exit("no cluster-iobench: give it with --program or --build")
    if args.bare is None and os.path.exists(os.path.join(build, "bare_lane")):
        args.bare = os.path.join(build, "bare_lane")
    if args.bare is None:
        compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        if compiler is None:
            sys.exit("no bare_lane and no compiler: give one with --bare "
                     "(c++ -O2 -static -o bare_lane tests/perf/bare_lane.cc)")
        args.bare = f"{folder}/bare_lane"
        run([compiler, "-O2", "-o", args.bare, str(pathlib.Path(__file__).with_name("bare_lane.cc"))])
