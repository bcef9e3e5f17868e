"""--server-path: the servers do each phase by themselves, in their own directory; the report compares the layers."""
import pytest

import program

MIB = 1 << 20
FILE_BYTES = 2 * MIB
OPTIONS = ["-i", "0", "-i", "1", "-+n", "-c", "-e", "-r", "64k", "-s", "2m"]


@pytest.fixture
def port():
    return program.free_port()


@pytest.fixture
def server_dir(tmp_path):
    directory = tmp_path / "export"
    directory.mkdir()
    (directory / "yours").write_text("not ours")
    return directory


def worker(port, *words):
    return (program.BINARY, "worker", "--join", f"127.0.0.1:{port}", "--insecure", *words)


def run(path, out, port, server_dir, words, workers=2, server_workers=2, root=None, server_words=()):
    """Runs with two workers of one client and a sampler with server workers beside it, all on this host."""
    listen = ["--listen", f"127.0.0.1:{port}", "--insecure", "--workers", str(workers), "--samplers", "1"]
    server = ["--sampler", "--server-workers", str(server_workers), "--root", str(root or server_dir)] if server_workers else ["--sampler"]
    server += server_words
    helpers = [worker(port, "--root", str(path))] * workers + [worker(port, *server)]
    return program.run([*listen, "--server-path", str(server_dir), *words], path=path, out=out, helpers=helpers)


def test_the_server_does_each_phase_after_the_clients(path, out, port, server_dir):
    outcome = run(path, out, port, server_dir, OPTIONS).expect(0)
    assert [phase["name"] for phase in outcome.phases] == ["write", "read", "write on the server", "read on the server"]
    for phase in outcome.phases:
        assert phase["bytes"] == 2 * FILE_BYTES and phase["lane_count"] == 2
        assert len(phase["clients"]) == 1 and len(phase["servers"]) == 1
        workers = [worker["worker"] for worker in phase["clients"][0]["workers"]]
        assert workers == ([2, 3] if "server" in phase["name"] else [0, 1])
    # Phases run one after the other.
    starts = [phase["started_at"] for phase in outcome.phases]
    assert starts == sorted(starts)
    run_info = outcome.result["run"]
    assert run_info["worker_count"] == 2 and run_info["lane_count"] == 2
    assert len(outcome.result["clients"]) == 1 and outcome.result["clients"][0]["worker_count"] == 2
    # The run's data are gone, and what was there before is unchanged.
    assert [entry.name for entry in server_dir.iterdir()] == ["yours"]
    assert (server_dir / "yours").read_text() == "not ours"


@pytest.mark.parametrize("limit", [["--max-lanes", "2"], ["--max-lanes=2"]])
def test_the_limit_of_lanes_is_for_the_workers_beside_the_sampler(path, out, port, server_dir, limit):
    outcome = run(path, out, port, server_dir, [*OPTIONS, "--join-timeout", "20"], server_words=limit).expect(0)
    assert [phase["bytes"] for phase in outcome.phases] == [2 * FILE_BYTES] * 4


def test_layers_have_the_rates_of_their_phases(path, out, port, server_dir):
    outcome = run(path, out, port, server_dir, [*OPTIONS, "--repeat", "2"]).expect(0)
    assert [entry["phase"] for entry in outcome.result["layers"]] == ["write", "read"]
    write = outcome.result["layers"][0]
    rates = {name: [phase["headline"]["bytes_per_s"] for phase in outcome.phases if phase["name"] == name]
             for name in ("write", "write on the server")}
    disk, network, clients = write["rows"]
    assert disk["rate"] == pytest.approx(sum(rates["write on the server"]) / 2)
    assert clients["rate"] == pytest.approx(sum(rates["write"]) / 2)
    assert disk["count"] == clients["count"] == 2
    assert network["rate"] is None and network["remark"]  # over no network at all
    assert "2 lanes" in disk["remark"] and "2 lanes" in clients["remark"]
    assert "layers: what the servers" in outcome.stdout and "narrowest" in outcome.stdout
    markdown = program.plain("report", str(out), "--format", "markdown").expect(0).stdout
    assert "## Layers" in markdown and "- narrowest: " in markdown


