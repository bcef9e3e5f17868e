#!/usr/bin/env python3
"""Makes limits in the lab, each several times, and counts what `explain` names.

    CLUSTER_IOBENCH=build/release/cluster-iobench tests/lab/limits.py --runs 5 [--only "part of a name"]

Prints the table "Tested in the lab" of docs/explain.md: for each limit how often the first name was right, another limit that the
row allows, unknown, or wrong. Exits with 1 if a name was wrong. It has the same requirements as the tests of the lab.
A row's `right` are the names of what was made; `fair` are true besides, as the lab's hosts have one slow processor each.
"""

import argparse
import collections
import contextlib
import dataclasses
import itertools
import pathlib
import shutil
import sys
import tempfile
import traceback
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lab as nfs_lab  # noqa: E402
from cluster_run import with_sampler  # noqa: E402
from limit_makers import (  # noqa: E402
    DISK_MS, LINK_BYTES_PER_S, MANY_THREADS, SLOW_LINK_BYTES_PER_S, busy_processor, dirty_limit, few_slots, freezing, load_from, nfsd_threads, read_ahead)
from slow_disk import mounted, slow_disk  # noqa: E402

HERE = "/run/limits"  # on each client, where a row mounts
FAST = "fast"  # the server's tmpfs
BUSY = {"client-cpu", "server-cpu", "memory-copy", "one-processor"}  # of the lab's hosts
DIRECT = "-i 0 -+n -I -r 16k -s 256k --time 3 -t 4"
SYNC = "-i 0 -+n -o -r 16k -s 64k --time 3 -t 4"
READ = "-i 0 -i 1 -+n -I -r 16k -s 256k --time 3"


@dataclasses.dataclass
class Made:
    """What a row made: where its run works, and the clients of it (None: all)."""

    path: str
    clients: typing.Optional[list] = None


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    words: str
    make: typing.Callable  # of (lab, ended): returns Made
    right: frozenset
    fair: frozenset = frozenset()
    phase: str = ""  # all of its run, if empty


ROWS = []


def row(name, words, right, fair=(), phase=""):
    def add(make):
        ROWS.append(Row(name, words, make, frozenset(right), frozenset(fair), phase))
        return make
    return add


def fast(lab):
    lab.run(nfs_lab.SERVER, f"mkdir -p {nfs_lab.EXPORT}/{FAST}")
    return f"{nfs_lab.MOUNT_POINTS['4.2']}/{FAST}"


def slow_place(lab, ended, options="vers=4.2", threads=MANY_THREADS):
    directory = ended.enter_context(slow_disk(lab, DISK_MS, visible=False))
    ended.enter_context(nfsd_threads(lab, threads))
    return ended.enter_context(mounted(lab, options, directory, HERE))


@row("nothing: four lanes on a fast file system", DIRECT, (), BUSY)
def nothing(lab, _):
    return Made(fast(lab))


@row("nothing: reads with read-ahead", "-i 0 -i 1 -+n -r 64k -s 4m --cold --time 3 -t 1", (), BUSY | {"cache"}, "read")
def nothing_buffered(lab, _):
    return Made(fast(lab))


@row("nothing: writes to memory, shorter than a second", "-i 0 -+n -r 64k -s 1m -t 2", (), BUSY | {"cache", "data-work"})
def nothing_short(lab, _):
    return Made(fast(lab))


@row("full link of the server, 8 lanes", DIRECT, {"network", "server-network"})
@row("full link of the server, without the first ops", f"{DIRECT} --warmup 1", {"network", "server-network"})
@row("full link of the server, flushed writes", "-i 0 -+n -c -e -r 64k -s 2m -t 4", {"network", "server-network"}, {"dirty-limit"})
@row("full link of the server, after fewer lanes", "-i 0 -+n -I -r 16k -s 256k --time 3 -t 1 -t 2 -t 4", {"network", "server-network"})
def full_link(lab, ended):
    ended.enter_context(lab.limit_to(nfs_lab.SERVER, LINK_BYTES_PER_S))
    return Made(fast(lab))


