"""Under mpirun, rank 0 coordinates and prints alone, and a launcher of another MPI is refused."""
import os
import pathlib
import re
import signal
import time

import program
import pytest
import yaml
from report_checks import check_csv, check_report

pytestmark = pytest.mark.mpi

SMALL = ("-i", "0", "-i", "1", "-i", "2", "-c", "-e", "-r", "64k", "-s", "256k")


def test_32_ranks_are_32_workers_and_only_rank_0_prints(path, out):
    outcome = program.run(SMALL, path=path, out=out, prefix=program.mpirun(32)).expect(0)
    check_report(outcome.result)
    check_csv(outcome)
    assert outcome.result["run"]["worker_count"] == 32 and outcome.result["run"]["transport"] == "mpi"
    for operation in ("write", "read", "reread", "random-read"):     # a flushed stonewall may end a rewrite early
        assert outcome.phase(operation)["bytes"] == 32 * 256 << 10
    assert "\x1b" not in outcome.stdout, "mpirun's output is no terminal here, though rank 0's may be"
    once = program.plain("report", out).expect(0).stdout
    headline = re.search(r"^write .*$", once, re.MULTILINE | re.IGNORECASE).group(0)
    assert outcome.stdout.count(headline) == once.count(headline)


def test_one_rank_is_enough(path, out):
    outcome = program.run(SMALL, path=path, out=out, prefix=program.mpirun(1)).expect(0)
    assert outcome.result["run"]["worker_count"] == 1


def test_transport_local_under_mpirun_of_one(path, out):
    outcome = program.run([*SMALL, "--transport", "local"], path=path, out=out, prefix=program.mpirun(1)).expect(0)
    assert outcome.result["run"]["transport"] == "local"


@pytest.mark.parametrize("promise", [
    {"PMI_SIZE": "4", "PMI_RANK": "0"},
    {"PMI_SIZE": "4", "PMI_RANK": "3"},
])
def test_a_launcher_of_another_mpi_is_named(promise, path, out):
    outcome = program.run(SMALL, path=path, out=out, env=program.clean_environment(**promise)).expect(1)
    lines = [line for line in outcome.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, outcome
    assert "Open MPI" in lines[0] and re.search(r"PMI|MPICH|Intel", lines[0]), outcome
    assert not outcome.data.exists() and not out.exists()


def test_a_batch_script_of_slurm_is_not_an_mpi_run(path, out):
    slurm = {"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_JOB_ID": "17"}
    outcome = program.run(SMALL, path=path, out=out, env=program.clean_environment(**slurm)).expect(0)
    assert outcome.result["run"]["transport"] == "local"


@pytest.mark.parametrize("variables, line", [
    ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "{}"}, "srun --mpi=pmix -n 4 cluster-iobench"),
    ({"FLUX_JOB_SIZE": "4", "FLUX_TASK_RANK": "{}"}, "flux run -o pmi=pmix -n 4 cluster-iobench"),
    ({"JSM_NAMESPACE_SIZE": "4", "JSM_NAMESPACE_RANK": "{}"}, "mpirun -np 4 cluster-iobench"),
])
def test_tasks_without_mpi_are_not_benchmarks_of_their_own(variables, line, path, out):
    said = []
    for task, code in ((0, 1), (1, 0), (3, 0)):
        environment = program.clean_environment(**{name: value.format(task) for name, value in variables.items()})
        said.append(program.run(SMALL, path=path, out=out, env=environment).expect(code).stderr)
    assert len(said[0].splitlines()) == 1 and line in said[0] and said[1:] == ["", ""], said
    assert not (path / program.DATA_DIRECTORY).exists() and not out.exists()


def test_the_only_task_of_a_step_is_a_coordinator(path, out):
    step = {"SLURM_STEP_NUM_TASKS": "1", "SLURM_PROCID": "0", "SLURM_JOB_ID": "17", "SLURM_NTASKS": "8"}
    outcome = program.run([*SMALL, "--spawn", "2"], path=path, out=out, env=program.clean_environment(**step)).expect(0)
    assert outcome.result["run"]["worker_count"] == 2