def test_the_server_s_directory_may_be_the_clients_own(path, out, port):
    before = sorted(path.iterdir())
    outcome = run(path, out, port, path, OPTIONS).expect(0)
    assert [phase["bytes"] for phase in outcome.phases] == [2 * FILE_BYTES] * 4
    assert sorted(path.iterdir()) == before


def test_criteria_are_of_the_clients_unless_they_name_the_server_s_phase(path, out, port, server_dir):
    words = [*OPTIONS, "--require", "write>=1KiB/s", "--require", "read on the server>=1KiB/s"]
    outcome = run(path, out, port, server_dir, words)
    assert [criterion["phase"] for criterion in outcome.result["criteria"]] == ["write", "read on the server"]


def test_a_server_s_directory_outside_its_root_is_refused(path, out, port, server_dir, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    outcome = run(path, out, port, server_dir, OPTIONS, root=other).expect(1)
    assert str(server_dir) in outcome.stderr and "--root" in outcome.stderr, outcome
    assert not out.exists() and [entry.name for entry in server_dir.iterdir()] == ["yours"]


def test_a_server_without_the_directory_is_refused(path, out, port, tmp_path):
    outcome = run(path, out, port, tmp_path / "missing", OPTIONS, root=tmp_path).expect(1)
    assert str(tmp_path / "missing") in outcome.stderr, outcome
    assert not out.exists()


def test_a_sampler_without_workers_is_named(path, out, port, server_dir):
    outcome = run(path, out, port, server_dir, [*OPTIONS, "--join-timeout", "2"], server_workers=0).expect(3)
    assert "0 of 2 workers on servers (--server-workers)" in outcome.stderr, outcome


@pytest.mark.parametrize("words, says", [
    ([], "it needs --sampler-hosts LIST, or --listen with --samplers N"),
    (["--per-client"], "leave --per-client and --background out"),
    (["-w"], "cannot keep the data"),
])
def test_runs_in_which_no_server_can_measure(words, says, path, out):
    outcome = program.run(["--server-path", "/tmp", "--spawn", "2", *words, *OPTIONS], path=path, out=out).expect(1)
    assert says in outcome.stderr and len(outcome.stderr.strip().splitlines()) == 1, outcome
    assert not out.exists()


@pytest.mark.parametrize("words, says", [
    (["--server-workers", "2", "--root", "/tmp"], "it needs --sampler"),
    (["--sampler", "--server-workers", "2"], "it needs --root DIR"),
    (["--sampler", "--server-workers", "2", "--root", "/tmp", "--stay"], "cannot be combined with --stay"),
])
def test_workers_that_are_no_server_s(words, says, port):
    outcome = program.plain(*worker(port, *words)[1:]).expect(1)
    assert says in outcome.stderr, outcome


def test_sampler_hosts_start_the_server_s_workers(path, out, tmp_path, server_dir):
    shell = tmp_path / "shell"
    log = tmp_path / "log"
    shell.write_text(f'#!/bin/sh\necho "$1 $2" >>{log}\nexec sh -c "$2"\n')
    shell.chmod(0o755)
    words = ["--hosts", "c1*2,c2", "--sampler-hosts", "filer", "--launcher", f"{shell} {{host}} {{command}}",
             "--listen", "0.0.0.0:0", "--coordinator-host", "127.0.0.1", "--server-path", str(server_dir)]
    outcome = program.run([*words, *OPTIONS], path=path, out=out).expect(0)
    started = {line.split()[0]: line for line in log.read_text().splitlines()}
    assert f"--sampler --server-workers 3 --root {server_dir}" in started["filer"]
    assert [phase["lane_count"] for phase in outcome.phases] == [3] * 4
    assert len(outcome.result["run"]["servers"]) == 1 and outcome.result["run"]["worker_count"] == 3
