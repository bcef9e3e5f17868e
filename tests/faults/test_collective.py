"""Collective MPI-IO when one rank cannot go on: the other ranks must not wait for it, and all must say why."""
import program
import pytest

pytestmark = pytest.mark.mpi
EIO, ENOSPC = 5, 28
MIB = 1 << 20
TOGETHER = ("--engine", "mpiio", "-t", "1", "-+V", "--collective", "-r", "64k")


def on_rank(rank, shim, order):
    """Words before the program's: the library that obeys the file `order` is preloaded into this rank only."""
    script = f'if [ "$OMPI_COMM_WORLD_RANK" = {rank} ]; then export LD_PRELOAD={shim} FAULT_ORDER={order}; fi; exec "$@"'
    return ("sh", "-c", script, "sh")


def errors_of(outcome):
    return {error["worker"]: error["message"] for phase in outcome.phases for error in phase["errors"]}


@pytest.mark.parametrize("rank", [0, 2])
def test_a_rank_that_fails_before_the_start_keeps_nobody_waiting(rank, shim, path, out, tmp_path):
    order = tmp_path / "order"
    order.write_text(str(ENOSPC))
    words = ("-i", "1", "-+n", *TOGETHER, "-s", "1m")  # the lanes fill the file first
    outcome = program.run(words, path=path, out=out, prefix=(*program.mpirun(3), *on_rank(rank, shim, order))).expect(2)
    errors = errors_of(outcome)
    assert "No space left" in errors.pop(rank), outcome
    assert len(errors) == 2 and all("another rank cannot take part" in message for message in errors.values()), outcome


@pytest.mark.parametrize("rank", [0, 2])
def test_a_rank_that_hangs_before_the_start_is_dropped_and_the_others_say_so(rank, shim, path, out, tmp_path):
    """Their naps while they wait are no stall, so nothing but the loss of the rank ends their wait."""
    order = tmp_path / "order"
    order.write_text("hang")
    words = ("-i", "1", "-+n", *TOGETHER, "-s", "1m", "--stall-timeout", "3")
    outcome = program.run(words, path=path, out=out, prefix=(*program.mpirun(3), *on_rank(rank, shim, order)))
    assert outcome.code in (2, 3), outcome
    lost = [line for line in outcome.stderr.splitlines() if "is lost" in line]
    assert lost and all(f"worker {rank} " in line and "no progress" in line for line in lost), outcome
    errors = errors_of(outcome)
    assert "no progress" in errors.pop(rank), outcome
    assert len(errors) == 2 and all("another rank cannot take part" in message for message in errors.values()), outcome


def test_the_phases_after_a_rank_is_lost_are_not_waited_for(shim, path, out, tmp_path):
    order = tmp_path / "order"
    order.write_text("hang")
    words = ("-i", "1", *TOGETHER, "-s", "1m", "--stall-timeout", "3")  # re-read is the phase after read
    outcome = program.run(words, path=path, out=out, prefix=(*program.mpirun(3), *on_rank(2, shim, order)))
    assert outcome.code in (2, 3), outcome
    assert outcome.stderr.count("is lost") == 1, outcome


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_whose_calls_fail_ends_the_phase_and_not_the_job(rank, shim, path, out, tmp_path):
    order = tmp_path / "order"
    words = ("-i", "0", "-+n", *TOGETHER, "-s", "4m", "--time", "100")
    with program.start(words, path=path, out=out, prefix=(*program.mpirun(2), *on_rank(rank, shim, order))) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 * MIB, "ranks that write")
        order.write_text(str(EIO))
        outcome = running.wait()
    assert outcome.code == 2 and outcome.result["run"]["exit_code"] == 2, outcome
    assert set(errors_of(outcome)) >= {rank}, outcome
    assert outcome.phases[0]["duration_s"] < 90, "the other rank has gone on to the end of its time"
    assert not outcome.data.exists()
