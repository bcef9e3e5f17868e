"""The batch scripts for Slurm, run by Slurm's own daemons on two nodes of this machine."""

import json
import pathlib
import shlex

import pytest

import program
import slurm

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "slurm"
PHASES = ("-i", "0", "-i", "1", "-r", "64k", "-s", "1m", "-t", "1", "-c", "-e")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with slurm.Slurm(tmp_path_factory.mktemp("slurm")) as running:
        yield running


def submit(cluster, script, tmp_path, *options, **environment):
    """Runs the script as a job of two nodes. Returns sbatch's exit code, which is the job's, and what the job printed."""
    out = tmp_path / "out"
    ended = cluster.run("sbatch", "--wait", "--nodes", "2", "--ntasks-per-node", "1", "--output", tmp_path / "job.log",
                        SCRIPTS / script, *options, cwd=tmp_path, IOBENCH=str(program.BINARY), IOBENCH_OUT=str(out), **environment)
    log = tmp_path / "job.log"
    return ended.returncode, (log.read_text() if log.exists() else "") + ended.stderr, out


def check_result(out, transport):
    result = json.loads((out / "result.json").read_text())
    assert result["run"]["exit_code"] == 0 and result["run"]["transport"] == transport
    assert result["run"]["worker_count"] == 2 and [phase["name"] for phase in result["phases"]] == ["write", "rewrite", "read", "reread"]


def test_tasks_are_mpi_ranks(cluster, path, tmp_path):
    code, said, out = submit(cluster, "mpi.sbatch", tmp_path, "--path", path, *PHASES, OMPI_ALLOW_RUN_AS_ROOT="1",
                             OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    assert code == 0, said + cluster.logs()
    check_result(out, "mpi")


def test_tasks_join_over_grpc_with_the_token_of_the_run(cluster, path, tmp_path):
    port = program.free_port()
    code, said, out = submit(cluster, "grpc.sbatch", tmp_path, "--path", path, *PHASES, IOBENCH_PORT=str(port))
    assert code == 0, said + cluster.logs()
    check_result(out, "grpc")
    assert not list(tmp_path.glob(".cluster-iobench-*")), "the token is removed with the job"


def test_grpc_workers_may_use_every_path_and_get_their_own_options(cluster, path, tmp_path):
    port = program.free_port()
    other = tmp_path / "other"
    other.mkdir()
    phase = ("--op", "write", "-r", "64k", "-s", "1m", "-t", "1", "-X", other / "trace")
    code, said, out = submit(cluster, "grpc.sbatch", tmp_path, "--path", path, f"--path={other}", *phase,
                             IOBENCH_PORT=str(port), IOBENCH_WORKER_OPTIONS="--allow log-files")
    assert code == 0, said + cluster.logs()
    assert json.loads((out / "result.json").read_text())["run"]["worker_count"] == 2
    assert sorted(file.name for file in other.glob("trace.*")) == ["trace.0", "trace.1"]


def test_hosts_are_started_with_srun(cluster, path, tmp_path):
    """In a job of two tasks, each of the two sruns would start a task on both nodes if it were only told its node."""
    out = tmp_path / "out"
    words = [program.BINARY, "--hosts", "node1,node2", "--launcher", "srun", "--listen", "127.0.0.1:0",
             "--coordinator-host", "127.0.0.1", "--path", path, *PHASES, "--out", out]
    ended = cluster.run("sbatch", "--wait", "--nodes", "2", "--ntasks-per-node", "1", "--output", tmp_path / "job.log",
                        "--wrap", shlex.join(str(word) for word in words), cwd=tmp_path)
    log = tmp_path / "job.log"
    assert ended.returncode == 0, (log.read_text() if log.exists() else "") + ended.stderr + cluster.logs()
    check_result(out, "grpc")


def test_without_a_path_the_job_says_what_is_missing(cluster, tmp_path):
    code, said, _ = submit(cluster, "grpc.sbatch", tmp_path, "-i", "0")
    assert code == 1 and "--path DIR" in said
