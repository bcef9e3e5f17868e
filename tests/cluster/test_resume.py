"""A run that was cut off goes on where it stopped: finished phases stay as they are, the rest is measured."""
import contextlib
import json
import os
import shutil
import signal
import time

import program
import pytest
from report_checks import check_csv, check_schema

# Four phases of 0.6 s, at a pace that uses little of the machine.
PHASES = ("-i", "0", "-i", "1", "-+n", "-r", "4k", "-s", "64k", "--time", "0.6", "-+O", "100", "--repeat", "2")
ONE = ("--transport", "local", "-t", "1")


def raw(out):
    return {file.name: file.read_bytes() for file in sorted((out / "raw").glob("phase-*.pb"))}


def resume(out, *more, prefix=()):
    """Resumes without --path and --out, which the saved run knows."""
    return program.start_bare([*prefix, program.BINARY, "run", "--resume", str(out), *more])


def cut_off(running, out, phase, strike):
    """Calls strike(running) during the phase after `phase`, or a later one on a busy machine."""
    running.wait_until((out / "raw" / f"phase-{phase:03}.pb").exists, f"the end of phase {phase}")
    time.sleep(0.1)
    strike(running)
    return running.wait()


def whole_phases(out, at_least):
    """How many phases finished undisturbed before their run was cut off."""
    phases = json.loads((out / "result.json").read_text())["phases"]
    whole = [phase for phase in phases if not phase["interrupted"] and phase["workers_lost"] == 0]
    assert at_least <= len(whole) < 4, "the run was cut off too late"
    return len(whole)


def saved_phases(before, at_least):
    """The same for a run whose coordinator was killed, which cannot save what it had begun."""
    assert at_least <= len(before) < 4, "the run was cut off too late"
    return len(before)


def measured_anew(out, before, phase):
    file = out / "raw" / f"phase-{phase:03}.pb"
    return file.exists() and file.read_bytes() != before.get(file.name)


def kill(running):
    os.killpg(running.process.pid, signal.SIGKILL)


def check_whole(out, before, first):
    """All four phases are there, those before `first` unchanged to the byte, and the run says that it was resumed."""
    result = json.loads((out / "result.json").read_text())
    check_schema(result)
    check_csv(program.Outcome([], 0, "", "", out, out))
    assert [phase["index"] for phase in result["phases"]] == [0, 1, 2, 3]
    assert all(phase["ops"] > 10 and not phase["interrupted"] and phase["workers_lost"] == 0 for phase in result["phases"])
    after = raw(out)
    assert {name: after[name] for name in list(before)[:first]} == dict(list(before.items())[:first])
    resumption = result["run"]["resumptions"][-1]
    assert resumption["first_phase"] == first and resumption["resumed_at"].startswith("20")
    marked = [phase["index"] for phase in result["phases"] if "resumed" in {mark["code"] for mark in phase["marks"]}]
    assert marked == sorted({each["first_phase"] for each in result["run"]["resumptions"]}) and first in marked
    assert result["run"]["finished"] and result["run"]["exit_code"] == 0
    verified = program.plain("report", "--verify", out)
    assert verified.code == 0, verified
    text = program.plain("report", out)
    assert text.code == 0 and f"with phase {first + 1}" in " ".join(text.stdout.split()), text
    return result


def test_a_killed_coordinator_costs_the_phase_that_it_was_in(path, out):
    with program.start([*PHASES, *ONE], path=path, out=out) as running:
        cut_off(running, out, 1, kill)
    before = raw(out)
    started = json.loads((out / "result.json").read_text())["run"]
    first = saved_phases(before, at_least=2)
    assert not started["finished"]
    assert (path / program.DATA_DIRECTORY).exists()     # left behind, to be taken over
    with resume(out, "--transport", "local") as again:
        outcome = again.wait().expect(0)
    assert f"resuming with phase {first + 1} of 4" in outcome.stderr, outcome
    result = check_whole(out, before, first)
    assert result["run"]["id"] == started["id"] and result["run"]["started_at"] == started["started_at"]
    assert result["run"]["plan"]["seed"] == started["plan"]["seed"]
    assert "killed" in result["run"]["resumptions"][0]["ended_by"]
    assert not (path / program.DATA_DIRECTORY).exists()