def test_workers_start_in_any_task(path, out, tmp_path):
    address = f"unix:{tmp_path}/socket"
    environment = program.clean_environment(SLURM_STEP_NUM_TASKS="2", SLURM_PROCID="1")
    worker = ("env", *(f"{name}={environment[name]}" for name in ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")),
              program.BINARY, "worker", "--join", address, "--root", "/")
    program.run([*SMALL, "--listen", address, "--workers", "2"], path=path, out=out, helpers=(worker, worker)).expect(0)


def test_bad_input_is_said_once_whatever_the_number_of_ranks(path, out):
    outcome = program.run(["-i", "0", "-s", "0"], path=path, out=out, prefix=program.mpirun(3))
    assert outcome.code != 0 and not outcome.data.exists() and not out.exists()
    ours = [line for line in outcome.stderr.splitlines() if "size" in line]
    assert len(ours) == 1, outcome


def test_the_exit_code_of_rank_0_is_that_of_mpirun(path, out):
    outcome = program.run(["-i", "nonsense"], path=path, out=out, prefix=program.mpirun(2))
    assert outcome.code == 1, outcome


def test_the_live_view_is_refused_since_mpirun_has_the_terminal(path, out):
    outcome = program.run([*SMALL, "--live"], path=path, out=out, prefix=program.mpirun(2)).expect(1)
    assert outcome.stderr.count("--live needs the terminal, which mpirun keeps to itself") == 1, outcome
    assert not out.exists() and not outcome.data.exists()


def test_sigterm_to_mpirun_saves_and_removes(path, out):
    arguments = ["-i", "0", "-+n", "-r", "64k", "-s", "1m", "--time", "100", "-t", "2"]
    with program.start(arguments, path=path, out=out, prefix=program.mpirun(2)) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        running.interrupt(signal.SIGTERM)
        outcome = running.wait()
    assert outcome.result["run"]["exit_code"] == 130 and outcome.phases[0]["bytes"] > 0
    assert not outcome.data.exists()


def processor_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ranks_of(pid):
    """rank -> process id, of the ranks that mpirun has started so far"""
    found = {}
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        environment = pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        found.update({int(entry.split(b"=")[1]): int(child) for entry in environment
                      if entry.startswith(b"OMPI_COMM_WORLD_RANK=")})
    return found


def test_waiting_ranks_sleep(path, out, tmp_path):
    """Only worker 0 has work. OpenMPI's own waiting would use a whole processor for each other rank."""
    options = ("-i", "1", "-+n", "--engine", "null", "-r", "4k", "-s", "4k", "-t", "1", "--time", "1000")
    plan = yaml.safe_load(program.plain(*options, "--path", path, "--print-plan").expect(0).stdout)
    plan["phases"][0]["assignments"][0]["who"] = {"workers": [0]}
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))
    command = [*program.mpirun(4), program.BINARY, "--plan", str(tmp_path / "plan.yaml"), "--out", str(out)]
    with program.Running(command, out, path, program.clean_environment()) as running:
        running.wait_until(lambda: len(ranks_of(running.process.pid)) == 4, "four ranks")
        ranks = ranks_of(running.process.pid)
        running.wait_until(lambda: processor_s(ranks[0]) > 1, "worker 0 at work")
        before = {rank: processor_s(ranks[rank]) for rank in range(4)}
        begin = time.monotonic()
        running.wait_until(lambda: processor_s(ranks[0]) > before[0] + 1, "a second of worker 0")
        used = {rank: processor_s(ranks[rank]) - before[rank] for rank in range(1, 4)}
        elapsed_s = time.monotonic() - begin
        running.interrupt()
        outcome = running.wait()
    # A rank that spins would use as much as worker 0. On a busy machine, the second may last much longer.
    assert all(seconds < max(0.1, 0.03 * elapsed_s) for seconds in used.values()), f"in {elapsed_s:.1f} s: {used}"
    assert outcome.phases[0]["ops"] > 0
