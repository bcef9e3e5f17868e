"""--engine libnfs does its ops right against nfs-ganesha: whole runs, the parts of the timed region, ends of phases."""
import dataclasses
import shlex
import time

import ganesha
import program
import pytest
from report_checks import check_report, lanes_of
from scenarios import LANES, SCENARIOS, check_scenario

# The scenarios about how ops are done and counted; the others need features of other engines.
ON_THE_WIRE = (
    "every operation", "operations by name", "vectors of sixteen records", "a sequential mix by lane",
    "nothing timed but the ops", "close and fsync in the timing", "close in the timing", "fsync in the timing",
    "open in the timing", "no stonewall", "stop at the stonewall", "one shared file", "four files a lane",
    "the last record is short", "a mix of reads and writes", "a mix by lane", "a stride of five", "synchronous",
    "data-synchronous", "a time with a warm-up", "three repetitions", "no retests",
)
CHOSEN = tuple(scenario for scenario in SCENARIOS if scenario.name in ON_THE_WIRE)
EVERYWHERE = tuple(scenario for scenario in CHOSEN if scenario.name in ("every operation", "one shared file"))
SHAPE = ("-r", "64k", "-s", "4m")


def test_all_that_are_named_exist():
    assert len(CHOSEN) == len(ON_THE_WIRE)


@pytest.fixture(scope="module")
def server():
    ganesha.need()
    with ganesha.Ganesha() as running:
        yield running


@dataclasses.dataclass
class Export:
    url: str
    disk: object

    @property
    def data(self):
        return self.disk / program.DATA_DIRECTORY


@pytest.fixture
def export(server, tmp_path):
    name = tmp_path.name
    (server.export / name).mkdir()
    yield Export(server.url(name), server.export / name)
    assert [entry.name for entry in (server.export / name).iterdir() if entry.name != program.DATA_DIRECTORY] == []


def run(export, out, *options, **more):
    return program.run(["--engine", "libnfs", *options], path=export.url, out=out, **more)


def all_libnfs(outcome, depth):
    for phase in outcome.phases:
        assert phase["engine"] == "libnfs"
        (step,) = [step for step in phase["steps"] if step["name"] == "engine"]
        assert step["outcome"] == f"libnfs, {depth} in flight per lane"


# ---- whole runs

@pytest.mark.parametrize("depth", [1, 32])
@pytest.mark.parametrize("scenario", CHOSEN, ids=str)
def test_scenario(scenario, depth, export, out):
    outcome = run(export, out, "--depth", str(depth), *scenario.options, "--transport", "local", "-t", str(LANES))
    check_scenario(scenario, outcome, 1)
    all_libnfs(outcome, depth)
    assert not export.data.exists(), "the data are removed at the end"


@pytest.mark.parametrize("transport", ["spawn", "join-tcp", program.MPI])
@pytest.mark.parametrize("scenario", EVERYWHERE, ids=str)
def test_scenario_on_transports(scenario, transport, export, out, tmp_path):
    prefix, options, helpers = program.Transports(tmp_path, roots=[export.url]).parts(transport)
    outcome = run(export, out, "--depth", "8", *scenario.options, *options, prefix=prefix, helpers=helpers)
    check_scenario(scenario, outcome, 2)
    all_libnfs(outcome, 8)
    assert not export.data.exists()


@pytest.mark.parametrize("depth", ["1", "32"])
def test_what_was_written_is_verified_on_the_way_back(depth, export, out):
    outcome = run(export, out, "-i", "0", "-i", "1", "-i", "2", "-i", "3", "-t", "3", "--verify", "--depth", depth,
                  *SHAPE).expect(0)
    check_report(outcome.result)
    for operation in ("read", "random-read", "backward-read"):
        verified = outcome.phase(operation)["verify"]
        assert verified["sectors"] == 3 * (4 << 20) // 512 and verified["mismatched"] == 0


def test_data_that_changed_on_the_server_are_found(export, tmp_path):
    run(export, tmp_path / "1", "-i", "0", "-+n", "-w", "--verify", "-t", "2", *SHAPE).expect(0)
    with open(export.data / "lane-000001.0", "r+b") as file:
        file.seek(1 << 20)
        file.write(b"\0" * 512)
    outcome = run(export, tmp_path / "2", "-i", "1", "-+n", "-w", "--verify", "-t", "2", "--depth", "8", *SHAPE)
    outcome.expect(2)
    verified = outcome.phase("read")["verify"]
    assert verified["mismatched"] == 1
    assert "lane-000001.0" in outcome.stdout and str(1 << 20) in outcome.stdout.replace(",", "")
    program.plain("clean", export.url).expect(0)


