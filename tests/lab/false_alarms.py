#!/usr/bin/env python3
"""Runs validate repeatedly on a correct deployment in the lab, and counts the verdicts of each check.

    CLUSTER_IOBENCH=build/release/cluster-iobench tests/lab/false_alarms.py --runs 20 --nfs 4.2 -- --whole --names 4000

Arguments after `--` go to validate. Unless --no-fault is given, each run cuts the power of the server, whose export is `sync`.
Prints a line for each check that did not always pass (the table "False alarms" of docs/validate.md), and exits with 1 if a
check failed. It has the same requirements as the tests of the lab.
"""

import argparse
import collections
import contextlib
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import deployment  # noqa: E402
import lab as nfs_lab  # noqa: E402

# For a whole set of checks on a shared machine.
PATIENCE_S = 1800
OPTIONS = {"4.2": deployment.V4, "3": deployment.V3}


def one_run(lab, number, version, words, with_fault, folder):
    """Returns the verdict and the findings of each check."""
    with contextlib.ExitStack() as ended, deployment.Deployment(lab, f"run-{number}", folder) as made:
        ended.callback(lab.run, nfs_lab.SERVER, ["rm", "-rf", made.on_server])
        made.mount_all(OPTIONS[version])
        if version == "3" and with_fault:
            made.remember_locks_of_v3()
        cut = made.cut_power_and_notify if version == "3" else made.cut_power
        with open(folder / "checks.txt", "w", encoding="utf-8") as printed, contextlib.redirect_stdout(printed):
            return made.validate(*words, fault=cut if with_fault else None, patience_s=PATIENCE_S)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="default %(default)s")
    parser.add_argument("--nfs", choices=OPTIONS, default="4.2", help="NFS version (default %(default)s)")
    parser.add_argument("--no-fault", action="store_true", help="do not cut the server's power")
    parser.add_argument("words", nargs="*", help="options of validate")
    args = parser.parse_args()

    verdicts = collections.defaultdict(collections.Counter)
    found = collections.defaultdict(set)
    logs = pathlib.Path(tempfile.mkdtemp(prefix="cluster-iobench-false-alarms-"))
    with nfs_lab.NfsLab(logs, disk_mb=1024) as lab:
        deployment.serve_and_join(lab)
        for number in range(1, args.runs + 1):
            folder = logs / f"run-{number}"
            folder.mkdir()
            begin = time.monotonic()
            for name, check in one_run(lab, number, args.nfs, args.words, not args.no_fault, folder).items():
                verdicts[name][check["verdict"]] += 1
                if check["verdict"] not in ("pass", "skipped"):
                    found[name].add(check["found"])
            print(f"run {number} of {args.runs}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)
    shutil.rmtree(logs)

    for name, counts in verdicts.items():
        if set(counts) != {"pass"}:
            print(f"{name}: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}")
            for text in sorted(found[name]):
                print(f"    {text}")
    failed = sum(counts["fail"] for counts in verdicts.values())
    print(f"{args.runs} runs over NFSv{args.nfs}, {len(verdicts)} checks, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
