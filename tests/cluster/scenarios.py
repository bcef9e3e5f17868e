"""The runs that every transport must do alike, one row each with four lanes, and checks of their reports."""
import dataclasses
from typing import Callable, Optional

from report_checks import before_a_repeated_start, check_csv, check_report, lanes_of, prepared_tree

LANES = 4
KIB = 1024
ALL_OPERATIONS = ("write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read",
                  "record-rewrite", "stride-read", "random-mix", "pwrite", "repwrite", "pread", "repread")


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    options: tuple
    phases: tuple
    ops_per_lane: Optional[int] = 64         # in every phase, 256 KiB in all; None: limited by time
    check: Callable = lambda outcome: None

    def __str__(self):
        return self.name


def options(text):
    return tuple(text.split())


def regions_are(**by_operation):
    """The region that each operation's headline covers, such as write="ops+close"."""
    def check(outcome):
        for operation, region in by_operation.items():
            assert outcome.phase(operation)["headline"]["region"] == region
    return check


def stonewalls_are(**by_operation):
    def check(outcome):
        for operation, kind in by_operation.items():
            assert outcome.phase(operation)["stonewall"]["kind"] == kind
    return check


def both(*checks):
    def check(outcome):
        for one in checks:
            one(outcome)
    return check


def marked(operation, code):
    def check(outcome):
        assert code in {mark["code"] for mark in outcome.phase(operation)["marks"]}
    return check


def not_marked(operation, code):
    def check(outcome):
        assert code not in {mark["code"] for mark in outcome.phase(operation)["marks"]}
    return check


def one_shared_file(outcome):
    for phase in outcome.phases:
        assert len({lane["file"] for lane in lanes_of(phase)}) == 1


# A retroactive stonewall ends with the first lane's last op, so no close can lie before it: the region of reads is "ops"
# unless -x asks for the whole phase.


def own_files(outcome):
    for phase in outcome.phases:
        assert len({lane["file"] for lane in lanes_of(phase)}) == LANES


def mixed_per_op(outcome):
    kinds = outcome.phase("random-mix")["by_kind"]
    assert kinds["read"]["ops"] + kinds["write"]["ops"] == LANES * 64
    # 256 draws at 75 %: mean 192, standard deviation 7.
    assert 142 < kinds["read"]["ops"] < 242
    assert kinds["read"]["bytes"] == kinds["read"]["ops"] * 4 * KIB
    assert kinds["write"]["latency_us"]["count"] == kinds["write"]["ops"]


def mixed_by_lane(outcome):
    kinds = outcome.phases[0]["by_kind"]
    assert kinds["read"]["ops"] == kinds["write"]["ops"] == 2 * 64


def timed_with_warmup(outcome):
    phase = outcome.phase("read")
    assert phase["ops"] > LANES * 64, "lanes go round until the time is over"
    assert 0 < phase["latency_us"]["count"] < phase["ops"], "the warm-up is in no figure"
    assert phase["measured_ops"] < phase["ops"]
    assert phase["measured_bytes"] < phase["bytes"]


def ended_early(outcome):
    phase = outcome.phase("read")
    assert 0 < phase["bytes"] < LANES << 40
    assert phase["throughput_bytes_per_s"]["deadline"] > 0


def worn_out(outcome):
    ended_early(outcome)
    lanes = lanes_of(outcome.phase("read"))
    assert len({lane["ops"] for lane in lanes}) == 1, "every lane does as many ops as the fastest had done"


def worn_out_and_flushed(outcome):
    phase = outcome.phase("write")
    assert phase["stonewall"]["kind"] == "flushed"
    lanes = lanes_of(phase)
    assert len({lane["ops"] for lane in lanes}) == 1, "the first lane at the goal stops nobody"
    assert not any(lane["stopped"] for lane in lanes)
    assert phase["throughput_bytes_per_s"]["full"] == phase["headline"]["bytes_per_s"]