def test_an_interrupted_phase_is_measured_again_and_a_run_can_be_resumed_twice(path, out):
    with program.start([*PHASES, "--spawn", "2", "-t", "1"], path=path, out=out) as running:
        cut_off(running, out, 0, program.Running.interrupt).expect(130)
    before = raw(out)
    assert before                                       # the phase that was interrupted is saved too
    first = whole_phases(out, at_least=1)
    with resume(out, "--spawn", "2") as again:
        again.wait_until(lambda: measured_anew(out, before, first), f"phase {first}, again")
        again.interrupt()
        again.wait().expect(130)
    second = raw(out)
    phases = json.loads((out / "result.json").read_text())["phases"]
    with resume(out, "--spawn", "2") as again:
        again.wait().expect(0)
    # Ctrl-C may have come between two phases.
    result = check_whole(out, second, len(phases) - (1 if phases[-1]["interrupted"] else 0))
    assert raw(out)["phase-000.pb"] == before["phase-000.pb"]
    assert [each["ended_by"] for each in result["run"]["resumptions"]] == ["it was interrupted"] * 2


def test_a_trace_is_written_by_the_phase_that_is_measured_again(path, out, tmp_path):
    traced = ("--op", "write", "-r", "4k", "-s", "64k", "--time", "1", "-X", str(tmp_path / "t"))
    with program.start([*traced, *ONE], path=path, out=out) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        running.interrupt()
        running.wait().expect(130)
    assert not (tmp_path / "t.0").exists()
    with resume(out, "--transport", "local") as again:
        again.wait().expect(0)
    assert len((tmp_path / "t.0").read_text().splitlines()) > 10


def test_the_traces_of_a_phase_that_is_measured_again_are_replaced(path, out, tmp_path):
    """The phase that lost a worker is saved, with the traces of the lanes that were left, when the coordinator is killed."""
    _, options, helpers = program.Transports(tmp_path).parts("join-unix")
    traced = ("--op", "write", "-r", "4k", "-s", "64k", "--time", "2", "-X", str(tmp_path / "t"), "--after-phase", "sleep 5")
    with program.start([*traced, *options, "--lease", "1"], path=path, out=out, helpers=helpers) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
        running.workers[0].kill()
        running.wait_until((out / "raw" / "phase-000.pb").exists, "the phase is saved")
        kill(running)
        running.wait()
    assert any(trace.stat().st_size > 0 for trace in tmp_path.glob("t.*"))
    with program.Running([program.BINARY, "run", "--resume", str(out), "--listen", options[1], "--workers", "2", "--lease", "1"],
                         out, path, program.clean_environment(), helpers) as again:
        again.wait().expect(0)
    assert all(len((tmp_path / f"t.{lane}").read_text().splitlines()) > 10 for lane in range(4))


def test_a_phase_that_lost_a_worker_is_measured_again_with_all(path, out, tmp_path):
    _, options, helpers = program.Transports(tmp_path).parts("join-unix")
    with program.start([*PHASES, *options, "--on-lost", "abort"], path=path, out=out, helpers=helpers) as running:
        cut_off(running, out, 0, lambda it: it.workers[0].kill()).expect(3)
    before, first = raw(out), whole_phases(out, at_least=1)
    with program.Running([program.BINARY, "run", "--resume", str(out), "--listen", options[1], "--workers", "2"], out, path,
                         program.clean_environment(), helpers) as again:
        again.wait().expect(0)
    check_whole(out, before, first)


def test_a_killed_coordinator_of_workers_that_have_joined(path, out, tmp_path):
    _, options, helpers = program.Transports(tmp_path).parts("join-tcp")
    with program.start([*PHASES, *options, "--lease", "1"], path=path, out=out, helpers=helpers) as running:
        cut_off(running, out, 1, kill)
    before = raw(out)
    # The wait for the lease leaves the time to join as it is.
    with program.Running([program.BINARY, "run", "--resume", str(out), "--listen", options[1], "--workers", "2", "--lease", "3",
                          "--join-timeout", "3"], out, path, program.clean_environment(), helpers) as again:
        outcome = again.wait().expect(0)
    assert "waiting for 3 s (--lease)" in outcome.stderr.replace("3.00 s", "3 s"), outcome
    check_whole(out, before, saved_phases(before, at_least=2))


