"""Engine mpiio under mpirun: what the ranks call, by strace."""
import shlex

import program
import pytest
import strace_log

pytestmark = pytest.mark.strace

KIB = 1 << 10
MPIIO = ("--engine", "mpiio", "-t", "1")
ROMIO = ("--mca", "io", "romio321")
TWO_PHASE = ("--mpi-hint", "cb_nodes=1", "--mpi-hint", "romio_cb_write=enable")


def traced(words, ranks, path, out, logs):
    """Runs the program on ROMIO with strace around each rank. Returns also the calls of each rank on data files."""
    strace = shlex.join(strace_log.prefix("LOG")).replace("LOG", f'"{logs}/$OMPI_COMM_WORLD_RANK"')
    prefix = (*program.mpirun(ranks), *ROMIO, "sh", "-c", f'exec {strace} "$@"', "sh")
    outcome = program.run(words, path=path, out=out, prefix=prefix).expect(0)
    return outcome, [strace_log.read(logs / str(rank), outcome.data) for rank in range(ranks)]


def test_two_phase_writes_gather_small_records(path, out, tmp_path):
    """ROMIO moves interleaved records of 4 KiB with large calls of one aggregator; alone, each record is a call."""
    sizes = {}
    for name, more in [("alone", ()), ("together", ("--collective",))]:
        (tmp_path / name).mkdir()
        words = ("-i", "0", "-+n", *MPIIO, "-+V", "--interleaved", "-r", "4k", "-s", "64k", *TWO_PHASE, *more)
        outcome, calls = traced(words, 2, path, out.with_name(name), tmp_path / name)
        sizes[name] = [call.length for of_rank in calls for call in of_rank if call.name in strace_log.WRITES]
        # A rank that started before another one was found to be late has written its part once more.
        once = outcome.phases[0]["start"]["attempts"] == 1
        assert sum(sizes[name]) == 128 * KIB or not once, sizes
    assert set(sizes["alone"]) == {4 * KIB} and min(sizes["together"]) >= 8 * KIB, sizes


def test_the_aggregators_are_those_whose_calls_strace_sees(path, out, tmp_path):
    (tmp_path / "calls").mkdir()
    words = ("-i", "0", "-+n", *MPIIO, "-+V", "--interleaved", "--collective", "-r", "64k", "-s", "1m", *TWO_PHASE)
    outcome, calls = traced(words, 3, path, out, tmp_path / "calls")
    writers = [rank for rank, of_rank in enumerate(calls) if any(call.name in strace_log.WRITES for call in of_rank)]
    (phase,) = outcome.phases
    assert phase["mpi_io"]["aggregator_workers"] == writers and len(writers) == 1, (phase["mpi_io"], writers)
