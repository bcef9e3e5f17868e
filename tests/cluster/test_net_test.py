"""The network test (-+t) works with every way to start workers, and refuses options about files."""
import re

import program
import pytest
from test_client_list import clients  # noqa: F401  (a fixture)

SHORT = ("-+t", "--time", "0.2")


def rows(outcome):
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("network test: "), outcome
    cells = [re.split(r"\s{2,}", line.strip()) for line in lines[1:]]
    assert cells[0] == ["client", "to MiB/s", "from MiB/s", "RTT median us", "RTT p99 us", "all: to MiB/s",
                        "all: from MiB/s", "reached at"]
    assert cells[-1][0].startswith("all "), outcome
    return cells[1:-1], cells[-1]


def run(*words, path, prefix=(), helpers=()):
    """Without --out, because the network test saves nothing."""
    command = [*prefix, program.BINARY, *words, "--path", str(path)]
    with program.Running(command, "/nonexistent", path, program.clean_environment(), helpers) as running:
        return running.wait()


def check(outcome):
    """Two workers on this host are one client."""
    (client,), total = rows(outcome.expect(0))
    to, back, median, p99, all_to, all_from = map(float, client[1:7])
    assert min(to, back, all_to, all_from) > 1 and 0 < median <= p99
    assert client[7].endswith("(this host)")
    assert total == ["all 1", client[5], client[6]]


def test_spawned_workers(path, tmp_path):
    check(program.plain(*SHORT, "--spawn", "2", "--path", path, cwd=tmp_path))
    saved = [file.name for file in tmp_path.glob("cluster-iobench.out*")]
    assert not saved and not (path / program.DATA_DIRECTORY).exists(), "no file is touched"


def test_workers_of_a_client_list(clients, path):  # noqa: F811
    listed = clients.list(*[f"localhost {path} {program.BINARY}"] * 2)
    check(clients.run(*SHORT, *listed))
    check(clients.run(*SHORT, *listed, "-t", "1", "-+h", "127.0.0.1"))


def test_workers_that_join(path):
    address = f"127.0.0.1:{program.free_port()}"
    worker = (program.BINARY, "worker", "--join", address, "--root", str(path))
    check(run(*SHORT, "--listen", address, "--workers", "2", path=path, helpers=(worker, worker)))


@pytest.mark.mpi
def test_ranks_of_mpi(path):
    check(run(*SHORT, path=path, prefix=program.mpirun(2)))


def test_records_of_any_size(path):
    check(run(*SHORT, "--spawn", "1", "-r", "1m", path=path))


def test_an_address_that_does_not_lead_here(path):
    """A name that cannot be resolved."""
    outcome = run(*SHORT, "--spawn", "1", "-+h", "nowhere.invalid", path=path)
    assert outcome.code == 3 and "nowhere.invalid" in outcome.stderr and "-+h" in outcome.stderr, outcome
    assert len(outcome.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("option, words", [("-i", ("-i", "0")), ("-s", ("-s", "4g")), ("-w", ("-w",)), ("-+d", ("-+d",)),
                                           ("-r", ("-r", "4k", "-r", "8k"))])
def test_what_is_about_files_is_refused(path, option, words):
    outcome = run("-+t", "--spawn", "1", *words, path=path).expect(1)
    line, = outcome.stderr.strip().splitlines()
    assert f"{option} (" in line and "-+t (--net-test)" in line, outcome


def test_it_has_no_phases_to_show(path):
    outcome = run("-+t", "--spawn", "1", "--dry-run", path=path).expect(1)
    line, = outcome.stderr.strip().splitlines()
    assert "--dry-run" in line and "-+t (--net-test)" in line, outcome


@pytest.mark.parametrize("words", [("-+t",), ("-+t", "--transport", "local")])
def test_there_must_be_a_way_to_test(path, words):
    outcome = run(*words, path=path)
    assert outcome.code == 1 and "-+t" in outcome.stderr and "--spawn" in outcome.stderr, outcome
