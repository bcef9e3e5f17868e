#!/usr/bin/env python3
"""Measures `report DIR` for every format on a large saved run, and prints a table for docs/performance.md.

    tests/perf/report_scale.py --build build/release [--clients 1000 --lanes 8 --phases 20] [--keep DIR] [--formats json,html]

The goal is 2 s for each text format, 5 s for html, and 1 GB, on 2 idle processors. Wall time is that of the whole command;
memory is its peak. "first" is a report without raw/report.cache, which computes every phase from raw data and writes the
cache; the other columns are for later reports.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def formats():
    text = (SOURCE / "coordinator" / "options" / "format_names.h").read_text()
    return re.findall(r'"([a-z0-9-]+)"', text[text.index("kFormatNames[]"):].split(";")[0])


def measure(command, output):
    """Wall time, processor time and peak memory of one process."""
    begin = time.monotonic()
    with open(output, "wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="directory of a build with tests")
    for name, default in (("clients", 1000), ("lanes", 8), ("phases", 20), ("times", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--formats", default="", help="only these, separated by commas; console too")
    parser.add_argument("--keep", type=pathlib.Path, help="where the saved run is kept, or is already")
    options = parser.parse_args()
    program = options.build / "cluster-iobench"
    with tempfile.TemporaryDirectory() as scratch:
        run = options.keep or pathlib.Path(scratch) / "run"
        if not (run / "raw" / "run.pb").exists():
            subprocess.run([options.build / "tests" / "big_run", run, str(options.clients), str(options.lanes),
                            str(options.phases)], check=True)
        raw_bytes = sum(file.stat().st_size for file in (run / "raw").glob("*.pb"))
        print(f"{raw_bytes / 1e6:,.0f} MB of raw data; the best of {options.times} runs\n")
        print("| format | first: wall s | processor s | peak MB | later: wall s | processor s | peak MB | output MB |\n"
              "|---|---|---|---|---|---|---|---|")
        output, printed = pathlib.Path(scratch) / "report", pathlib.Path(scratch) / "printed"
        for name in options.formats.split(",") if options.formats else ["console", *formats()]:
            command = [program, "report", run]
            if name != "console":
                command += ["--format", name, "--output", output, "--force"]
            (run / "raw" / "report.cache").unlink(missing_ok=True)
            figures = [measure(command, printed), min(measure(command, printed) for _ in range(options.times))]
            size = (printed if name == "console" else output).stat().st_size
            print(f"| {name} | " + " | ".join(f"{wall:.2f} | {busy:.2f} | {peak:,.0f}" for wall, busy, peak in figures) +
                  f" | {size / 1e6:,.1f} |", flush=True)


if __name__ == "__main__":
    main()
