"""The report agrees with the system calls that strace sees: which records, in which order, and the calls between them."""
import program
import pytest
import strace_log
from report_checks import lanes_of

pytestmark = pytest.mark.strace

KIB = 1024
RECORDS = 64
SHAPE = ("-r", "4k", "-s", "256k", "-+n", "--transport", "local")

WRITING = ("write", "rewrite", "random-write", "record-rewrite", "pwrite", "repwrite")
READING = ("read", "reread", "random-read", "backward-read", "stride-read", "pread", "repread")
POSITIONAL = ("random-read", "random-write", "backward-read", "record-rewrite", "stride-read", "random-mix", "pwrite",
              "repwrite", "pread", "repread")


@pytest.fixture
def data(path):
    return path / program.DATA_DIRECTORY


@pytest.fixture
def trace(path, tmp_path, data):
    """A function that runs under strace; returns the outcome and the calls on data files. Data are kept, and exist before
    unless prepared=False."""
    numbers = iter(range(100))

    def run(*options, lanes=1, prepared=True, shape=SHAPE, strace=()):
        number = next(numbers)
        options = (*shape, "-t", str(lanes), "-w", *options)
        if prepared and not data.exists():
            program.run([*shape, "-t", str(lanes), "-w", "--op", "write"], path=path, out=tmp_path / f"prepared{number}").expect(0)
        log = tmp_path / f"{number}.strace"
        outcome = program.run(options, path=path, out=tmp_path / f"out{number}", prefix=strace_log.prefix(log, *strace))
        return outcome.expect(0), strace_log.read(log, data)

    return run


def moved(calls):
    return [call for call in calls if call.moves]


