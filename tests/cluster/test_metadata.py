"""Metadata operations make exactly the system calls they should, and leave the tree as they should."""
import collections
import fcntl
import os
import re
import signal
import subprocess

import program
import pytest
import schema
import strace_log
from report_checks import before_a_repeated_start, lanes_of, prepared_tree
from scenarios import CYCLES, ON_NAMES

pytestmark = pytest.mark.strace

ITEMS = 20
SHAPE = ("--transport", "local", "-t", "1", "--items", str(ITEMS))
CALLS = ("openat,close,read,write,newfstatat,statx,mkdirat,unlinkat,renameat2,renameat,linkat,symlinkat,fchmodat,"
         "lsetxattr,lgetxattr,getdents64,syncfs,fsync,fchownat,utimensat,readlinkat,ftruncate,fallocate,lseek,"
         "copy_file_range,ioctl")


def lane_threads(log, root):
    """For each thread that works on the tree, in the order in which they begin: its calls, as "name first-path"."""
    threads, keepers = collections.OrderedDict(), set()
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in strace_log.joined(text.rstrip("\n") for text in lines):
            match = strace_log.LINE.match(line)
            if not match:
                continue
            thread, name, arguments = match[1], match[2], match[3]
            if "manifest.json" in line:
                keepers.add(thread)
            if not any(word in line for word in (f"{root}/tree-", '"tree-', "user.cluster-iobench")):
                continue
            of_descriptor = name in ("close", "read", "write", "getdents64", "fsync", "syncfs", "ftruncate", "fallocate", "lseek",
                                 "copy_file_range", "ioctl")
            path = re.search(r"^\d+<([^>]*)>" if of_descriptor else r'"([^"]*)"', arguments)[1]
            item = path.rsplit("/", 1)[-1]
            threads.setdefault(thread, []).append((name, item))
    return [calls for thread, calls in threads.items() if thread not in keepers]


@pytest.fixture
def traced(path, tmp_path):
    """A function that runs under strace; it returns the outcome, and the calls of each phase's lane on its tree."""
    def run(*options):
        log = tmp_path / "log"
        # Names of items are short; -s 0 would hide them.
        prefix = ("strace", "-f", "-y", "-s", "80", "-qq", "-e", "signal=none", "-e", f"trace={CALLS}", "-o", str(log))
        outcome = program.run([*SHAPE, *options], path=path, out=tmp_path / "out", prefix=prefix).expect(0)
        root = os.path.realpath(path) + f"/{program.DATA_DIRECTORY}"
        return outcome, lane_threads(log, root)
    return run


def names(word):
    return [f"{word}-{number:08}" for number in range(ITEMS)]


def each(*calls):
    """The calls on every item, in order: ("openat", "item"), ("close", "item")."""
    return [(call, f"{word}-{number:08}") for number in range(ITEMS) for call, word in calls]


EXPECTED = {
    "mkdir": each(("mkdirat", "dir")),
    "create": each(("openat", "item"), ("close", "item")),
    "stat": each(("newfstatat", "item")),
    "open-close": each(("openat", "item"), ("close", "item")),
    "rename": each(("renameat", "item")),
    "link": each(("linkat", "item")),
    "symlink": each(("symlinkat", "item")),
    "set-xattr": each(("lsetxattr", "item")),
    "get-xattr": each(("lgetxattr", "item")),
    "chmod": each(("fchmodat", "item")),
    "chown": each(("fchownat", "item")),
    "utimes": each(("utimensat", "item")),
    "readlink": each(("readlinkat", "symlink")),
    "append": each(("openat", "item"), ("write", "item"), ("close", "item")),
    "unlink": each(("unlinkat", "item")),
    "rmdir": each(("unlinkat", "dir")),
}
APART = {"readdir", "list-long", "find", "zero-range", "seek-hole", "lock"}     # operations with tests of their own below
SEVERAL_KINDS = {"move", "open-many", "remove-tree"}                            # and those whose ops are of other kinds
# The calls on each file, and on its copy, of operations that work on contents.
ON_CONTENTS = {
    "seek-hole": [("openat", "item"), ("lseek", "item"), ("close", "item")],
    "zero-range": [("openat", "item"), ("fallocate", "item"), ("close", "item")],
    "resize": [("openat", "item"), ("ftruncate", "item"), ("close", "item")] * 2,
    "reallocate": [("openat", "item"), ("fallocate", "item"), ("close", "item")] * 2,
    "copy": [("openat", "item"), ("openat", "moved"), ("read", "item"), ("write", "moved"), ("close", "moved"), ("close", "item"),
             ("renameat", "moved")],
    "copy-range": [("openat", "item"), ("openat", "moved"), ("copy_file_range", "item"), ("close", "moved"), ("close", "item"),
                   ("renameat", "moved")],
    "clone": [("openat", "item"), ("openat", "moved"), ("ioctl", "moved"), ("close", "moved"), ("close", "item"),
              ("renameat", "moved")],
}
NOT_EVERYWHERE = {"zero-range", "clone", "reallocate"}     # a file system may not have them
OPENED = [("openat", "tree-000000.0"), ("openat", "."), ("close", "tree-000000.0")]   # the root, and a new request for its listing
CLOSED = [("close", "tree-000000.0")]


