"""Engine mpiio under mpirun: what is in the ranks' file, by its bytes, and what goes wrong."""
import os
import re
import subprocess

import program
import pytest
from report_checks import check_report

pytestmark = pytest.mark.mpi

MIB = 1 << 20
MPIIO = ("--engine", "mpiio", "-t", "1")
ROMIO = ("--mca", "io", "romio321")
TOGETHER = (*MPIIO, "-+V", "--collective")
INTERLEAVED = ("--interleaved", "--block", "256k")
COMPONENTS = {"OMPIO": (), "ROMIO": ROMIO}


def component(name):
    return pytest.param(COMPONENTS[name], name, id=name)


BOTH = pytest.mark.parametrize("mca, library", [component(name) for name in COMPONENTS])


@BOTH
@pytest.mark.parametrize("layout", [(), ("-+V",), ("-+V", *INTERLEAVED), ("-+V", *INTERLEAVED, "--mpi-view"),
                                    ("-+V", "--collective"), ("-+V", *INTERLEAVED, "--collective"),
                                    ("-+V", *INTERLEAVED, "--collective", "--mpi-view")], ids=" ".join)
def test_every_layout_reads_what_it_wrote(mca, library, layout, path, out):
    words = ("-i", "0", "-i", "1", "-i", "2", *MPIIO, *layout, "-r", "64k", "-s", "1m", "-e", "-c", "--verify", "-x")
    outcome = program.run(words, path=path, out=out, prefix=(*program.mpirun(3), *mca)).expect(0)
    check_report(outcome.result)
    collective = "--collective" in layout
    for phase in outcome.phases:
        assert phase["bytes"] == 3 * MIB and phase["engine"] == "mpiio"
        facts = phase["mpi_io"]
        assert "MPI" in facts["library"] and (library == "OMPIO" or "romio321" in facts["library"])
        assert facts["collective"] == collective and facts["view"] == ("--mpi-view" in layout)
        assert facts.get("ranks", 0) == (3 if collective else 0)
        assert collective or facts["aggregator_workers"] == []
        if "read" in phase["name"]:
            assert phase["verify"]["sectors"] == 3 * MIB // 512 and phase["verify"]["mismatched"] == 0
    assert re.search(r"MPI-IO +" + ("collective, 3 ranks" if collective else "each lane alone"), outcome.stdout)
    assert not outcome.data.exists()


@BOTH
def test_a_file_has_the_same_bytes_whoever_writes_it(mca, library, path, tmp_path):
    """With the same seed, the posix engine, MPI-IO alone, and MPI-IO together through views leave equal files."""
    files = []
    for name, words in [("posix", ("-t", "1")), ("alone", MPIIO), ("views", (*MPIIO, "--collective", "--mpi-view"))]:
        words = ("-i", "0", "-+n", "-r", "64k", "-s", "1m", "-+V", *INTERLEAVED, "--seed", "7", "-w", *words)
        directory = tmp_path / f"of-{name}"
        directory.mkdir()
        outcome = program.run(words, path=directory, out=tmp_path / name, prefix=(*program.mpirun(2), *mca)).expect(0)
        (file,) = [file for file in outcome.data.iterdir() if file.stat().st_size == 2 * MIB]
        files.append(file.read_bytes())
    assert files[0] == files[1] == files[2]


def test_ranks_flush_together_after_every_eighth_op(path, out):
    words = ("-i", "0", "-+n", *TOGETHER, "-r", "16k", "-s", "512k", "--fsync-every", "8", "-c")
    outcome = program.run(words, path=path, out=out, prefix=program.mpirun(3)).expect(0)
    (phase,) = outcome.phases
    assert phase["by_kind"]["fsync"]["ops"] == 3 * 32 // 8 and phase["by_kind"]["close"]["ops"] == 3


def test_a_time_limit_ends_all_ranks(path, out):
    words = ("-i", "0", "-+n", *TOGETHER, "-r", "16k", "-s", "256k", "--time", "1", "-e")
    outcome = program.run(words, path=path, out=out, prefix=program.mpirun(3)).expect(0)
    (phase,) = outcome.phases
    assert phase["ops"] > 3 * 16 and not phase["interrupted"]


def test_ctrl_c_ends_a_collective_phase(path, out):
    words = ("-i", "0", "-+n", *TOGETHER, "-r", "64k", "-s", "4m", "--time", "100", "-e")
    with program.start(words, path=path, out=out, prefix=program.mpirun(2)) as running:
        running.wait_until(lambda: running.data_bytes() >= 4 * MIB, "ranks that write")
        running.interrupt()
        outcome = running.wait()
    assert outcome.result["run"]["exit_code"] == 130 and outcome.phases[0]["bytes"] > 0
    assert not outcome.data.exists()


@pytest.mark.parametrize("prefix, words", [((), ()), ((), ("--spawn", "2")), ((), ("--transport", "local"))])
def test_outside_mpirun_it_is_refused_with_the_line_to_use(prefix, words, path, out):
    outcome = program.run(("-i", "0", "-r", "64k", "-s", "256k", "--engine", "mpiio", *words), path=path, out=out, prefix=prefix)
    outcome.expect(1)
    assert "mpirun -np N cluster-iobench --engine mpiio" in outcome.stderr, outcome
    assert not outcome.data.exists()