def test_a_client_list_goes_on_with_the_path_of_the_run(path, out, tmp_path):
    """The list's directories are not what the run tests, and --path cannot be given again."""
    shell, listed = tmp_path / "rsh", tmp_path / "clients"
    shell.write_text('#!/bin/sh\n[ "$2" = -n ] && shift\nexec sh -c "$2" </dev/null\n')
    shell.chmod(0o755)
    listed.write_text(f"localhost {tmp_path} {program.BINARY}\n" * 2)
    env = program.clean_environment(RSH=str(shell))
    with program.start([*PHASES, "-+m", str(listed)], path=path, out=out, env=env) as running:
        cut_off(running, out, 0, program.Running.interrupt).expect(130)
    before = raw(out)
    phases = json.loads((out / "result.json").read_text())["phases"]
    with program.Running([program.BINARY, "run", "--resume", str(out), "-+m", str(listed)], out, path, env) as again:
        again.wait().expect(0)
    # Ctrl-C may have come between two phases.
    check_whole(out, before, len(phases) - (1 if phases[-1]["interrupted"] else 0))


def rank_0(out):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            place = program.pathlib.Path("/proc", pid)
            words = (place / "cmdline").read_bytes().split(b"\0")
            is_rank = b"OMPI_COMM_WORLD_RANK=0" in (place / "environ").read_bytes().split(b"\0")
            if is_rank and str(out).encode() in words:
                return int(pid)
    raise AssertionError("no rank 0")


@pytest.mark.mpi
def test_mpi_ranks_go_on(path, out):
    prefix = program.mpirun(2)
    with program.start([*PHASES, "-t", "1"], path=path, out=out, prefix=prefix) as running:
        cut_off(running, out, 1, lambda _: os.kill(rank_0(out), signal.SIGKILL))
    before = raw(out)
    with resume(out, prefix=prefix) as again:
        again.wait().expect(0)
    check_whole(out, before, saved_phases(before, at_least=2))
    complete = program.plain("report", "--verify", out)
    assert complete.code == 0, complete
    with resume(out, prefix=prefix) as again:
        assert "this run is complete" in again.wait().expect(0).stdout


def test_a_complete_run_says_so_and_stays_as_it_is(path, out):
    program.run([*PHASES[:-2], *ONE], path=path, out=out).expect(0)
    files = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    done = program.plain("run", "--resume", out, "--transport", "local")
    assert done.code == 0 and "this run is complete" in done.stdout, done
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == files


@pytest.fixture(name="killed")
def run_whose_coordinator_was_killed(path, out):
    with program.start([*PHASES, *ONE], path=path, out=out) as running:
        cut_off(running, out, 0, kill)
    return out


def results(out):
    """All files but the record of a coordinator that was killed."""
    return {file: file.read_bytes() for file in out.rglob("*") if file.is_file() and file.name != "cluster-iobench.lock"}


def test_what_does_not_fit_is_refused_and_changes_nothing(killed, path, tmp_path):
    files = results(killed)
    before = raw(killed)
    for options, why in (
            (("--spawn", "2"), "this run has 1 worker, but these options give 2"),
            (("--transport", "local", "-i", "0"), "it cannot be combined with"),
            (("--transport", "local", "/elsewhere"), "cannot be combined with the word"),
            (("--transport", "local", "--dry-run"), "cannot be combined with --dry-run"),
            (("--transport", "local", "--label", "x"), "cannot be combined with --label")):
        done = program.plain("run", "--resume", killed, *options)
        assert done.code == 1 and why in done.stderr, done
    # Another run has the data directory now.
    assert program.plain("clean", path).code == 0
    with program.start(["-i", "0", "-+n", "-r", "4k", "-s", "64k", "--time", "100", "-+O", "50", *ONE], path=path,
                       out=tmp_path / "other") as other:
        other.wait_until(lambda: other.data_bytes() > 0, "data of the other run")
        done = program.plain("run", "--resume", killed, "--transport", "local")
        assert done.code == 1 and "is in use" in done.stderr, done
        going_on = program.plain("run", "--resume", tmp_path / "other", "--transport", "local")
        assert going_on.code == 1 and "is still going on" in going_on.stderr, going_on
        other.interrupt()
        other.wait().expect(130)
    assert results(killed) == files
    # Nothing blocks it any more; its data are gone, and are prepared anew.
    with resume(killed, "--transport", "local") as again:
        again.wait().expect(0)
    check_whole(killed, before, saved_phases(before, at_least=1))