def test_no_operation_is_left_out():
    """Each operation with ops of a single kind is tested here, run by a scenario and named in the documentation."""
    in_cycles = set().union(*CYCLES.values(), {"clone"})
    operations = set(schema.op_kinds()) - {"read", "write", "update", *schema.FLUSH_CALLS} - (in_cycles - EXPECTED.keys())
    assert EXPECTED.keys() | APART == operations
    assert set(ON_NAMES) == operations - {"append", "zero-range", "seek-hole", "lock"}
    operations |= CYCLES.keys() | ON_CONTENTS.keys() | SEVERAL_KINDS
    documentation = (schema.ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    (first_paragraph,) = re.findall(r"^## Metadata operations\n\n(.*?)\n\n", documentation, re.S | re.M)
    assert operations <= set(re.findall(r"[a-z-]+", first_paragraph))


@pytest.mark.parametrize("operation", [name for name in EXPECTED if name not in ("create", "mkdir")])
def test_a_phase_makes_exactly_its_calls_on_each_item_in_order(operation, traced):
    before = {"rmdir": ["mkdir"], "get-xattr": ["create", "set-xattr"],
              "readlink": ["create", "symlink"]}.get(operation, ["create"])
    phases = [*before, operation]
    outcome, threads = traced(*(word for name in phases for word in ("--op", name)))
    assert len(threads) == len(phases), "a lane's thread for each phase"
    for phase, calls in zip(phases, threads):
        calls = [("renameat", item) if name == "renameat2" else (name, item) for name, item in calls]
        if phase == "symlink":       # the target comes first, then the directory
            calls = [call for call in calls if call[0] != "symlinkat" or call[1].startswith("item-")]
        prepared = calls.index(OPENED[-1])      # the root is opened once more for the timed region
        assert calls[prepared + 1:] == OPENED + EXPECTED[phase] + CLOSED, phase
        assert not any(re.match(r"(item|dir|symlink)-", item) for _, item in calls[:prepared]), "nothing is touched before"
        assert outcome.phase(phase)["ops"] == ITEMS
        assert outcome.phase(phase)["by_kind"][phase]["ops"] == ITEMS


def test_small_files_are_written_at_create_and_read_at_open(traced):
    outcome, (created, opened) = traced("--op", "create", "--op", "open-close", "--file-bytes", "3901")
    assert [call for call in created if call[1].startswith("item-")] == \
        each(("openat", "item"), ("write", "item"), ("close", "item"))
    assert [call for call in opened if call[1].startswith("item-")] == \
        each(("openat", "item"), ("read", "item"), ("close", "item"))
    for phase in outcome.phases:
        assert phase["bytes"] == ITEMS * 3901


@pytest.mark.parametrize("operation", ON_CONTENTS)
def test_operations_on_contents_make_exactly_their_calls(operation, path, tmp_path):
    log = tmp_path / "log"
    prefix = ("strace", "-f", "-y", "-s", "80", "-qq", "-e", "signal=none", "-e", f"trace={CALLS}", "-o", str(log))
    outcome = program.run([*SHAPE, "--op", "create", "--op", operation, "--file-bytes", "3901"], path=path, out=tmp_path / "out",
                          prefix=prefix)
    if outcome.code == 2 and operation in NOT_EVERYWHERE:
        assert f"leave out {operation}" in outcome.stderr + outcome.stdout, outcome
        return
    outcome.expect(0)
    _, calls = lane_threads(log, os.path.realpath(path) + f"/{program.DATA_DIRECTORY}")
    calls = [("renameat" if name == "renameat2" else name, item) for name, item in calls]
    made = [call for call in calls if re.match(r"(item|moved)-", call[1])]
    assert made == each(*ON_CONTENTS[operation])
    kinds = outcome.phase(operation)["by_kind"]
    assert {kind["ops"] for kind in kinds.values()} == {ITEMS}
    moved = ITEMS * 3901 if operation in ("copy", "copy-range") else 0
    assert outcome.phase(operation)["bytes"] == moved


def test_a_move_goes_to_the_next_directory_and_back(path, tmp_path):
    log = tmp_path / "log"
    prefix = ("strace", "-f", "-y", "-s", "80", "-qq", "-e", "signal=none", "-e", "trace=renameat,renameat2", "-o", str(log))
    outcome = program.run([*SHAPE, "--op", "create", "--op", "move", "--tree-depth", "1", "--tree-branching", "4"], path=path,
                          out=tmp_path / "out", prefix=prefix).expect(0)
    moved = [tuple(re.findall(r'"(d\d)/((?:item|moved)-\d+)"', line)) for line in strace_log.joined(log.read_text().splitlines()) if "item-" in line]
    expected = []
    for number in range(ITEMS):
        here, there = (f"d{number // 5}", f"item-{number:08}"), (f"d{(number // 5 + 1) % 4}", f"moved-{number:08}")
        expected += [(here, there), (there, here)]
    assert moved == expected
    assert outcome.phase("move")["ops"] == outcome.phase("move")["by_kind"]["rename"]["ops"] == 2 * ITEMS


def test_a_move_needs_two_directories(path, out):
    refused = program.run([*SHAPE, "--op", "move"], path=path, out=out).expect(1)
    assert "move moves files to another directory, so the tree needs two: use --tree-depth 1 --tree-branching 2" in refused.stderr, refused


def test_a_tree_is_listed_and_removed_as_rm_does(path, tmp_path):
    """Compared with what rm -r itself calls on an equal tree."""
    log, of_rm = tmp_path / "log", tmp_path / "of-rm"
    strace = ("strace", "-f", "-y", "-s", "80", "-qq", "-e", "signal=none", "-e", "trace=openat,getdents64,unlinkat,close")
    outcome = program.run([*SHAPE, "--op", "create", "--op", "remove-tree", "-w", "--tree-depth", "1", "--tree-branching", "4"], path=path,
                          out=tmp_path / "out", prefix=(*strace, "-o", str(log))).expect(0)
    assert outcome.phase("remove-tree")["ops"] == ITEMS + 4

    def removals(text):
        found = re.findall(r'unlinkat\((?:[^,"]*), "([^"]*)", (0|AT_REMOVEDIR)\)', text)
        return [("rmdir" if how == "AT_REMOVEDIR" else "unlink", name.rsplit("/", 1)[-1]) for name, how in found]

    ours = [call for call in removals("\n".join(strace_log.joined(log.read_text().splitlines()))) if re.match(r"(item-\d+|d\d)$", call[1])]
    tree = tmp_path / "tree"
    for number in range(ITEMS):
        (tree / f"d{number // 5}").mkdir(parents=True, exist_ok=True)
        (tree / f"d{number // 5}" / f"item-{number:08}").touch()
    subprocess.run([*strace, "-o", str(of_rm), "rm", "-r", str(tree)], check=True)
    theirs = [call for call in removals(of_rm.read_text()) if call[1] != "tree"]
    assert sorted(ours) == sorted(theirs) and len(ours) == ITEMS + 4
    place = {call: i for i, call in enumerate(ours)}
    for number in range(ITEMS):
        assert place["unlink", f"item-{number:08}"] < place["rmdir", f"d{number // 5}"]
    assert not list((outcome.data / "tree-000000.0").iterdir())


@pytest.mark.parametrize("options,why", [
    (("--random-order",), "remove-tree removes items in directory order: --random-order cannot be combined with it"),
    (("--shared-directory",), "remove-tree removes directories too, which other lanes still use: leave out --shared-directory"),
    (("--time", "1"), "remove-tree can process each item only once, so --time cannot loop it")])
def test_what_makes_no_sense_with_a_tree_to_remove(options, why, path, out):
    assert why in program.run([*SHAPE, "--op", "remove-tree", *options], path=path, out=out).expect(1).stderr


def test_lanes_pass_a_lock_on(path, tmp_path):
    log = tmp_path / "log"
    prefix = ("strace", "-f", "-y", "-s", "80", "-qq", "-e", "signal=none", "-e", "trace=fcntl,pread64,pwrite64", "-o", str(log))
    outcome = program.run(["--spawn", "2", "-t", "2", "--op", "lock", "--items", "25", "-w"], path=path, out=tmp_path / "out",
                          prefix=prefix).expect(0)
    (phase,) = outcome.phases
    assert phase["ops"] == phase["by_kind"]["lock"]["ops"] == 100
    counts = memoryview((outcome.data / "tree-000000.0" / "lock-00000000").read_bytes()).cast("Q")
    assert list(counts[:5]) == [100, 25, 25, 25, 25]
    calls = collections.defaultdict(list)
    for line in strace_log.joined(log.read_text().splitlines()):
        if "lock-00000000" in line and (found := re.match(r"(\d+) +(\w+)\(.*?(F_OFD_SETLKW|F_UNLCK|)[,}]", line)):
            calls[found[1]].append("wait" if "F_OFD_SETLKW" in line else "look" if "F_OFD_GETLK" in line
                                   else "unlock" if "F_UNLCK" in line else found[2])
    turns = [made for made in calls.values() if len(made) > 10]
    assert len(turns) == 4
    for made in turns:
        # It reads when it looks whether others have had their turn, and again when another lane has made the file longer.
        assert made[0] == "wait" and "look" in made
        assert [call for call in made if call not in ("look", "pread64")][:75] == ["wait", "pwrite64", "unlock"] * 25
        assert all(made[i + 1] == "pread64" for i, call in enumerate(made) if call == "wait"), "it reads what it then changes"


def test_a_lane_that_dies_releases_the_lock(path, tmp_path):
    with program.start(["--spawn", "2", "-t", "2", "--op", "lock", "--time", "3", "--lost-after", "1"], path=path,
                       out=tmp_path / "out") as running:
        file = running.path / program.DATA_DIRECTORY / "tree-000000.0" / "lock-00000000"

        def turns():
            return memoryview(file.read_bytes()[:8]).cast("Q")[0] if file.exists() and file.stat().st_size >= 40 else 0

        running.wait_until(lambda: turns() > 100, "the lanes take turns")
        children = subprocess.run(["pgrep", "-P", str(running.process.pid)], capture_output=True, text=True, check=True).stdout.split()
        os.kill(int(children[-1]), signal.SIGKILL)
        before = turns()
        running.wait_until(lambda: turns() > before + 100, "others go on")
        outcome = running.wait()
    (phase,) = outcome.phases
    assert phase["workers_lost"] == 1 and phase["lanes_failed"] == 0, outcome
    assert all(lane["ops"] > 0 for lane in lanes_of(phase) if not lane["failed"])


def test_waiting_for_a_lock_ends_with_the_phase(path, tmp_path):
    """Somebody else keeps the lock all the time."""
    with program.start([*SHAPE[:4], "--op", "lock", "--time", "0.5", "--warmup", "0.1"], path=path, out=tmp_path / "out") as running:
        file = running.path / program.DATA_DIRECTORY / "tree-000000.0" / "lock-00000000"
        running.wait_until(file.exists, "the file is there")
        with open(file, "r+b") as held:
            fcntl.lockf(held, fcntl.LOCK_EX)
            outcome = running.wait()
    (phase,) = outcome.expect(0).phases
    assert phase["lanes_failed"] == 0 and not phase["failed_ops"]


def test_all_lanes_open_the_same_file(path, tmp_path):
    log = tmp_path / "log"
    prefix = ("strace", "-f", "-y", "-s", "80", "-qq", "-e", "signal=none", "-e", "trace=openat", "-o", str(log))
    outcome = program.run(["--spawn", "2", "-t", "2", "--op", "open-many", "--time", "0.2"], path=path,
                          out=tmp_path / "out", prefix=prefix).expect(0)
    opened = {(line.split()[0], found[1]) for line in log.read_text().splitlines() if (found := re.search(r'"(item-\d+)", O_RDONLY', line))}
    assert {item for _, item in opened} == {"item-00000000"}, "one file"
    assert len({thread for thread, _ in opened}) == 4, "of four lanes"
    (phase,) = outcome.phases
    lanes = [lane for client in phase["clients"] for worker in client["workers"] for lane in worker["lanes"]]
    assert {lane["file_owner"] for lane in lanes} == {0} and all(lane["ops"] > 0 for lane in lanes)
    assert phase["by_kind"].keys() == {"open-close"}


def test_all_lanes_open_the_same_files_whoever_their_client_is(path, out):
    refused = program.run([*SHAPE, "--op", "open-many", "--rotate-clients"], path=path, out=out).expect(1)
    assert "open-many works on the same files on all clients: leave out --rotate-clients" in refused.stderr, refused


def test_contents_are_asked_for(path, out):
    refused = program.run([*SHAPE, "--op", "resize", "--file-bytes", "0"], path=path, out=out).expect(1)
    assert "resize works on what files contain: use 1 or more (--file-bytes)" in refused.stderr, refused


def test_a_long_listing_looks_at_every_name(traced):
    _, (_, listed) = traced("--op", "create", "--op", "list-long")
    ops = listed[listed.index(OPENED[-1]) + 1 + len(OPENED):]
    assert ops[0] == ("openat", ".") and ops[1][0] == "getdents64"
    assert sorted(item for name, item in ops if name == "newfstatat" and item.startswith("item-")) == names("item")
    assert [name for name, _ in ops[-3:]] == ["getdents64", "close", "close"], "to the listing's end"


def test_a_listing_is_read_to_its_end(traced):
    _, (_, listed) = traced("--op", "create", "--op", "readdir")
    ops = listed[listed.index(OPENED[-1]) + 1 + len(OPENED):]
    assert ops[0] == ("openat", ".")
    assert [name for name, _ in ops[1:-2]] == ["getdents64"] * len(ops[1:-2]) and len(ops) >= 5
    assert ops[-2:] == [("close", "tree-000000.0")] * 2


def test_find_looks_at_every_item_that_the_listing_names(traced):
    _, (_, looked_at) = traced("--op", "create", "--op", "find")
    ops = looked_at[looked_at.index(OPENED[-1]) + 1 + len(OPENED):]
    assert ops[0] == ("openat", ".") and ops[1][0] == "getdents64"
    assert sorted(item for name, item in ops if name == "newfstatat") == names("item")
    assert [name for name, _ in ops[-3:]] == ["getdents64", "close", "close"], "to the listing's end"


def found_by_find(data, *conditions):
    """What find(1) finds among the same files."""
    listed = subprocess.run(["find", str(data), "-type", "f", *conditions], capture_output=True, text=True, check=True)
    return len(listed.stdout.splitlines())


@pytest.mark.parametrize("shared", [(), ("--shared-directory",)])
def test_find_counts_what_find_counts(shared, path, tmp_path):
    shape = ["--transport", "local", "-t", "2", "--items", "700", "--tree-depth", "1", "--tree-branching", "3", "-w",
             "--file-bytes", "64", "--min-file-bytes", "60", *shared]
    for number, (options, conditions) in enumerate([
            (["--find-name", "*01*", "--find-bytes", "62"], ["-name", "*01*", "-size", "62c"]),
            (["--find-bytes", "60"], ["-size", "60c"]),
            (["--find-name", "item-*[5-7]"], ["-name", "item-*[5-7]"]),
            ([], ["-name", "item-*"])]):
        outcome = program.run(["--op", "create", "--op", "find", *options, *shape], path=path,
                              out=tmp_path / str(number)).expect(0)
        expected = found_by_find(outcome.data, *conditions)
        phase = outcome.phase("find")
        assert 0 < expected == phase["found_items"] == sum(lane["found_items"] for lane in lanes_of(phase)), options
        assert phase["ops"] == 1400 and phase["by_kind"].keys() == {"find"}
        assert f"{expected:,} found" in " ".join(outcome.stdout.split())  # lines may be wrapped
        rows = [row for row in outcome.rows if row["phase"] == "find"]
        assert {row["phase_found_items"] for row in rows} == {str(expected)}
        assert sum(int(row["found_items"]) for row in rows) == expected
        assert "found_items" not in outcome.phase("create")
    assert "nothing_found" not in str(phase["marks"])


def test_a_find_that_finds_nothing_is_marked(path, out):
    outcome = program.run([*SHAPE, "--op", "find", "--find-name", "nobody"], path=path, out=out).expect(0)
    phase = outcome.phase("find")
    assert phase["found_items"] == 0 and phase["ops"] == ITEMS
    assert "nothing_found" in {mark["code"] for mark in phase["marks"]}


def sizes_of(tree):
    return {file.name: file.stat().st_size for file in tree.rglob("item-*")}


def test_random_sizes_are_drawn_once_and_known_to_readers(path, tmp_path):
    words = ["--op", "create", "--op", "open-close", "--file-bytes", "3000", "--min-file-bytes", "1000", "--items", "300",
             "-w", "-t", "1", "--spawn", "2", "--rotate-clients"]
    seen = []
    for number, seed in enumerate(("7", "7", "8")):
        outcome = program.run([*words, "--seed", seed], path=path, out=tmp_path / str(number)).expect(0)
        lanes = [sizes_of(outcome.data / f"tree-{lane:06}.0") for lane in range(2)]
        assert len(lanes[0]) == len(lanes[1]) == 300 and lanes[0] != lanes[1]
        sizes = [*lanes[0].values(), *lanes[1].values()]
        assert min(sizes) >= 1000 and max(sizes) <= 3000 and len(set(sizes)) > 300
        assert 1800 < sum(sizes) / len(sizes) < 2200
        for phase in outcome.phases:
            assert phase["bytes"] == sum(sizes), "a reader takes each file's own size, and no more"
        seen.append(lanes)
    assert seen[0] == seen[1] != seen[2]


def test_sizes_of_a_distribution_are_its_shares_and_known_to_readers(path, tmp_path):
    """Of pareto:100/1.5, half of the files have up to 158 bytes (100 x 2^(2/3)), and (1/1000)^1.5 of them the largest size."""
    words = ["--op", "create", "--op", "open-close", "--op", "copy", "--file-sizes", "pareto:100/1.5", "--file-bytes", "3000",
             "--items", "500", "-w", "-t", "1", "--spawn", "2", "--rotate-clients"]
    seen = []
    for number, seed in enumerate(("7", "7", "8")):
        outcome = program.run([*words, "--seed", seed], path=path, out=tmp_path / str(number)).expect(0)
        lanes = [sizes_of(outcome.data / f"tree-{lane:06}.0") for lane in range(2)]
        sizes = [*lanes[0].values(), *lanes[1].values()]
        assert len(sizes) == 1000 and lanes[0] != lanes[1]
        assert min(sizes) >= 100 and max(sizes) <= 3000
        assert abs(sum(size <= 158 for size in sizes) - (1 - (100 / 158) ** 1.5) * 1000) < 4 * 16
        assert abs(sum(size <= 1000 for size in sizes) - (1 - 0.1 ** 1.5) * 1000) < 4 * 6
        for phase in outcome.phases[:2]:
            assert phase["bytes"] == sum(sizes), "a reader takes each file's own size, and no more"
        seen.append(lanes)
    assert seen[0] == seen[1] != seen[2]


def test_a_random_order_takes_each_item_once(traced):
    _, (created, looked_at) = traced("--op", "create", "--op", "stat", "--random-order")
    for calls, name in ((created, "openat"), (looked_at, "newfstatat")):
        order = [item for call, item in calls if call == name and item.startswith("item-")]
        assert sorted(order) == names("item") and order != names("item")


def test_what_is_missing_is_prepared_before_the_clock_starts(path, out):
    outcome = program.run([*SHAPE, "--op", "get-xattr"], path=path, out=out).expect(0)
    steps = {step["name"]: step["outcome"] for step in outcome.phase("get-xattr")["steps"]}
    assert steps["prepare-tree"] == f"made what {ITEMS} items need"
    assert outcome.phase("get-xattr")["ops"] == ITEMS


def test_repetitions_begin_with_what_the_last_one_left(path, out):
    outcome = program.run([*SHAPE, "--op", "create", "--op", "rename", "--op", "link", "--repeat", "2"], path=path,
                          out=out).expect(0)
    assert [phase["ops"] for phase in outcome.phases] == [ITEMS] * 6
    prepared = [prepared_tree(phase) for phase in before_a_repeated_start(outcome.phases)]
    fine, removed = "the items were as they should be", f"removed what {ITEMS} items had in the way"
    assert prepared == [fine, fine, fine, removed, fine, removed][:len(prepared)]
    assert outcome.result["repetitions"][0]["metadata"] is True
    assert not outcome.data.exists()


def test_lanes_that_are_told_to_stop_finish_the_items_that_a_later_phase_needs(path, out):
    outcome = program.run(["--transport", "local", "-t", "4", "--items", "3000", "--op", "create", "--op", "unlink",
                           "--stop-at-stonewall"], path=path, out=out).expect(0)
    create, unlink = outcome.phases
    assert {lane["ops"] for lane in lanes_of(create)} == {3000}
    assert create["measured_ops"] <= create["ops"] == 4 * 3000
    assert unlink["measured_ops"] <= unlink["ops"] == sum(lane["ops"] for lane in lanes_of(unlink)) <= 4 * 3000
    assert not outcome.data.exists()


def test_kept_trees_are_removed_by_clean_and_what_is_foreign_stays(path, out):
    program.run([*SHAPE, "--op", "create", "--op", "symlink", "--tree-depth", "1", "--tree-branching", "3", "-w"], path=path,
                out=out).expect(0)
    tree = path / program.DATA_DIRECTORY / "tree-000000.0"
    assert (tree / "d0" / "item-00000000").exists() and (tree / "d2" / "symlink-00000019").is_symlink()
    (tree / "d1" / "mine").write_text("precious")
    outside = path.parent / "outside"
    outside.mkdir()
    (outside / "item-00000000").write_text("precious")
    (tree / "d7").symlink_to(outside)
    done = program.plain("clean", path)
    assert "mine" in done.stdout + done.stderr
    assert (tree / "d1" / "mine").read_text() == "precious"
    assert (outside / "item-00000000").read_text() == "precious"
    assert not (tree / "d0").exists()


def test_an_error_names_client_lane_operation_and_path(path, out):
    program.run([*SHAPE, "--op", "create", "-w"], path=path, out=out)
    outcome = program.run([*SHAPE, "--op", "create", "--op", "stat", "--force"], path=path,
                          out=str(out) + "2", env=program.clean_environment())
    outcome.expect(0)       # a run does not reuse kept trees: it makes its own

    with program.start(["--transport", "local", "-t", "2", "--items", "15000", "--op", "create", "--op", "stat"], path=path,
                       out=str(out) + "3") as running:
        tree = path / program.DATA_DIRECTORY / "tree-000001.0"
        running.wait_until(lambda: (tree / "item-00000010").exists(), "the tree is made")
        (tree / "item-00000010").unlink()
        outcome = running.wait().expect(2)
    (error,) = outcome.phase("stat")["errors"]
    assert error["lane"] == 1 and error["client"] and error["operation"] == "stat"
    assert error["file"] == f"{os.path.realpath(path)}/{program.DATA_DIRECTORY}/tree-000001.0/item-00000010"
    assert "ENOENT" in error["message"]
    assert "\n" not in error["message"]


@pytest.mark.parametrize("options, words", [
    (("--op", "create", "--time", "5"), ("create", "only once", "--time")),
    (("--op", "stat", "--items", "200000000"), ("200000000 items",)),
    (("--op", "stat", "--tree-depth", "21", "--tree-branching", "1"), ("--tree-depth", "21")),
    (("--op", "file-mix", "--random-order"), ("file-mix", "--random-order")),
    (("--op", "find", "--random-order"), ("find", "--random-order")),
    (("--op", "stat", "--find-name", "x"), ("--find-name", "--op find")),
    (("--op", "create", "--min-file-bytes", "10"), ("--min-file-bytes", "--file-bytes")),
    (("--op", "create", "--min-file-bytes", "10", "--file-bytes", "9"), ("--min-file-bytes 10", "9 bytes")),
    (("--op", "create", "--stripe", "4:1m"), ("--stripe only applies to Lustre", "another file system")),
])
def test_a_plan_that_makes_no_sense_is_one_line(options, words, path, out):
    shape = SHAPE if "--items" not in options else SHAPE[:-2]
    outcome = program.run([*shape, *options], path=path, out=out).expect(1)
    assert len(outcome.stderr.strip().splitlines()) == 1
    for word in words:
        assert word in outcome.stderr
    assert not outcome.data.exists()


def test_the_suite_runs_as_it_is(path, out):
    outcome = program.run(["--suite", "metadata", "--items", "200", "--transport", "local", "-t", "2"], path=path,
                          out=out).expect(0)
    assert len(outcome.phases) == 13
    for phase in before_a_repeated_start(outcome.phases):
        assert prepared_tree(phase) == "the items were as they should be", phase["name"]


def test_a_dry_run_says_items(path, out):
    outcome = program.run([*SHAPE, "--op", "create", "--file-bytes", "1m", "--dry-run"], path=path, out=out).expect(0)
    assert f"{ITEMS} items per lane" in outcome.stdout
    assert "20 MiB" in outcome.stdout