@BOTH
@pytest.mark.parametrize("record", ["4k", "64k"])  # a call that writes nothing, and one that writes a part
def test_a_full_file_system_is_an_error_although_mpi_may_report_success(mca, library, record, path, out):
    if os.geteuid() != 0:
        pytest.fail("this test mounts a tmpfs: run it as root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", path], check=True)
    try:
        words = ("-i", "0", "-+n", *MPIIO, "-r", record, "-s", "4m", "--force")
        outcome = program.run(words, path=path, out=out, prefix=(*program.mpirun(1), *mca)).expect(2)
        (error,) = outcome.phases[0]["errors"]
        assert re.search("file system full|input/output error|No space left", error["message"]), error
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def test_a_rank_that_cannot_take_part_ends_the_phase_for_all(path, out):
    """One rank may not have so large a record: the others must not wait for it."""
    limited = ("sh", "-c", 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then ulimit -f 100; fi; exec "$@"', "sh")
    words = ("-i", "0", "-+n", *TOGETHER, "-r", "64k", "-s", "512k")
    outcome = program.run(words, path=path, out=out, prefix=(*program.mpirun(3), *limited))
    assert outcome.code in (1, 2), outcome
    assert re.search("RLIMIT_FSIZE|File too large|ulimit", outcome.stdout + outcome.stderr), outcome


def test_a_plan_in_a_file_uses_it_too(path, out, tmp_path):
    words = ("-i", "0", "-+n", *TOGETHER, "-r", "64k", "-s", "256k", "--mpi-hint", "cb_nodes=1")
    plan = tmp_path / "plan.yaml"
    plan.write_text(program.plain(*words, "--path", path, "--print-plan").expect(0).stdout)
    outcome = program.run(("--plan", plan), path=path, out=out, prefix=program.mpirun(2)).expect(0)
    assert outcome.phases[0]["mpi_io"]["collective"]


def as_two_clients(words, tmp_path, change=":"):
    """Two ranks, the second of which looks like another host, where the command `change` has been run."""
    if os.geteuid() != 0:
        pytest.fail("this test mounts a file system of its own in a rank: run it as root")
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("11111111-2222-3333-4444-555555555555\n")
    script = f'hostname other; mount --bind {boot_id} /proc/sys/kernel/random/boot_id; {change}; exec "$@"'
    second = ("unshare", "--mount", "--uts", "--propagation", "private", "sh", "-ec", script, "sh")
    command = (*program.mpirun(1), program.BINARY, *words, ":", "-np", "1", *second, program.BINARY, *words)
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=program.PATIENCE_S,
                          env=program.clean_environment(), check=False)


def test_a_client_that_skip_bad_would_leave_out_is_named_and_nothing_is_written(out, tmp_path):
    mounted = tmp_path / "mounted"
    (mounted / "sub").mkdir(parents=True)
    words = ("--path", mounted / "sub", "--out", out, "-i", "0", "-i", "1", *TOGETHER, "-r", "64k", "-s", "4m", "--skip-bad")
    asked = as_two_clients(words, tmp_path, f"mount -t tmpfs none {mounted}")
    assert asked.returncode == 1, asked
    (line,) = [line for line in asked.stderr.splitlines() if line.startswith("cluster-iobench: ")]
    assert "would leave out other (" in line and "start the run without this client" in line, line
    assert not list((mounted / "sub").iterdir()) and not out.exists()


def test_capacity_of_several_clients_is_not_measured_together(path, out, tmp_path):
    words = ("capacity", "--path", path, "--out", out, "--op", "write", *TOGETHER, "-r", "64k", "-s", "4m")
    asked = as_two_clients(words, tmp_path)
    assert asked.returncode == 1 and "some of the 2 clients" in asked.stderr, asked
    assert not (path / program.DATA_DIRECTORY).exists() and not out.exists()


@pytest.mark.parametrize("hints, problem", [(("cb_nodes=1", "cb_nodes=2"), "two hints for cb_nodes"),
                                            (("cb_nodes=banana",), "cb_nodes has a whole number")], ids=["twice", "no number"])
def test_hints_that_mpi_would_misread_are_refused(hints, problem, path, out):
    words = ("-i", "0", *MPIIO, "-r", "64k", "-s", "256k", *(word for hint in hints for word in ("--mpi-hint", hint)))
    outcome = program.run(words, path=path, out=out, prefix=program.mpirun(2)).expect(1)
    assert problem in outcome.stderr and not outcome.data.exists(), outcome


def test_an_interrupted_run_says_how_to_go_on_with_as_many_ranks(path, out):
    words = ("-i", "0", "-i", "1", "-+n", *TOGETHER, "-r", "64k", "-s", "1m", "--time", "5", "--lost-after", "30")
    with program.start(words, path=path, out=out, prefix=program.mpirun(2)) as running:
        running.wait_until(lambda: running.data_bytes() > 0, "the first write")
        running.interrupt()
        ended = running.wait()
    (launcher, line) = re.search(r"go on with `(.*)cluster-iobench (run --resume [^`]*)`", ended.stderr).groups()
    assert launcher == "mpirun -np 2 " and str(out) in line and "--lost-after 30" in line, ended
    command = [*map(str, program.mpirun(2)), str(program.BINARY), *line.split()]
    resumed = subprocess.run(command, capture_output=True, text=True, timeout=program.PATIENCE_S,
                             env=program.clean_environment(), check=False)
    assert resumed.returncode == 0 and "resuming with phase" in resumed.stderr, resumed