def offsets(calls):
    return [call.offset // (4 * KIB) for call in moved(calls)]


# ------------------------------------------------------------------------------------------ sequences


EXACT = {
    "write": list(range(RECORDS)),
    "rewrite": list(range(RECORDS)),
    "read": list(range(RECORDS)),
    "reread": list(range(RECORDS)),
    "backward-read": list(reversed(range(RECORDS))),
    "record-rewrite": [0] * RECORDS,
    "stride-read": [record for first in range(17) for record in range(first, RECORDS, 17)],
    "pwrite": list(range(RECORDS)),
    "repwrite": list(range(RECORDS)),
    "pread": list(range(RECORDS)),
    "repread": list(range(RECORDS)),
}


@pytest.mark.parametrize("operation", [*EXACT, "random-read", "random-write", "random-mix"])
def test_the_records_that_are_moved_and_their_order(operation, trace):
    outcome, calls = trace("--op", operation)
    data_calls = moved(calls)
    records = offsets(calls)
    if operation in EXACT:
        assert records == EXACT[operation]
    else:
        assert sorted(records) == list(range(RECORDS)), "every record exactly once"
        steps = {b - a for a, b in zip(records, records[1:])}
        assert len(steps) > RECORDS / 3, f"looks random: {records}"
    assert {call.length for call in data_calls} == {4 * KIB}

    kinds = {call.name for call in data_calls}
    if operation == "random-mix":
        assert kinds == {"pread64", "pwrite64"}
    else:
        names = strace_log.READS if operation in READING else strace_log.WRITES
        assert kinds == {names[1 if operation in POSITIONAL else 0]}

    phase = outcome.phase(operation)
    assert phase["ops"] == len(data_calls) == RECORDS
    assert phase["bytes"] == sum(call.result for call in data_calls)
    for kind, calls_of_kind in (("read", strace_log.READS), ("write", strace_log.WRITES)):
        returned = [call.result for call in data_calls if call.name in calls_of_kind]
        if returned:
            assert phase["by_kind"][kind]["ops"] == len(returned)
            assert phase["by_kind"][kind]["bytes"] == sum(returned)
        else:
            assert kind not in phase["by_kind"]


SIZES = {4 * KIB: 60, 64 * KIB: 30, 1024 * KIB: 10}   # the mean is 124 KiB
SIZED = ("-r", "4k:60,64k:30,1m:10", "-s", "24800k", "-+n", "--transport", "local")   # 200 ops


@pytest.mark.parametrize("operation", ["random-read", "random-write", "random-mix"])
def test_random_ops_have_several_sizes_in_their_shares_at_multiples_of_their_size(operation, trace):
    outcome, calls = trace("--op", operation, shape=SIZED)
    data_calls = moved(calls)
    assert len(data_calls) == outcome.phase(operation)["ops"] == 200
    for size, percent in SIZES.items():
        assert sum(call.length == size for call in data_calls) == 2 * percent
    assert all(call.offset % call.length == 0 and call.offset + call.length <= 24800 * KIB for call in data_calls)
    assert sum(call.result for call in data_calls) == outcome.phase(operation)["bytes"] == 24800 * KIB
    large = [number for number, call in enumerate(data_calls) if call.length == 1024 * KIB]
    assert large != sorted(range(large[0], large[0] + len(large))), "sizes are in random order"


@pytest.mark.parametrize("operation", ["write", "read", "pwrite", "pread"])
def test_ops_of_several_sizes_in_order_cover_the_file(operation, trace):
    outcome, calls = trace("--op", operation, shape=("-r", "4k:60,64k:30,1m:10", "-s", "24900k", "-+n", "--transport", "local"),
                           prepared=operation.endswith("read"))
    data_calls = [call for call in moved(calls) if call.name in (strace_log.READS if operation in READING else strace_log.WRITES)]
    ends = 0
    for call in data_calls:
        assert call.offset == ends
        ends += call.result
    assert ends == outcome.phase(operation)["bytes"] == 24900 * KIB
    assert len(data_calls) == outcome.phase(operation)["ops"]
    for size, percent in SIZES.items():
        assert abs(sum(call.length == size for call in data_calls) - 2 * percent) <= 1
    assert {call.length for call in data_calls[:-1]} == set(SIZES), "only the last one is cut"


def test_bursts_walk_through_the_records_after_each_random_place(trace):
    for operation in ("random-read", "random-write", "random-mix"):
        outcome, calls = trace("--op", operation, "--burst-records", "6")
        records = offsets(calls)
        assert sorted(records) == list(range(RECORDS)), "every record exactly once"
        bursts = [records[0:1]]
        for record in records[1:]:
            if record % 6 == 0:
                bursts.append([])
            bursts[-1].append(record)
        places = [burst[0] for burst in bursts]
        assert sorted(places) == list(range(0, RECORDS, 6)) != places, "the places are in random order"
        assert all(burst == list(range(burst[0], min(burst[0] + 6, RECORDS))) for burst in bursts)
        assert outcome.phase(operation)["ops"] == RECORDS


def test_a_stride_visits_every_record_once_in_strides(trace):
    _, calls = trace("--op", "stride-read", "-j", "5")
    assert offsets(calls) == [record for first in range(5) for record in range(first, RECORDS, 5)]


def test_random_orders_come_from_the_seed_and_differ_between_lanes_and_phases(trace):
    def orders(seed):
        _, calls = trace("--op", "random-read", "--op", "random-write", "--seed", seed, lanes=2, prepared=False)
        result = {}
        for file in {call.file for call in calls}:
            for name in ("pread64", "pwrite64"):       # a prefill may come first
                result[file, name] = [call.offset for call in calls if (call.file, call.name) == (file, name)][-RECORDS:]
        return result

    first = orders("7")
    assert len(first) == 4 and all(sorted(order) == [4 * KIB * n for n in range(RECORDS)] for order in first.values())
    assert len({tuple(order) for order in first.values()}) == 4, "lanes and phases have orders of their own"


def test_the_same_seed_gives_the_same_order_and_another_seed_another(path, tmp_path, data):
    def order(seed, number):
        log = tmp_path / f"{number}.strace"
        program.run([*SHAPE, "-t", "1", "-i", "0", "--op", "random-read", "--seed", seed], path=path, out=tmp_path / number,
                    prefix=strace_log.prefix(log)).expect(0)
        return [call.offset for call in strace_log.read(log, data) if call.name == "pread64"]

    assert order("1", "a") == order("1", "b") != order("2", "c")


def test_the_last_record_is_short(trace):
    shape = ("-r", "48k", "-s", "256k", "-+n", "--transport", "local")
    for operation in ("read", "backward-read", "random-read"):
        outcome, calls = trace("--op", operation, shape=shape)
        spans = sorted((call.offset, call.result) for call in moved(calls))
        assert spans == [(48 * KIB * n, 48 * KIB) for n in range(5)] + [(240 * KIB, 16 * KIB)]
        assert outcome.phase(operation)["bytes"] == 256 * KIB


def test_lanes_of_a_shared_file_stay_in_their_extents(trace):
    outcome, calls = trace("--op", "write", "--op", "random-read", "-+V", lanes=3, prepared=False)
    threads = strace_log.by_thread(moved(calls))
    for name in ("write", "pread64"):
        touched = [{call.offset // (4 * KIB) for call in of_lane if call.name == name} for of_lane in threads.values()]
        touched = [records for records in touched if records]
        assert sorted(touched, key=min) == [set(range(n * RECORDS, (n + 1) * RECORDS)) for n in range(3)]
    assert len({call.file for call in moved(calls)}) == 1
    assert outcome.phase("random-read")["ops"] == 3 * RECORDS


def test_lanes_of_an_interleaved_file_take_turns_of_blocks_as_iors_ranks_do(trace):
    """The offsets are those that strace showed of three ranks of `ior -w -b 16k -t 4k -s 2`, in records of 4 KiB."""
    shape = ("-r", "4k", "-s", "32k", "-+n", "--transport", "local", "-+V", "--interleaved", "--block", "16k")
    _, calls = trace("--op", "write", lanes=3, prepared=False, shape=shape)
    of_ranks = [[0, 1, 2, 3, 12, 13, 14, 15], [4, 5, 6, 7, 16, 17, 18, 19], [8, 9, 10, 11, 20, 21, 22, 23]]
    threads = {call.thread for call in moved(calls)}
    assert sorted(offsets(call for call in calls if call.thread == thread) for thread in threads) == of_ranks


def test_several_files_share_the_size(trace):
    _, calls = trace("--op", "write", "--op", "backward-read", "--files-per-lane", "4", prepared=False)
    for names in (strace_log.WRITES, strace_log.READS):
        seen = {}
        for call in moved(calls):
            if call.name in names:
                seen.setdefault(call.file, []).append(call.offset // (4 * KIB))
        assert len(seen) == 4 and all(sorted(records) == list(range(16)) for records in seen.values())


def test_a_time_goes_round_the_records_and_every_call_is_counted(trace):
    outcome, calls = trace("--op", "read", "--time", "0.5")
    records = offsets(calls)
    assert len(records) > RECORDS and records == [n % RECORDS for n in range(len(records))]
    phase = outcome.phase("read")
    assert phase["ops"] == len(records) and phase["bytes"] == sum(call.result for call in moved(calls))


# ------------------------------------------------------------------------------------------------ flags


@pytest.mark.parametrize("option, flag", [((), None), (("-I",), "O_DIRECT"), (("-o",), "O_SYNC"), (("-+D",), "O_DSYNC")])
@pytest.mark.parametrize("operation", ["write", "rewrite", "random-read", "random-mix"])
def test_flags_of_open(operation, option, flag, trace):
    _, calls = trace("--op", operation, *option)
    of_lane, = strace_log.lanes(calls).values()
    first_move = next(index for index, call in enumerate(of_lane) if call.moves)
    opening = [call for call in of_lane[:first_move] if call.name == "openat"][-1]
    flags = set(opening.flags)
    special = {"O_DIRECT", "O_SYNC", "O_DSYNC"}
    assert flags & special == ({flag} if flag else set())
    assert ("O_RDONLY" in flags) == (operation == "random-read")
    assert "O_APPEND" not in flags


# -------------------------------------------------------------------------------------- order of a lane


def after_opening(calls):
    """The calls from the last open before data are moved."""
    first_move = next(index for index, call in enumerate(calls) if call.moves)
    return calls[max(index for index in range(first_move) if calls[index].name == "openat"):]


@pytest.mark.parametrize("operation", ["write", "rewrite", "random-write"])
def test_without_e_nothing_is_flushed_before_close(operation, trace):
    for options in ((), ("-c",)):
        _, calls = trace("--op", operation, *options)
        for of_lane in strace_log.lanes(calls).values():
            story = strace_log.story(after_opening(of_lane))
            name = "pwrite64" if operation in POSITIONAL else "write"
            assert story[:3] == ["openat", name, "close"], story
            # The written data are on the disk before the next phase is measured; they go there in pieces, so that an
            # interrupt need not wait for all of them.
            flushing = [call for call in story[3:] if call != "sync_file_range"]
            assert flushing in (["openat", "fsync", "close"], ["openat", "fdatasync", "close"]), story


@pytest.mark.parametrize("operation", ["write", "rewrite", "random-write"])
def test_with_e_the_flush_lies_between_the_last_op_and_close(operation, trace):
    for options in (("-e",), ("-c", "-e")):
        _, calls = trace("--op", operation, *options)
        for of_lane in strace_log.lanes(calls).values():
            name = "pwrite64" if operation in POSITIONAL else "write"
            assert strace_log.story(after_opening(of_lane))[:4] == ["openat", name, "fsync", "close"]


@pytest.mark.parametrize("options", [("-e",), ("-c", "-e")], ids=lambda options: "".join(options))
def test_reads_beside_writes_that_are_flushed_are_not(options, trace):
    _, calls = trace("--op", "rewrite", "--op", "read", *options)
    stories = [strace_log.story(of_one) for of_one in strace_log.by_thread(calls).values()]
    assert any("write" in story and "fsync" in story for story in stories)
    readers = [story for story in stories if "read" in story]
    assert readers and not any("fsync" in story for story in readers)


@pytest.mark.parametrize("options", [(), ("-c",)], ids=lambda options: "".join(options) or "none")
def test_reads_are_never_flushed(options, trace):
    _, calls = trace("--op", "read", *options)
    for of_lane in strace_log.lanes(calls).values():
        assert strace_log.story(after_opening(of_lane))[:3] == ["openat", "read", "close"]
        assert "fsync" not in strace_log.story(of_lane)


def test_all_files_are_open_before_the_first_record_moves(trace):
    _, calls = trace("--op", "read", "--files-per-lane", "2", "-c", lanes=4, prepared=False)
    reading = [index for index, call in enumerate(calls) if call.name == "read"]
    opened = {call.file for call in calls[:reading[0]] if call.name == "openat"}
    assert len(opened) == 8
    assert not [call for call in calls[reading[0]:reading[-1]] if call.name == "openat"]


def test_a_flushed_stonewall_loses_no_record(trace):
    """Lanes that are stopped flush, close, and finish their file afterwards, unmeasured."""
    outcome, calls = trace("--op", "write", "-c", "-e", lanes=4, prepared=False, shape=("-r", "4k", "-s", "2m", "--transport", "local"))
    lanes = strace_log.lanes(calls)
    assert len(lanes) == 4
    for of_lane in lanes.values():
        assert sorted(offsets(of_lane)) == list(range(512)), "every record exactly once, before or after the stop"
        assert of_lane[-1].name == "close"
        flushes = [index for index, call in enumerate(of_lane) if call.name == "fsync"]
        writes = [index for index, call in enumerate(of_lane) if call.moves]
        assert flushes and flushes[-1] > writes[-1], "nothing is left in memory when the phase is over"
    phase = outcome.phase("write")
    assert phase["ops"] == 4 * 512 and phase["bytes"] == sum(call.result for call in moved(calls))
    stopped = [lane for lane in lanes_of(phase) if lane["stopped"]]
    assert phase["measured_bytes"] == sum(lane["measured_bytes"] for lane in lanes_of(phase))
    for lane in lanes_of(phase):
        if not lane["stopped"]:
            assert lane["measured_bytes"] == lane["bytes"]
    assert all(lane["measured_bytes"] < lane["bytes"] for lane in stopped)


# ------------------------------------------------------------------- inside the clock, and outside of it


DELAY_S = 0.6


def slowed(call, where):
    return ("-P", str(where), "-e", f"inject={call}:delay_enter={int(DELAY_S * 1e6)}")


def data_file(data):
    file, = [file for file in data.iterdir() if not file.name.startswith("manifest")]
    return file


@pytest.mark.parametrize("operation, option, call, part", [
    ("rewrite", "-c", "close", "close"),
    ("rewrite", "-e", "fsync", "fsync"),
    ("read", "-c", "close", "close"),
    ("read", "--open-in-timing", "openat", "open"),
])
def test_a_slow_call_is_in_the_headline_only_where_its_option_says_so(operation, option, call, part, path, data, tmp_path):
    """One system call is made slow: its time is in that part, and in the headline only with the option."""
    program.run([*SHAPE, "-t", "1", "-w", "--op", "write"], path=path, out=tmp_path / "prepared").expect(0)

    def phase(*options):
        where = data if call == "openat" else data_file(data)
        outcome = program.run([*SHAPE, "-t", "1", "-w", "-x", "--op", operation, *options], path=path,
                              out=tmp_path / f"out{len(options)}",
                              prefix=strace_log.prefix(tmp_path / "log", *slowed(call, where))).expect(0)
        return outcome.phase(operation)

    timed, untimed = phase(option), phase()
    assert timed["regions_s"][part] >= DELAY_S
    assert timed["duration_s"] >= DELAY_S + timed["regions_s"]["ops"] * 0.999
    if part != "fsync":          # without -e there is no fsync to be slow
        assert untimed["regions_s"][part] >= DELAY_S, "each part is timed, whether it counts or not"
    assert untimed["duration_s"] - untimed["regions_s"]["ops"] < DELAY_S / 2, "and in no window without the option"


def test_slow_writes_are_the_ops(path, data, tmp_path):
    """64 writes that the kernel delays by 10 ms each take at least 640 ms, and each latency says so."""
    program.run([*SHAPE, "-t", "1", "-w", "--op", "write"], path=path, out=tmp_path / "prepared").expect(0)
    delay = ("-P", str(data_file(data)), "-e", "inject=write:delay_enter=10000")
    phase = program.run([*SHAPE, "-t", "1", "--op", "rewrite"], path=path, out=tmp_path / "out",
                        prefix=strace_log.prefix(tmp_path / "log", *delay)).expect(0).phase("rewrite")
    assert phase["regions_s"]["ops"] >= RECORDS * 0.010
    assert phase["latency_us"]["min"] >= 10_000 and phase["latency_us"]["p50"] >= 10_000
    assert phase["headline"]["bytes_per_s"] <= 256 * KIB / (RECORDS * 0.010)


def test_an_error_from_the_kernel_ends_its_lane_and_is_reported(path, data, tmp_path):
    program.run([*SHAPE, "-t", "2", "-w", "--op", "write"], path=path, out=tmp_path / "prepared").expect(0)
    victim = sorted(file for file in data.iterdir() if not file.name.startswith("manifest"))[0]
    fault = ("-P", str(victim), "-e", "inject=read:error=EIO:when=11")
    outcome = program.run([*SHAPE, "-t", "2", "--op", "read", "--op", "pread"], path=path, out=tmp_path / "out",
                          prefix=strace_log.prefix(tmp_path / "log", *fault)).expect(2)
    phase = outcome.phase("read")
    error, = phase["errors"]
    assert error["errno"] == 5 and error["offset"] == 10 * 4 * KIB and victim.name in error["file"]
    assert sorted(lane["bytes"] for lane in lanes_of(phase)) == [10 * 4 * KIB, 256 * KIB]
    assert outcome.phase("pread")["lanes_sat_out"] in (0, 1), "a file that failed may be left out afterwards"


def test_a_failing_fsync_is_an_error_not_a_smaller_number(path, data, tmp_path):
    program.run([*SHAPE, "-t", "1", "-w", "--op", "write"], path=path, out=tmp_path / "prepared").expect(0)
    fault = ("-P", str(data_file(data)), "-e", "inject=fsync:error=EIO:when=1")
    outcome = program.run([*SHAPE, "-t", "1", "-e", "--op", "rewrite"], path=path, out=tmp_path / "out",
                          prefix=strace_log.prefix(tmp_path / "log", *fault)).expect(2)
    error, = outcome.phase("rewrite")["errors"]
    assert error["errno"] == 5 and "fsync" in error["message"]


@pytest.mark.parametrize("options, call, every", [
    (("--op", "append-log"), "fdatasync", 1),
    (("--op", "append-log", "--flush-call", "sync-file-range", "--fsync-every", "1"), "sync_file_range", 1),
    (("--op", "write", "--fsync-every", "8"), "fsync", 8),
    (("--op", "random-write", "--fsync-every", "5", "--flush-call", "fdatasync"), "fdatasync", 5),
    (("--op", "fwrite", "--fsync-every", "4"), "fsync", 4),
], ids=lambda value: value[1] if isinstance(value, tuple) else str(value))
def test_a_lane_flushes_after_every_so_many_writes(options, call, every, trace):
    """Each call is counted, and none is made that is not."""
    outcome, calls = trace(*options)
    (of_lane,) = strace_log.lanes(calls).values()
    story = [each.name for each in of_lane if each.name in (*strace_log.WRITES, call)]
    writes = [name for name in story if name != call]
    assert len(writes) == RECORDS
    where = [sum(name != call for name in story[:index]) for index, name in enumerate(story) if name == call]
    timed = list(range(every, RECORDS + 1, every))
    assert where[:len(timed)] == timed, story
    assert len(where) <= len(timed) + 1, "at most one more when the phase is over, which is not timed"
    phase = outcome.phases[0]
    name = call.replace("_", "-")
    assert phase["by_kind"][name]["ops"] == len(timed)
    assert phase["ops"] == RECORDS and phase["bytes"] == RECORDS * 4 * KIB


def test_only_the_file_that_was_written_to_is_flushed(trace):
    _, calls = trace("--op", "write", "--fsync-every", "4", "--files-per-lane", "4", prepared=False)
    last = {}
    for call in calls:
        if call.moves:
            last = call.file
        elif call.name == "fsync" and last:
            assert call.file == last
            last = None


@pytest.mark.parametrize("region, call", [("-e", "fsync"), ("-c", "close"), ("-ce", "fsync")])
def test_the_flush_and_the_close_of_the_region_have_latencies(region, call, trace):
    outcome, _ = trace("--op", "rewrite", region, "--files-per-lane", "2", lanes=2, prepared=False)
    of_call = outcome.phase("rewrite")["by_kind"][call]
    assert of_call["ops"] == 4, "one for each file"
    regions = outcome.phase("rewrite")["regions_s"]
    # Two calls of one lane, on the average, are no longer than the part of the region that they are all of.
    assert 2 * of_call["latency_us"]["mean"] / 1e6 <= regions[call] * 1.01