def test_records_longer_than_a_call_are_one_op(export, out):
    """One call moves 1 MiB at most."""
    outcome = run(export, out, "-i", "0", "-i", "1", "-+n", "--verify", "-r", "3m", "-s", "12m", "-t", "1", "--depth",
                  "2").expect(0)
    for operation in ("write", "read"):
        phase = outcome.phase(operation)
        assert phase["ops"] == 4 and phase["bytes"] == 12 << 20 and phase["latency_us"]["count"] == 4


# ---- the parts of the timed region

def parts_of(outcome, operation):
    return outcome.phase(operation)["regions_s"]


def test_fsync_commits_and_leaves_nothing_for_close(export, out):
    outcome = run(export, out, "-i", "0", "-i", "1", "-+n", "-e", "-c", "-r", "64k", "-s", "64m").expect(0)
    parts = parts_of(outcome, "write")
    assert parts["fsync"] > 3 * parts["close"], "64 MiB go to the disk in the one, nothing is sent in the other"
    assert parts_of(outcome, "read")["fsync"] == 0
    assert outcome.phase("write")["headline"]["region"] == "ops+fsync+close"


def test_close_commits_where_fsync_has_not(export, out):
    outcome = run(export, out, "-i", "0", "-i", "1", "-+n", "-c", "-r", "64k", "-s", "64m").expect(0)
    parts = parts_of(outcome, "write")
    assert parts["fsync"] == 0
    assert parts["close"] > 3 * parts_of(outcome, "read")["close"], "nothing is sent to close what was read"
    assert outcome.phase("write")["headline"]["region"] == "ops+close"


def test_synchronous_writes_leave_nothing_to_commit(export, out):
    outcome = run(export, out, "-i", "0", "-+n", "-o", "-e", "-c", *SHAPE).expect(0)
    parts = parts_of(outcome, "write")
    assert parts["ops"] > 3 * (parts["fsync"] + parts["close"])
    assert "unflushed" not in {mark["code"] for mark in outcome.phase("write")["marks"]}


# ---- how phases end

def test_lanes_wear_out_after_a_deadline(export, out):
    outcome = run(export, out, "-i", "1", "-+n", "-t", "3", "--depth", "4", "--deadline", "0.1", "--wear-out", "-r",
                  "4k", "-s", "64m").expect(0)
    phase = outcome.phase("read")
    assert phase["throughput_bytes_per_s"]["deadline"] > 0
    assert len({lane["ops"] for lane in lanes_of(phase)}) == 1
    assert 0 < phase["bytes"] < 3 * (64 << 20)


def test_ops_are_paced(export, out):
    outcome = run(export, out, "-i", "1", "-+n", "-t", "1", "-+O", "200", "--time", "1", *SHAPE).expect(0)
    phase = outcome.phase("read")
    assert phase["asked_ops_per_s"] == 200
    assert 100 < phase["ops"] < 250


def test_a_server_that_stops_in_mid_phase_ends_the_lanes_and_what_was_measured_is_kept(server, tmp_path, out):
    (server.export / "frozen").mkdir()
    with program.start(["--engine", "libnfs", "-i", "0", "-i", "1", "-+n", "-w", "-t", "2", "--depth", "4", "--time",
                        "5", *SHAPE], path=server.url("frozen", timeo=30), out=out) as running:
        running.wait_until(lambda: (out / "raw" / "phase-000.pb").exists(), "the first phase is over")
        time.sleep(1.5)
        server.freeze()
        begin = time.monotonic()
        try:
            outcome = running.wait()
        finally:
            server.thaw()
    outcome.expect(2)
    assert time.monotonic() - begin < 60, "3 s of silence, and the rest of the run that cannot reach it either"
    write, read = outcome.phases
    assert write["lanes_failed"] == 0 and write["bytes"] > 0 and write["headline"]["bytes_per_s"] > 0
    assert read["lanes_failed"] == 2
    assert "NFS server 127.0.0.1 has not answered 4 calls in flight for 3 s" in outcome.stdout + outcome.stderr
    program.plain("clean", server.url("frozen")).expect(0)
    assert not (server.export / "frozen" / program.DATA_DIRECTORY).exists()


def test_a_server_that_ends_in_mid_phase_ends_the_lanes(tmp_path, out):
    ganesha.need()
    with ganesha.Ganesha() as own:
        with program.start(["--engine", "libnfs", "-i", "0", "-+n", "-w", "-t", "1", "--depth", "4", "--time", "30",
                            *SHAPE], path=own.url(timeo=40), out=out) as running:
            data = own.export / program.DATA_DIRECTORY / "lane-000000.0"
            running.wait_until(lambda: data.exists() and data.stat().st_size == 4 << 20, "the ops go round")
            own.process.kill()
            outcome = running.wait().expect(2)
    assert outcome.phase("write")["lanes_failed"] == 1
    assert "NFS server 127.0.0.1" in outcome.stdout + outcome.stderr
    assert " at 0 B" not in outcome.stdout, "which op it was is not known"