@row("full link of the server, one lane", "-i 0 -+n -I -r 16k -s 256k --time 3 -t 1", {"network", "server-network"})
def full_link_one_lane(lab, ended):
    ended.enter_context(lab.limit_to(nfs_lab.SERVER, LINK_BYTES_PER_S))
    return Made(fast(lab), lab.clients[:1])


@row("full link of the client", f"{READ} -t 4", {"network", "client-network"}, phase="read")
def full_client_link(lab, ended):
    ended.enter_context(lab.limit_to(lab.clients[0], LINK_BYTES_PER_S))
    return Made(fast(lab), lab.clients[:1])


@row("one client with a slow link", f"{READ} -t 1", {"slow-client"}, {"client-cpu"}, "read")
def slow_client(lab, ended):
    ended.enter_context(lab.limit_to(lab.clients[0], SLOW_LINK_BYTES_PER_S))
    return Made(fast(lab))


@row("server frozen for 2 s of 5 s", "-i 0 -+n -I -r 16k -s 256k --time 5 -t 4", {"stalls"})
def frozen_server(lab, ended):
    path = fast(lab)
    ended.enter_context(freezing(lab, f"{nfs_lab.EXPORT}/{FAST}", for_s=2))
    return Made(path)


@row("busy processor of the client", "-i 0 -+n -I -r 64k -s 1m --time 3 -t 1", {"client-cpu"}, BUSY)
def busy_client(lab, ended):
    ended.enter_context(busy_processor(lab, lab.clients[0], nice=-15))
    return Made(fast(lab), lab.clients[:1])


@row("reads from the client's memory", "-i 0 -i 1 -+n -o -r 4m -s 8m --time 3 -t 1", {"memory-copy", "cache"}, BUSY, "read")
def from_memory(lab, _):
    return Made(fast(lab))


@row("two slots of a session", SYNC, {"slots"}, {"sync-writes", "server-delay"})
def two_slots(lab, ended):
    ended.enter_context(few_slots(lab, "4.2"))
    return Made(slow_place(lab, ended))


@row("wsize of 4 KiB", "-i 0 -+n -I -r 64k -s 1m --time 3 -t 1", {"transfer-size"}, BUSY)
def small_requests(lab, ended):
    fast(lab)
    return Made(ended.enter_context(mounted(lab, "vers=4.2,wsize=4096", FAST, HERE)))


@row("slow storage, synchronous writes", SYNC, {"sync-writes"}, {"server-delay", "lanes"})
@row("slow storage, a commit for each write", SYNC.replace("-r 16k -s 64k", "-r 256k -s 256k"), {"commit"}, {"sync-writes", "server-delay", "lanes"})
@row("slow storage, names in one directory", "--op create --items 32 --shared-directory -t 4", {"one-directory"})
@row("slow storage, names in own directories", "--op create --items 32 -t 2", {"server-delay", "lanes"}, {"commit"})
def slow_storage(lab, ended):
    return Made(slow_place(lab, ended))


@row("slow storage, one lane", "--op create --items 64 -t 1", {"server-delay", "lanes"})
def slow_storage_one_lane(lab, ended):
    return Made(slow_place(lab, ended), lab.clients[:1])


@row("one nfsd thread", SYNC, {"nfsd-threads"}, {"sync-writes", "server-delay"})
def one_thread(lab, ended):
    return Made(slow_place(lab, ended, threads=1))


@row("slow disk of the server", DIRECT, {"server-disk"}, {"sync-writes", "server-delay"})
def disk(lab, ended):
    directory = ended.enter_context(slow_disk(lab, 30, visible=True))
    return Made(ended.enter_context(mounted(lab, "vers=4.2", directory, HERE)))


