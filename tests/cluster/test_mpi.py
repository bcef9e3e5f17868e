"""What is particular to MPI: who coordinates, who prints, and launchers that do not fit."""
import os
import re
import signal

import program
import pytest
from report_checks import check_csv, check_report

SMALL = ("-i", "0", "-i", "1", "-i", "2", "-c", "-e", "-r", "64k", "-s", "256k")


def test_32_ranks_are_32_workers_and_only_rank_0_prints(path, out):
    outcome = program.run(SMALL, path=path, out=out, prefix=program.mpirun(32)).expect(0)
    check_report(outcome.result)
    check_csv(outcome)
    assert outcome.result["run"]["worker_count"] == 32 and outcome.result["run"]["transport"] == "mpi"
    assert all(phase["bytes"] == 32 * 256 << 10 for phase in outcome.phases)
    once = program.plain("report", out).expect(0).stdout
    headline = re.search(r"^.*initial write.*$", once, re.MULTILINE | re.IGNORECASE).group(0)
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


def test_bad_input_is_said_once_whatever_the_number_of_ranks(path, out):
    outcome = program.run(["-i", "0", "-s", "0"], path=path, out=out, prefix=program.mpirun(3))
    assert outcome.code != 0 and not outcome.data.exists() and not out.exists()
    ours = [line for line in outcome.stderr.splitlines() if "size" in line]
    assert len(ours) == 1, outcome


def test_the_exit_code_of_rank_0_is_that_of_mpirun(path, out):
    outcome = program.run(["-i", "nonsense"], path=path, out=out, prefix=program.mpirun(2))
    assert outcome.code == 1, outcome


def test_sigterm_to_mpirun_saves_and_removes(path, out):
    arguments = ["-i", "0", "-+n", "-r", "64k", "-s", "1m", "--time", "100", "-t", "2"]
    with program.start(arguments, path=path, out=out, prefix=program.mpirun(2)) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 << 20, "every lane going round")
        running.interrupt(signal.SIGTERM)
        outcome = running.wait()
    assert outcome.result["run"]["exit_code"] == 130 and outcome.phases[0]["bytes"] > 0
    assert not outcome.data.exists()


def test_waiting_ranks_sleep(path, out):
    """A rank without lanes in motion must nap: eight of them on few processors would otherwise eat them all."""
    arguments = ["-i", "1", "-+n", "--engine", "null", "-r", "4k", "-s", "4k", "--time", "2",
                 "--plan", write_plan(out.parent, path)]
    outcome = program.run(arguments[-2:], path=path, out=out, prefix=program.mpirun(4)).expect(0)
    phase = outcome.phases[0]
    idle = [worker for client in phase["clients"] for worker in client["workers"] if worker["worker"] != 0]
    assert len(idle) == 3
    for worker in idle:
        used = worker["cpu_user_s"] + worker["cpu_system_s"]
        assert used < 0.25 * phase["duration_s"], f"worker {worker['worker']} waited with {used} s of processor"


def write_plan(directory, path):
    """One worker of four has work for two seconds."""
    printed = program.plain("-i", "1", "-+n", "--engine", "null", "-r", "4k", "-s", "4k", "--time", "2", "--path", path,
                            "--print-plan").expect(0).stdout
    import yaml
    plan = yaml.safe_load(printed)
    plan["phases"][0]["assignments"][0]["who"] = {"workers": [0]}
    file = directory / "plan.yaml"
    file.write_text(yaml.safe_dump(plan))
    return os.fspath(file)