def test_a_damaged_or_missing_phase_is_measured_again_in_its_place(path, out):
    program.run([*PHASES, *ONE], path=path, out=out).expect(0)
    before = raw(out)
    (out / "raw" / "phase-000.pb").write_bytes(before["phase-000.pb"][:-1])
    (out / "raw" / "phase-002.pb").unlink()
    for report in ("result.json", "report.html"):
        (out / report).write_text("half of a rep")       # what is derived is written anew
    (out / "phases.csv").unlink()
    shutil.rmtree(out / "tables")
    with resume(out, "--transport", "local") as again:
        outcome = again.wait().expect(0)
    assert "phase-000.pb: truncated" in outcome.stderr and "phase-002.pb: missing" in outcome.stderr, outcome
    result = json.loads((out / "result.json").read_text())
    check_schema(result)
    check_csv(program.Outcome([], 0, "", "", out, out))
    assert [phase["index"] for phase in result["phases"]] == [0, 1, 2, 3]
    assert all(phase["ops"] > 10 and phase["workers_lost"] == 0 for phase in result["phases"])
    after = raw(out)
    assert after["phase-001.pb"] == before["phase-001.pb"] and after["phase-003.pb"] == before["phase-003.pb"]
    assert result["run"]["resumptions"][0]["measured_again"] == [0, 2]
    marked = [phase["index"] for phase in result["phases"] if "resumed" in {mark["code"] for mark in phase["marks"]}]
    assert marked == [0, 2]
    assert (out / "tables").is_dir() and "<html" in (out / "report.html").read_text()[:500].lower()
    assert (out / "result.json.not-ours").read_text() == (out / "report.html.not-ours").read_text() == "half of a rep"
    assert program.plain("report", "--verify", out).code == 0
    complete = program.plain("run", "--resume", out, "--transport", "local")
    assert complete.code == 0 and "this run is complete" in complete.stdout, complete


def test_a_file_that_nobody_can_read_or_a_damaged_run_is_refused_by_name(killed):
    file = killed / "raw" / "run.pb"
    file.write_bytes(file.read_bytes()[:-1])
    done = program.plain("run", "--resume", killed, "--transport", "local")
    assert done.code == 2 and "run.pb" in done.stderr, done


def test_of_two_that_resume_at_once_one_is_refused_and_nothing_is_lost(killed, path):
    before = raw(killed)
    with resume(killed, "--transport", "local") as one, resume(killed, "--transport", "local") as other:
        outcomes = sorted((one.wait(), other.wait()), key=lambda outcome: outcome.code)
    assert [outcome.code for outcome in outcomes] == [0, 1], outcomes
    assert "is still going on" in outcomes[1].stderr and f"of {os.uname().nodename}" in outcomes[1].stderr, outcomes[1]
    check_whole(killed, before, saved_phases(before, at_least=1))
    assert not (killed / "cluster-iobench.lock").exists()


@pytest.mark.parametrize("options", [("--force",), ("--resume",)])
def test_the_results_of_a_living_run_are_its_own(options, path, out, tmp_path):
    with program.start([*PHASES, *ONE], path=path, out=out) as running:
        running.wait_until((out / "raw" / "phase-000.pb").exists, "the first phase")
        record = (out / "cluster-iobench.lock").read_text().split("\n")
        assert record[1].split()[0] == str(running.process.pid) and record[2] == os.uname().nodename
        if options == ("--resume",):
            done = program.plain("run", "--resume", out, "--transport", "local", "--force")
        else:
            (tmp_path / "elsewhere").mkdir()
            done = program.run(["run", *PHASES, *ONE, "--force"], path=tmp_path / "elsewhere", out=out)
        assert done.code == 1 and f"process {running.process.pid} of" in done.stderr, done
        assert program.plain("report", out).code == 0       # readers are free
        running.wait().expect(0)
    assert [phase["index"] for phase in json.loads((out / "result.json").read_text())["phases"]] == [0, 1, 2, 3]
    assert program.plain("report", "--verify", out).code == 0