def repeated(outcome):
    assert [phase["repetition"] for phase in outcome.phases] == [0, 0, 1, 1, 2, 2]
    by_name = {entry["name"]: entry for entry in outcome.result["repetitions"]}
    for name in ("write", "read"):
        rates = sorted(phase["headline"]["bytes_per_s"] for phase in outcome.phases if phase["name"] == name)
        entry = by_name[name]
        assert entry["count"] == 3 and entry["median"] == rates[1]
        assert entry["low"] == rates[0] and entry["high"] == rates[2]
        assert abs(entry["level_percent"] - 75) < 1e-6      # 1 - 2 / 2^3


def caches_dropped(outcome):
    steps = {step["name"]: step for step in outcome.phase("read")["steps"]}
    assert "drop-caches" in steps, steps
    assert "fadvise" in steps["drop-caches"]["outcome"]


def not_a_file(outcome):
    assert not outcome.data.exists()
    assert all(phase["engine"] == "null" for phase in outcome.phases)


def close_flushes_without_a_mount(outcome):
    """libnfs commits in its close; closing a local file flushes nothing."""
    flushes = outcome.phase("write")["engine"] == "libnfs"
    stonewalls_are(write="flushed" if flushes else "closed")(outcome)
    (not_marked if flushes else marked)("write", "unflushed")(outcome)


def bonnies(outcome):
    updates = outcome.phase("update")["by_kind"]
    assert list(updates) == ["update"] and updates["update"]["ops"] == LANES * 64
    seeks = outcome.phase("seeks")["by_kind"]
    assert seeks["read"]["ops"] + seeks["update"]["ops"] == LANES * 64
    # 256 draws at 10 %: mean 26, standard deviation 5.
    assert 0 < seeks["update"]["ops"] < 61
    assert {phase["engine"] for phase in outcome.phases} == {"stdio", "posix"}


def by_engine(engine):
    def check(outcome):
        assert {phase["engine"] for phase in outcome.phases} == {engine}
    return check


mapped = by_engine("mmap")


ON_NAMES = ("mkdir", "create", "stat", "readdir", "list-long", "find", "open-close", "chmod", "chown", "utimes", "set-xattr",
            "get-xattr", "rename", "link", "symlink", "readlink", "unlink", "rmdir")
# Operations with a cycle, and the kinds of their ops.
CYCLES = {"recreate": {"unlink", "create"}, "replace": {"create", "rename"}, "deliver": {"unlink", "create", "rename"},
          "resize": {"truncate", "extend"}, "reallocate": {"punch-hole", "allocate"}, "copy": {"copy", "rename"},
          "copy-range": {"copy-range", "rename"}}


def each_item_once(outcome):
    """60 items a lane, 15 in each of 4 directories; each phase finds what it needs."""
    for phase in outcome.phases:
        assert phase["metadata"] and phase["tree"]["items_per_lane"] == 60
        assert {lane["ops"] for lane in lanes_of(phase)} == {4 if phase["operation"] in ("readdir", "list-long") else 60}
        assert phase["by_kind"].keys() == {phase["operation"]}
        assert phase["bytes"] == 0
    for phase in before_a_repeated_start(outcome.phases):
        assert prepared_tree(phase) == "the items were as they should be", phase["name"]
    own_files(outcome)


def one_shared_tree(outcome):
    for phase in outcome.phases:
        assert len({lane["file"] for lane in lanes_of(phase)}) == 1
        assert {lane["ops"] for lane in lanes_of(phase)} == {50}
        moved = 3901 * 50 if phase["operation"] in ("create", "open-close") else 0
        assert {lane["bytes"] for lane in lanes_of(phase)} == {moved}


def found_and_read(outcome):
    """Each lane knows the sizes of files that another lane has made."""
    created, find, read = (outcome.phase(name) for name in ("create", "find", "open-close"))
    assert {lane["found_items"] for lane in lanes_of(find)} == {20}, "7, 17, 27 … 197"
    assert find["found_items"] == 20 * len(lanes_of(find)) and "nothing_found" not in str(find["marks"])
    written = {lane["lane"]: lane["bytes"] for lane in lanes_of(created)}
    assert len(set(written.values())) == len(written), "sizes differ from lane to lane"
    for lane in lanes_of(read):
        assert lane["bytes"] == written[lane["file_owner"]] and 200 * 1000 <= lane["bytes"] <= 200 * 3000


