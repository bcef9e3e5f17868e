"""A trace written with -X is replayed by -Y; -P and --bind run lanes on the right processors."""
import os
import re
import subprocess

import program
import pytest
from report_checks import check_report

TRANSPORTS = ["in-process", "spawn", program.MPI]


@pytest.fixture
def traces(tmp_path):
    directory = tmp_path / "traces"
    directory.mkdir()
    return directory


def refusal_of(outcome):
    """The one line that gives the reason; nothing has been made."""
    outcome.expect(1)
    line, = outcome.stderr.strip().splitlines()
    assert not outcome.data.exists() and not outcome.out.exists(), outcome
    return line


def ops_of(file):
    return [tuple(map(int, line.split()[:2])) for line in file.read_text().splitlines()]


def delays_of(file):
    return [float(line.split()[2]) for line in file.read_text().splitlines()]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_was_written_is_replayed(transport, path, out, tmp_path, traces):
    """Each lane records the order of its random writes; then lanes read in that order."""
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    outcome = program.run(["--op", "random-write", "-r", "4k", "-s", "64k", "-X", str(traces / "t"), *options],
                          path=path, out=out, prefix=prefix, helpers=helpers).expect(0)
    check_report(outcome.result)
    files = sorted(traces.iterdir())
    assert [file.name for file in files] == ["t.0", "t.1", "t.2", "t.3"]
    for file in files:
        assert sorted(ops_of(file)) == [(record * 4096, 4096) for record in range(16)]
        assert len(delays_of(file)) == 16 and min(delays_of(file)) >= 0
    assert ops_of(files[0]) != ops_of(files[1]), "lanes have orders of their own"
    steps = {step["name"]: step["outcome"] for step in outcome.phases[0]["steps"]}
    assert str(traces / "t") in steps["write-trace"]

    again = program.run(["--op", "random-read", "-r", "4k", "-s", "64k", "-Y", str(files[1]), *options],
                        path=path, out=tmp_path / "again", prefix=prefix, helpers=helpers).expect(0)
    check_report(again.result)
    assert again.phases[0]["ops"] == 4 * 16 and again.phases[0]["bytes"] == 4 * 64 * 1024
    steps = {step["name"]: step["outcome"] for step in again.phases[0]["steps"]}
    assert "16 ops of " + str(files[1]) in steps["read-trace"]


@pytest.mark.strace
def test_the_round_trip_gives_the_same_ops_to_the_kernel(path, out, traces):
    trace = traces / "given"
    lines = [(8192, 4096, 0), (0, 512, 20), (65536 - 100, 100, 0), (8192, 4096, 0.5)]
    trace.write_text("# by hand\n" + "".join(f"{offset} {size} {delay}\n" for offset, size, delay in lines))
    log = traces / "strace"
    program.run(["--op", "write", "-r", "4k", "-s", "64k", "-t", "1", "-Y", str(trace)], path=path, out=out,
                prefix=("strace", "-f", "-e", "trace=pwrite64", "-o", str(log))).expect(0)
    calls = [line.split(", ") for line in log.read_text().splitlines() if "pwrite64(" in line]
    done = [(int(call[-1].split(")")[0]), int(call[-2])) for call in calls]
    assert done[-4:] == [(offset, size) for offset, size, _ in lines]


def test_delays_are_outside_the_ops_and_in_the_trace_again(path, out, traces):
    trace = traces / "slow"
    trace.write_text("".join(f"{record * 4096} 4096 20\n" for record in range(10)))
    outcome = program.run(["--op", "write", "-r", "4k", "-s", "64k", "-t", "1", "-x", "-Y", str(trace)],
                          path=path, out=out).expect(0)
    phase = outcome.phases[0]
    assert phase["between_s"] >= 0.2
    assert phase["pause_s"] >= 0.19, "as think time they are left out of the lane's own"