@row("a pace", "-i 0 -+n -I -r 16k -s 64k -+O 5 --time 3 -t 1", {"pace"})
@row("think time", "-i 0 -+n -I -r 16k -s 64k -J 40 --time 3 -t 1", {"think-time"})
@row("think time that counts", "-i 0 -+n -I -r 16k -s 64k -J 40 -+J --time 3 -t 1", {"think-time"})
def plan_pauses(lab, _):
    return Made(fast(lab))


@row("read-ahead of 16 KiB", "-i 0 -i 1 -+n -r 4k -s 4m --cold --time 3 -t 1", {"read-ahead"}, BUSY | {"server-delay"}, "read")
def little_read_ahead(lab, ended):
    fast(lab)
    place = ended.enter_context(mounted(lab, "vers=4.2", FAST, HERE))
    ended.enter_context(read_ahead(lab, place, 16))
    return Made(place)


@row("little memory for unwritten data", "-i 0 -+n -c -e -r 64k -s 4m -t 1", {"dirty-limit", "network"}, {"server-network"})
def little_dirty(lab, ended):
    ended.enter_context(lab.limit_to(nfs_lab.SERVER, LINK_BYTES_PER_S))
    ended.enter_context(dirty_limit(lab, 512 << 10))
    return Made(fast(lab))


@row("another client's load on a full link", DIRECT, {"other-load"}, {"network", "server-network"})
def other_load(lab, ended):
    path = fast(lab)
    ended.enter_context(lab.limit_to(nfs_lab.SERVER, LINK_BYTES_PER_S))
    ended.enter_context(load_from(lab, lab.clients[1], FAST))
    return Made(path, lab.clients[:1])


def names_of(lab, row_, folder):
    """Runs a row once. Returns the names of the limits of its phases, those of the last phase first, and their evidence."""
    with contextlib.ExitStack() as ended:
        made = row_.make(lab, ended)
        result = with_sampler(lab, made.path, folder, row_.words, clients=made.clients)
    named = [phase for phase in reversed(result["phases"]) if row_.phase in ("", phase["name"])]
    why = [limit for phase in named for limit in phase["why"]]
    return list(dict.fromkeys(limit["name"] for limit in why)), " | ".join(limit["evidence"] for limit in why)


def verdict(row_, names):
    """Of a row's names in one run. A wrong second name is wrong, too."""
    if not names:
        return "unknown"
    if set(names) - row_.right - row_.fair:
        return "wrong"
    return "right" if set(names) & row_.right else "fair"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="of each limit (default %(default)s)")
    parser.add_argument("--keep", type=pathlib.Path, help="copy the results there")
    parser.add_argument("--only", default="", help="limits with this in their names")
    args = parser.parse_args()

    rows = [each for each in ROWS if args.only in each.name]
    counts = collections.defaultdict(collections.Counter)
    said = collections.defaultdict(collections.Counter)
    logs = pathlib.Path(tempfile.mkdtemp(prefix="cluster-iobench-limits-"))
    with nfs_lab.NfsLab(logs) as lab:
        for number, each in itertools.product(range(args.runs), rows):
            try:
                names, evidence = names_of(lab, each, logs / f"{number}-{rows.index(each)}")
            except nfs_lab.LabError:
                counts[each.name]["failed"] += 1
                traceback.print_exc()
                continue
            counts[each.name][verdict(each, names)] += 1
            said[each.name][", ".join(names) or "unknown"] += 1
            print(f"{each.name}: {verdict(each, names)}: {names} {evidence}", file=sys.stderr, flush=True)
    if args.keep:
        shutil.copytree(logs, args.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.log"))
    shutil.rmtree(logs)

    print("| limit | right | fair | unknown | wrong | named |\n|---|---|---|---|---|---|")
    for each in rows:
        count = counts[each.name]
        named = "; ".join(f"{names} ({times})" for names, times in said[each.name].most_common())
        print(f"| {each.name} | {count['right']} | {count['fair']} | {count['unknown']} | {count['wrong']} | {named} |")
    total = sum(counts.values(), collections.Counter())
    print(f"\n{dict(total)}")
    return 1 if total["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