def test_an_owner_on_another_host_must_be_confirmed_to_be_gone(killed):
    lock = killed / "cluster-iobench.lock"
    record = lock.read_text().split("\n")
    lock.write_text("\n".join([record[0], "4711 1 another-boot pid:[1]", "node07", *record[3:]]))
    done = program.plain("run", "--resume", killed, "--transport", "local")
    assert done.code == 1 and "process 4711 on node07" in done.stderr and "--force" in done.stderr, done
    with resume(killed, "--transport", "local", "--force") as again:
        again.wait().expect(0)


def test_without_names_the_clients_that_there_are(killed):
    done = program.plain("run", "--resume", killed, "--transport", "local", "--without", "nobody")
    assert done.code == 1 and "no such client" in done.stderr and os.uname().nodename in done.stderr, done
    done = program.plain("run", "--resume", killed, "--transport", "local", "--without", os.uname().nodename)
    assert done.code == 1 and "would leave no client" in done.stderr, done
    done = program.plain("run", "--without", "node07", "-i", "0", "/tmp")
    assert done.code == 1 and "--resume" in done.stderr, done


def client(name, tmp_path, address):
    """A worker on a client of its own, as far as boot id and host name tell, with a path of its own."""
    place = tmp_path / name
    place.mkdir(exist_ok=True)
    (tmp_path / f"{name}.boot").write_text(f"{name}-boot\n")
    return ("unshare", "--mount", "--uts", "sh", "-c",
            f"mount --bind {tmp_path}/{name}.boot /proc/sys/kernel/random/boot_id && hostname {name} && "
            f"exec {program.BINARY} worker --join {address} --path {place}")


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")
@pytest.mark.parametrize("dead", ["node1", "node2"])
def test_a_run_goes_on_without_a_client_that_is_dead_for_good(dead, path, out, tmp_path):
    address = f"unix:{tmp_path}/coordinator.sock"
    nodes = ["node1", "node2"]
    helpers = [client(name, tmp_path, address) for name in nodes]
    with program.start([*PHASES, "--listen", address, "--workers", "2", "-t", "2", "--on-lost", "abort"], path=path, out=out,
                       helpers=helpers) as running:
        cut_off(running, out, 0, lambda it: it.workers[nodes.index(dead)].kill()).expect(3)
    before, first = raw(out), whole_phases(out, at_least=1)
    alive = next(name for name in nodes if name != dead)
    command = [program.BINARY, "run", "--resume", str(out), "--listen", address, "--workers", "1"]
    assert "--without CLIENT" in program.plain(*command[1:]).expect(1).stderr
    with program.Running([*command, "--without", dead], out, path, program.clean_environment(),
                         [client(alive, tmp_path, address)]) as again:
        outcome = again.wait().expect(3)
    result = outcome.result
    check_schema(result)
    assert f"without {dead}" in outcome.stderr and result["run"]["exit_code"] == 3
    assert result["run"]["resumptions"][-1]["without"] == [dead]
    assert [phase["workers_lost"] for phase in result["phases"]] == [0] * first + [1] * (4 - first)
    assert [row["host"] for row in result["clients"]] == nodes
    for phase in result["phases"][first:]:
        lost, = [worker for each in phase["clients"] for worker in each["workers"] if worker["lost"]]
        assert "--without" in lost["lost_reason"] and phase["ops"] > 10, phase
    assert {name: raw(out)[name] for name in list(before)[:first]} == dict(list(before.items())[:first])
    assert not (tmp_path / alive / program.DATA_DIRECTORY).exists()
    assert program.plain("report", "--verify", out).code == 0
    assert f"from then on without {dead}" in " ".join(program.plain("report", out).stdout.split())
    complete = program.plain("run", "--resume", out, "--transport", "local")
    assert complete.code == 0 and "this run is complete" in complete.stdout, complete


def test_another_version_is_refused_by_name(tmp_path):
    saved = next((program.pathlib.Path(__file__).parents[1] / "support" / "saved_runs").glob("*/*/raw/run.pb"), None) or next(
        (program.pathlib.Path(__file__).parents[1] / "support" / "saved_runs").glob("*/raw/run.pb"))
    copy = shutil.copytree(saved.parents[1], tmp_path / "copy")
    with contextlib.suppress(OSError):
        os.chmod(copy, 0o755)
    done = program.plain("run", "--resume", copy, "--transport", "local")
    assert done.code == 1 and "began this run" in done.stderr and "two versions" in done.stderr, done