def all_verified(outcome):
    for phase in outcome.phases:
        if "read" in phase["operation"]:
            assert phase["verify"]["sectors"] == phase["bytes"] // 512 and phase["verify"]["mismatched"] == 0


def mixed_files(outcome):
    phase = outcome.phase("file-mix")
    assert phase["by_kind"].keys() == {"open-close", "append", "unlink", "create"}
    counts = [kind["ops"] for kind in phase["by_kind"].values()]
    assert max(counts) - min(counts) <= LANES, "a lane is at most in the middle of a round"
    assert phase["ops"] > LANES * 160, "lanes go round until the time is over"
    for phase in before_a_repeated_start(outcome.phases):
        assert prepared_tree(phase).startswith("made what "), "nobody made files before"


def made_anew(outcome):
    """Each cycle of a lane is complete, so that all files are there."""
    (phase,) = outcome.phases
    assert phase["by_kind"].keys() == CYCLES[phase["operation"]]
    counts = [kind["ops"] for kind in phase["by_kind"].values()]
    assert max(counts) - min(counts) <= LANES, "a lane is at most in the middle of a round"


def moved_and_removed(outcome):
    """60 items, 15 in each of 4 directories."""
    moved, removed = outcome.phase("move"), outcome.phase("remove-tree")
    assert moved["by_kind"].keys() == {"rename"} and moved["ops"] % 2 == 0, "each file is back"
    assert removed["by_kind"].keys() == {"unlink", "rmdir"}
    assert {lane["ops"] for lane in lanes_of(removed)} == {60 + 4}
    assert removed["by_kind"]["rmdir"]["ops"] == LANES * 4
    assert prepared_tree(removed) == "the items were as they should be"


def one_file_of_all(outcome):
    """All lanes of all clients work on the items of the first one."""
    opened, locked = outcome.phase("open-many"), outcome.phase("lock")
    for phase in (opened, locked):
        assert {lane["file_owner"] for lane in lanes_of(phase)} == {0} and len({lane["file"] for lane in lanes_of(phase)}) == 1
        assert phase["lanes_failed"] == 0 and not phase["failed_ops"]
    assert all(lane["ops"] > 0 for lane in lanes_of(opened)) and opened["by_kind"].keys() == {"open-close"}
    assert {lane["ops"] for lane in lanes_of(locked)} == {30} and locked["by_kind"].keys() == {"lock"}
    assert locked["between_s"] > 0, "the turns themselves are in no latency"


def on_contents(outcome):
    for phase, moved in zip(outcome.phases, (40 * 3901, 0)):
        assert phase["by_kind"].keys() == {phase["operation"]}
        assert {(lane["ops"], lane["bytes"]) for lane in lanes_of(phase)} == {(40, moved)}


def cut_short(outcome):
    """Later phases work on the files that exist, and finish those that the deadline left undone."""
    created = {lane["lane"]: lane["ops"] for lane in lanes_of(outcome.phase("create"))}
    assert len(set(created.values())) == 1, "every lane makes as many as the fastest had made"
    assert 0 < created[0] < 1_000_000
    unlinked = {lane["lane"]: lane["ops"] for lane in lanes_of(outcome.phase("unlink"))}
    assert unlinked == created


def flushed_after_every(ops, call):
    def check(outcome):
        phase = outcome.phases[0]
        # An NFS client in this process has only COMMIT, and sends it only if something is left to commit.
        call_here = "commit" if phase["engine"] == "libnfs" else call
        calls = phase["by_kind"][call_here]
        assert calls["ops"] == calls["latency_us"]["count"] == LANES * 64 // ops
        assert calls["bytes"] == 0 and calls["ops_per_s"] is None
        assert phase["ops"] == LANES * 64
        of_clients = [client["call_latency_us"][call_here]["count"] for client in phase["clients"]]
        assert sum(of_clients) == calls["ops"]
        assert phase["by_kind"].keys() == {"write", call_here}
    return check