def test_think_time_is_written_as_delays(path, out, traces):
    program.run(["--op", "write", "-r", "4k", "-s", "32k", "-t", "1", "-J", "5", "-X", str(traces / "t")],
                path=path, out=out).expect(0)
    delays = delays_of(traces / "t.0")
    assert len(delays) == 8 and all(delay >= 5 for delay in delays[1:]), delays


@pytest.mark.parametrize("lines, number, words", [
    ("0 4096\n4096\n", 2, "offset size"),
    ("0 4096\n\n", 2, "offset size"),
    ("0 4096 fast\n", 1, "delay"),
    ("61440 8192\n", 1, "larger -s"),
    ("# nothing\n", None, "no ops"),
])
def test_a_bad_line_is_told_before_anything_is_written(path, out, traces, lines, number, words):
    trace = traces / "bad"
    trace.write_text(lines)
    outcome = program.run(["--op", "write", "-r", "4k", "-s", "64k", "-Y", str(trace)], path=path, out=out)
    place = f"{trace}:{number}: " if number else f"{trace}: "
    assert place in refusal_of(outcome) and words in outcome.stderr, outcome


def test_no_such_trace(path, out):
    outcome = program.run(["--op", "write", "-s", "64k", "-r", "4k", "-Y", "/nonexistent/trace"], path=path, out=out)
    assert "/nonexistent/trace" in refusal_of(outcome), outcome


def test_a_trace_that_cannot_be_written(path, out):
    outcome = program.run(["--op", "write", "-s", "64k", "-r", "4k", "-t", "1", "-X", "/nonexistent/dir/t"],
                          path=path, out=out)
    assert "/nonexistent/dir/t.0" in refusal_of(outcome) and "directory" in outcome.stderr, outcome


@pytest.mark.parametrize("is_link", [False, True])
def test_a_file_in_the_way_of_a_trace_is_left_alone(path, out, traces, is_link):
    """It is reported before anything runs, and the lanes whose names are free make no files."""
    foreign, trace = traces / "foreign", traces / "t.1"
    foreign.write_text("not yours")
    trace.symlink_to(foreign) if is_link else trace.write_text("not yours")
    outcome = program.run(["--op", "write", "-s", "64k", "-r", "4k", "-t", "3", "-X", str(traces / "t")],
                          path=path, out=out)
    assert f"trace {trace} already exists" in refusal_of(outcome), outcome
    assert sorted(file.name for file in traces.iterdir()) == ["foreign", "t.1"]
    assert foreign.read_text() == trace.read_text() == "not yours"
    trace.unlink()
    program.run(["--op", "write", "-s", "64k", "-r", "4k", "-t", "3", "-X", str(traces / "t")],
                path=path, out=traces / "out").expect(0)
    assert [len(ops_of(traces / f"t.{lane}")) for lane in range(3)] == [16, 16, 16]


@pytest.mark.parametrize("words, message", [
    (("-i", "0", "-X", "t"), "would both write the trace"),
    (("--op", "write", "-X", "t", "--repeat", "2"), "--repeat"),
    (("--op", "random-mix", "-Y", "t"), "-Y"),
    (("--op", "fwrite", "-Y", "t"), "-Y"),
    (("--op", "write", "--op", "create", "-X", "t"), "-X"),
    (("--op", "write", "-X", "t", "-Y", "t"), "-Y"),
    (("--op", "write", "--bind", "sideways"), "--bind"),
    (("--op", "write", "--bind", "numa", "-P", "1"), "-P"),
    (("--op", "write", "-U", "relative"), "absolute"),
    (("--op", "write", "-Y", "t", "--files-per-lane", "2"), "--files-per-lane"),
    (("--op", "write", "-Y", "t", "-+V", "--interleaved"), "--interleaved"),
])
def test_what_cannot_be_asked(path, out, words, message):
    outcome = program.run([*words, "-s", "64k", "-r", "4k"], path=path, out=out)
    assert outcome.code == 1 and message in outcome.stderr, outcome
    assert len(outcome.stderr.strip().splitlines()) == 1 and not out.exists()


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("options, message", [
    (("-P", "99999"), "processors? here: "),
    (("--bind", "cores:1000000"), "processors? here: "),
    (("-U", "/proc/self"), "-U /proc/self: (nothing is mounted there|only root)"),
    (("-U", "/nowhere"), "-U /nowhere: (nothing is mounted there|only root)"),
    (("-U", "/"), "-U / .*root cannot be unmounted|only root"),
])
def test_what_no_client_has_is_told_before_anything_is_made(transport, options, message, path, out, tmp_path):
    prefix, places, helpers = program.Transports(tmp_path).parts(transport)
    outcome = program.run(["-i", "1", "-r", "4k", "-s", "64k", *options, *places], path=path, out=out, prefix=prefix,
                          helpers=helpers).expect(1)
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("cluster-iobench: ")]
    assert len(lines) == 1 and re.search(message, outcome.stderr), outcome     # several faults are listed in the table
    assert not outcome.data.exists() and not outcome.out.exists(), outcome


