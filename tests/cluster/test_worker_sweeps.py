"""With -l and -u, the first N workers do each phase, for each N, and the report shows how the throughput scales."""
import csv
import io

import program
import pytest

SWEEP = "-l 1 -u 3 -i 0 -i 1 -+n -r 64k -s 512k".split()


def check_sweep(outcome):
    assert [phase["name"] for phase in outcome.phases] == [
        f"{operation}, {count} worker{'s' if count > 1 else ''}" for count in (1, 2, 3) for operation in ("write", "read")]
    for phase in outcome.phases:
        count = int(phase["name"].split()[1])
        workers = [worker for client in phase["clients"] for worker in client["workers"]]
        assert [worker["worker"] for worker in workers] == list(range(count))
        assert all(len(worker["lanes"]) == 1 for worker in workers)
        assert phase["bytes"] == count * 512 << 10
        assert not phase["errors"]
    for operation in ("write", "read"):
        rates = [phase["headline"]["bytes_per_s"] for phase in outcome.phases if phase["operation"] == operation]
        table = outcome.stdout.split(f"\n{operation} by workers\n")[1].splitlines()
        assert table[0].split()[:3] == ["workers", "clients", "lanes"] and "scaling" in table[0]
        assert [line.split()[:3] for line in table[1:4]] == [["1", "1", "1"], ["2", "1", "2"], ["3", "1", "3"]]
        shown = [float(line.split()[-2].replace(",", "")) for line in table[1:4]]
        # Three digits: on a busy machine, one worker may be much slower alone than among others.
        assert shown == pytest.approx([100 * rate / (count * rates[0]) for count, rate in enumerate(rates, 1)], rel=0.006)


def test_a_sweep_over_spawned_workers_shows_how_it_scales(path, out):
    outcome = program.run([*SWEEP, "--spawn", "3"], path=path, out=out).expect(0)
    check_sweep(outcome)
    rows = list(csv.DictReader(io.StringIO((out / "phases.csv").read_text())))
    assert [row["workers"] for row in rows] == ["1", "1", "2", "2", "3", "3"]
    assert sum(int(row["phase_bytes"]) for row in rows) == 2 * 6 * 512 << 10
    assert sum(int(row["bytes"]) for row in outcome.rows) == 2 * 6 * 512 << 10
    again = program.plain("report", out).expect(0).stdout
    assert "write by workers" in again and again.count("scaling") == outcome.stdout.count("scaling")


@pytest.mark.mpi
def test_a_sweep_over_mpi_ranks_shows_how_it_scales(path, out):
    check_sweep(program.run(SWEEP, path=path, out=out, prefix=program.mpirun(3)).expect(0))


def test_more_workers_than_there_are_is_refused_before_anything_runs(path, out):
    outcome = program.run([*SWEEP, "--spawn", "2"], path=path, out=out).expect(1)
    assert "-u" in outcome.stderr and "2" in outcome.stderr 
    assert not out.exists() and not outcome.data.exists()


def test_workers_do_not_read_what_others_outside_the_phase_would_have_to_write(path, out):
    outcome = program.run([*SWEEP, "--spawn", "3", "--rotate-clients"], path=path, out=out).expect(1)
    assert "--rotate-clients" in outcome.stderr and "--drop-caches" in outcome.stderr


def test_of_one_worker_lanes_are_swept_over_as_before(path, out):
    outcome = program.run("-l 1 -u 2 -i 0 -+n -r 64k -s 128k".split(), path=path, out=out).expect(0)
    assert [phase["name"] for phase in outcome.phases] == ["write, 1 lane", "write, 2 lanes"]
    assert "scaling" not in outcome.stdout and "lanes per worker by operation" in outcome.stdout