WRITE_READ = ("write", "rewrite", "read", "reread")
SMALL = "-r 4k -s 256k"

SCENARIOS = (
    Scenario("every operation", options("-i0 -i1 -i2 -i3 -i4 -i5 -i8 -i9 -i10 " + SMALL), ALL_OPERATIONS),
    Scenario("operations by name", options("--op random-write --op write --op pread " + SMALL),
             ("random-write", "write", "pread")),
    Scenario("streams", options("-i6 -i7 -c -e " + SMALL), ("fwrite", "refwrite", "fread", "refread"),
             check=both(regions_are(fwrite="ops+fsync+close", fread="ops"),
                        stonewalls_are(fwrite="flushed", fread="retroactive"), not_marked("fwrite", "unflushed"))),
    Scenario("buffers in turn", options("-m -i0 -i1 -i6 -i7 -ce " + SMALL),
             WRITE_READ + ("fwrite", "refwrite", "fread", "refread"), check=own_files),
    Scenario("one shared file whose records take turns, verified", options("-i0 -i1 -i2 -+V --interleaved --verify " + SMALL),
             WRITE_READ + ("random-read", "random-write"), check=both(one_shared_file, all_verified)),
    Scenario("vectors of sixteen records", options("-i11 -i12 " + SMALL),
             ("pwritev", "repwritev", "preadv", "repreadv"), ops_per_lane=4),
    Scenario("Bonnie's operations", options("--op putc --op update --op getc --op seeks " + SMALL),
             ("putc", "update", "getc", "seeks"), check=bonnies),
    Scenario("a sequential mix by lane", options("--op sequential-mix -+p 50 --mix-by-lane " + SMALL),
             ("sequential-mix",), check=mixed_by_lane),
    Scenario("files mapped into memory", options("--engine mmap -i0 -i1 -i2 -i3 -i5 -ce " + SMALL),
             ("write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read", "stride-read"),
             check=mapped),
    Scenario("a queue by io_uring", options("--engine uring --depth 8 -i0 -i1 -i2 -i3 -i5 -ce --verify " + SMALL),
             ("write", "rewrite", "read", "reread", "random-read", "random-write", "backward-read", "stride-read"),
             check=both(by_engine("uring"), regions_are(write="ops+fsync+close", read="ops"))),
    Scenario("a queue by POSIX AIO, in one shared file", options("-H 4 -i0 -i2 -+V -ce " + SMALL),
             ("write", "rewrite", "random-read", "random-write"), check=both(by_engine("posix-aio"), one_shared_file)),
    Scenario("a deep queue by POSIX AIO, for a time", options("-k 16 -i8 --time 0.3 " + SMALL), ("random-mix",),
             ops_per_lane=None, check=by_engine("posix-aio")),
    Scenario("one shared file, mapped", options("--engine mmap -i0 -i2 -+V -ce " + SMALL),
             ("write", "rewrite", "random-read", "random-write"), check=both(mapped, one_shared_file)),
    Scenario("one shared file, by streams", options("-i6 -i7 -+V -+n " + SMALL), ("fwrite", "fread"),
             check=one_shared_file),
    Scenario("nothing timed but the ops", options("-i0 -i1 " + SMALL), WRITE_READ,
             check=both(regions_are(write="ops", read="ops"), marked("write", "unflushed"),
                        stonewalls_are(write="retroactive", read="retroactive"), own_files)),
    Scenario("close and fsync in the timing", options("-i 0 -i 1 -ce " + SMALL), WRITE_READ,
             check=both(regions_are(write="ops+fsync+close", rewrite="ops+fsync+close", read="ops"),
                        stonewalls_are(write="flushed", rewrite="flushed", read="retroactive"),
                        not_marked("write", "unflushed"))),
    Scenario("close in the timing", options("-i 0 -i 1 -c " + SMALL), WRITE_READ,
             check=both(regions_are(write="ops+close", read="ops"), close_flushes_without_a_mount)),
    Scenario("fsync in the timing", options("-i 0 -i 1 --fsync-in-timing " + SMALL), WRITE_READ,
             check=both(regions_are(write="ops+fsync", read="ops"), stonewalls_are(write="flushed"))),
    Scenario("a log, flushed record by record", options("--op append-log --op read " + SMALL), ("append-log", "read"),
             check=both(flushed_after_every(1, "fdatasync"), not_marked("append-log", "unflushed"))),
    Scenario("a flush after every eighth write", options("-i 0 -i 1 -+n --fsync-every 8 " + SMALL), ("write", "read"),
             check=flushed_after_every(8, "fsync")),
    Scenario("hot records, verified", options("-i 0 -i 2 -i 8 -i 1 -+n --access hot:10/90 --verify " + SMALL),
             ("write", "random-read", "random-write", "random-mix", "read"), check=all_verified),
    Scenario("several record sizes, verified", options("-i 0 -i 1 -i 2 -i 8 -+n --verify -r 4k:60,16k:30,64k:10 -s 1m"),
             ("write", "read", "random-read", "random-write", "random-mix"), ops_per_lane=None, check=all_verified),
    Scenario("records in a row, verified", options("-i 0 -i 2 -i 8 -i 1 -+n --burst-records 5 --verify " + SMALL),
             ("write", "random-read", "random-write", "random-mix", "read"), check=all_verified),
    Scenario("open in the timing", options("-i 1 --open-in-timing -+n " + SMALL), ("read",),
             check=regions_are(read="open+ops")),
    Scenario("no stonewall", options("-i 0 -i 1 -x -c -+n " + SMALL), ("write", "read"),
             check=both(stonewalls_are(write="none", read="none"), regions_are(write="ops+close", read="ops+close"))),
    Scenario("stop at the stonewall", options("-i 0 -i 1 --stop-at-stonewall -+n " + SMALL), ("write", "read"),
             ops_per_lane=None, check=stonewalls_are(write="stop", read="stop")),
    Scenario("one shared file", options("-i 0 -i 1 -i 2 -+V -ce " + SMALL),
             WRITE_READ + ("random-read", "random-write"), check=one_shared_file),
    Scenario("four files a lane", options("-i 0 -i 1 -i 2 --files-per-lane 4 " + SMALL),
             WRITE_READ + ("random-read", "random-write"), check=own_files),
    Scenario("the last record is short", options("-i 0 -i 1 -i 2 -i 3 -r 48k -s 256k"),
             WRITE_READ + ("random-read", "random-write", "backward-read"), ops_per_lane=6),
    Scenario("a mix of reads and writes", options("-i 8 -+p 75 " + SMALL), ("random-mix",), check=mixed_per_op),
    Scenario("a mix by lane", options("-i 8 -+p 50 --mix-by-lane " + SMALL), ("random-mix",), check=mixed_by_lane),
    Scenario("a stride of five", options("-i 5 -j 5 " + SMALL), ("stride-read",)),
    Scenario("direct", options("-i 0 -i 1 -I " + SMALL), WRITE_READ, check=not_marked("write", "unflushed")),
    Scenario("synchronous", options("-i 0 -o -+n " + SMALL), ("write",),
             check=both(not_marked("write", "unflushed"), stonewalls_are(write="retroactive"))),
    Scenario("data-synchronous", options("-i 0 -+D -+n " + SMALL), ("write",),
             check=not_marked("write", "unflushed")),
    Scenario("a time with a warm-up", options("-i 1 -+n --time 0.6 --warmup 0.2 " + SMALL), ("read",),
             ops_per_lane=None, check=timed_with_warmup),
    Scenario("a deadline", options("-i 1 -+n --engine null --deadline 0.3 -r 4k -s 1t"), ("read",),
             ops_per_lane=None, check=ended_early),
    Scenario("worn out after a deadline", options("-i 1 -+n --engine null --deadline 0.3 --wear-out -r 4k -s 1t"),
             ("read",), ops_per_lane=None, check=worn_out),
    Scenario("worn out with a timed flush", options("-i 0 -+n -c -e --engine null --deadline 0.3 --wear-out -r 4k -s 1t"),
             ("write",), ops_per_lane=None, check=worn_out_and_flushed),
    Scenario("three repetitions", options("-i 0 -i 1 -+n --repeat 3 " + SMALL), ("write", "read") * 3, check=repeated),
    Scenario("no retests", options("-i 0 -i 1 -i 9 -i 10 -+n " + SMALL), ("write", "read", "pwrite", "pread")),
    Scenario("caches dropped before reads", options("-i 0 -i 1 -+n --drop-caches " + SMALL), ("write", "read"),
             check=caches_dropped),
    Scenario("metadata operations", options(" ".join(f"--op {name}" for name in ON_NAMES) +
                                            " --items 60 --tree-depth 1 --tree-branching 4"),
             ON_NAMES, ops_per_lane=None, check=each_item_once),
    Scenario("one shared tree of small files", options("--op create --op stat --op open-close --op unlink --items 50 "
                                                       "--shared-directory --file-bytes 3901 --random-order"),
             ("create", "stat", "open-close", "unlink"), ops_per_lane=None, check=one_shared_tree),
    Scenario("files of random sizes, found and read by the next client",
             options("--op create --op find --op open-close --items 200 --file-bytes 3000 --min-file-bytes 1000 "
                     "--find-name *7 --rotate-clients"),
             ("create", "find", "open-close"), ops_per_lane=None, check=found_and_read),
    Scenario("a mix of files", options("--op file-mix --time 0.4 --items 40"), ("file-mix",), ops_per_lane=None,
             check=mixed_files),
    *(Scenario(f"files made anew: {operation}", options(f"--op {operation} --time 0.4 --items 40"), (operation,),
               ops_per_lane=None, check=made_anew) for operation in CYCLES),
    Scenario("trees moved about and removed", options("--op create --op move --op remove-tree --op create --items 60 "
                                                      "--tree-depth 1 --tree-branching 4"),
             ("create", "move", "remove-tree", "create"), ops_per_lane=None, check=moved_and_removed),
    Scenario("a file that all lanes open, and one that they lock", options("--op open-many --op lock --items 30"),
             ("open-many", "lock"), ops_per_lane=None, check=one_file_of_all),
    Scenario("contents of small files", options("--op append --op seek-hole --items 40 --file-bytes 3901"),
             ("append", "seek-hole"), ops_per_lane=None, check=on_contents),
    Scenario("files cut short by a deadline", options("--op create --op unlink --items 1000000 --deadline 0.2 --wear-out"),
             ("create", "unlink"), ops_per_lane=None, check=cut_short),
    Scenario("names on the null engine", options("--op create --op stat --engine null --items 100"), ("create", "stat"),
             ops_per_lane=None, check=not_a_file),
    Scenario("the null engine", options("-i 0 -i 2 --engine null " + SMALL),
             ("write", "rewrite", "random-read", "random-write"), check=not_a_file),
)


def may_end_short(phase):
    """A flushed stonewall stops lanes. New files are finished afterwards; existing files are still whole."""
    return phase["stonewall"]["kind"] in ("flushed", "closed") and phase["operation"] not in ("write", "pwrite")


def check_scenario(scenario, outcome, worker_count):
    """Checks what must hold for every run of the scenario, on any transport."""
    result = outcome.expect(0).result
    assert [phase["operation"] for phase in result["phases"]] == list(scenario.phases)
    check_report(result)
    check_csv(outcome)
    assert result["run"]["exit_code"] == 0 and result["run"]["worker_count"] == worker_count
    for phase in result["phases"]:
        lanes = lanes_of(phase)
        assert sorted(lane["lane"] for lane in lanes) == list(range(LANES))
        assert not phase["errors"]
        if may_end_short(phase):
            assert max(lane["ops"] for lane in lanes) == scenario.ops_per_lane, "the first lane did all"
        elif scenario.ops_per_lane is not None:
            assert {lane["ops"] for lane in lanes} == {scenario.ops_per_lane}, phase["name"]
            assert {lane["bytes"] for lane in lanes} == {256 << 10}, phase["name"]
    scenario.check(outcome)