def test_only_root_may_remount(path, out, nobody):
    path.chmod(0o777)
    outcome = program.run(["-i", "1", "-r", "4k", "-s", "64k", "-U", "/proc"], path=path, out=out,
                          prefix=nobody)
    outcome.expect(1)
    assert "only root" in outcome.stderr


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_lanes_are_bound_around_the_processors_of_a_client(transport, path, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path).parts(transport)
    if transport == "mpi":
        prefix = (*prefix, "--bind-to", "none")
    usable = sorted(os.sched_getaffinity(0))
    outcome = program.run(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "-P", "1", *options], path=path, out=out,
                          prefix=prefix, helpers=helpers).expect(0)
    check_report(outcome.result)
    (bind,) = (step for step in outcome.phases[0]["steps"] if step["name"] == "bind")
    lanes = [usable[(1 + lane) % len(usable)] for lane in range(4)]
    if transport == "in-process":
        assert bind["outcome"] == "lanes on processors " + ", ".join(map(str, lanes))
    else:  # two workers of two lanes each: lanes are numbered across workers
        for pair in (lanes[:2], lanes[2:]):
            assert "processors " + ", ".join(map(str, pair)) in bind["outcome"]


def test_binding_keeps_within_what_the_process_may_use(path, out):
    only = max(os.sched_getaffinity(0))
    outcome = program.run(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "-t", "2", "--bind", "cores"], path=path, out=out,
                          prefix=("taskset", "-c", str(only))).expect(0)
    (bind,) = (step for step in outcome.phases[0]["steps"] if step["name"] == "bind")
    assert bind["outcome"] == f"lanes on processors {only}, {only}"


@pytest.mark.strace
def test_the_kernel_is_asked_to_bind_each_lane(path, out, tmp_path):
    log = tmp_path / "strace"
    program.run(["--op", "write", "-r", "4k", "-s", "64k", "-t", "2", "--bind", "cores:1"], path=path, out=out,
                prefix=("strace", "-f", "-e", "trace=sched_setaffinity", "-o", str(log))).expect(0)
    usable = sorted(os.sched_getaffinity(0))
    asked = [line.split("[")[1].split("]")[0].split()[0] for line in log.read_text().splitlines() if "sched_setaffinity(0" in line]
    assert sorted(asked) == sorted(str(usable[(1 + lane) % len(usable)]) for lane in range(2))


def test_binding_by_numa_node(path, out):
    nodes = subprocess.run("cat /sys/devices/system/node/online", shell=True, capture_output=True, text=True, check=False)
    if nodes.returncode != 0:
        outcome = program.run(["--op", "write", "-s", "64k", "-r", "4k", "--bind", "numa"], path=path, out=out)
        assert "--bind cores" in refusal_of(outcome), outcome
        return
    outcome = program.run(["--op", "write", "-r", "4k", "-s", "64k", "-t", "2", "--bind", "numa"], path=path, out=out)
    outcome.expect(0)
    (bind,) = (step for step in outcome.phases[0]["steps"] if step["name"] == "bind")
    assert bind["outcome"].startswith("lanes on NUMA nodes ")