def test_data_that_a_lost_server_holds_are_told_with_how_to_remove_them(tmp_path, out):
    ganesha.need()
    with ganesha.Ganesha() as own:
        with program.start(["--engine", "libnfs", "-i", "0", "-+n", "-t", "1", "--time", "30", *SHAPE],
                           path=own.url(timeo=40), out=out) as running:
            data = own.export / program.DATA_DIRECTORY / "lane-000000.0"
            running.wait_until(lambda: data.exists() and data.stat().st_size == 4 << 20, "the ops go round")
            own.process.kill()
            outcome = running.wait().expect(2)
    assert f"remove them with `cluster-iobench clean {shlex.quote(own.url(timeo=40))}`" in outcome.stdout + outcome.stderr


def test_an_interrupt_while_the_server_is_silent_ends_the_run_and_says_what_is_left(server, out):
    (server.export / "silent").mkdir()
    with program.start(["--engine", "libnfs", "-i", "0", "-+n", "-t", "1", "--time", "60", *SHAPE],
                       path=server.url("silent", timeo=50), out=out) as running:
        data = server.export / "silent" / program.DATA_DIRECTORY / "lane-000000.0"
        running.wait_until(lambda: data.exists() and data.stat().st_size == 4 << 20, "the ops go round")
        server.freeze()
        try:
            time.sleep(0.5)
            running.interrupt()
            begin = time.monotonic()
            outcome = running.wait()
        finally:
            server.thaw()
    outcome.expect(130)
    assert time.monotonic() - begin < 19, "5 s of silence, and no 15 s for a connection to the same server"
    assert "abandoned" in outcome.stderr
    phase = outcome.phase("write")
    assert phase["interrupted"] and "had not ended when the run was interrupted" in outcome.stdout
    assert "cluster-iobench clean " in outcome.stderr
    program.plain("clean", "--force", server.url("silent")).expect(0)


def test_a_server_that_fills_up_in_mid_phase_says_so_by_its_own_error(out):
    """The export is a tmpfs of 8 MiB. The space that the run needs is free when it begins, and then somebody else takes it."""
    ganesha.need()
    with ganesha.Ganesha(megabytes=8) as small:
        with program.start(["--engine", "libnfs", "-i", "0", "-+n", "-t", "1", "-r", "64k", "-s", "6m", "-+O", "40"],
                           path=small.url(), out=out) as running:
            running.wait_until(lambda: "lane-000000.0" in small.data_names(), "the file is there")
            small.fill()
            outcome = running.wait()
        assert small.data_names() == []
    outcome.expect(2)
    (problem,) = outcome.phase("write")["errors"]
    assert "No space left on device (ENOSPC)" in problem["message"] and "NFS3ERR_NOSPC" in problem["message"]
    assert "lane-000000.0 at offset " in problem["message"]


@pytest.mark.parametrize("where, words", [
    ("no-such-directory", "no-such-directory"),
    ("/no/such/export", "/no/such/export"),
])
def test_a_url_that_cannot_be_mounted_is_one_line_before_anything_runs(where, words, server, out):
    url = server.url(where) if not where.startswith("/") else server.url().replace(str(server.export), where)
    outcome = program.run(["--engine", "libnfs", "-i", "0", *SHAPE], path=url, out=out).expect(1)
    assert len(outcome.stderr.strip().splitlines()) == 1 and words in outcome.stderr
    assert not out.exists()


def test_a_file_system_without_a_mount_is_filled_too(out):
    """Two workers fill it over connections of their own; the used space on the server shows the bytes."""
    ganesha.need()
    with ganesha.Ganesha(megabytes=96) as server:
        path = server.url()
        options = ["--engine", "libnfs", "--spawn", "2", "-t", "2", "-i", "0", "-+n", "-r", "64k", "-s", "1m", "--fill", "50"]
        outcome = program.run(options, path=path, out=out).expect(0)
        step, = [step for step in outcome.phases[0]["steps"] if step["name"] == "fill"]
        assert step["outcome"].startswith("50 % of 96") and abs(step["bytes"] - (48 << 20)) < 2 << 20, step
        again = program.run([*options, "--dry-run"], path=path, out=out.with_name("dry")).expect(0)
        assert "0.0 % in use" in again.stdout, "the files are gone"
