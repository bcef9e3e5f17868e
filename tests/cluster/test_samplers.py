"""Samplers join beside the workers, and what they saw of their host is in the report; one that fails costs nothing else."""
import subprocess
import time

import program
import pytest

SMALL = ("-i", "0", "-i", "1", "-+n", "-ce", "-r", "64k", "-s", "4m")


@pytest.fixture
def port():
    return program.free_port()


def worker(port, *words):
    return (program.BINARY, "worker", "--join", f"127.0.0.1:{port}", "--insecure", *words)


def listening(port, *words):
    return ("--listen", f"127.0.0.1:{port}", "--insecure", "--workers", "1", "--samplers", "1", *words)


def test_a_sampler_s_figures_cover_each_phase(path, out, port):
    # The sampler gets no --root: it touches no files.
    outcome = program.run([*listening(port), *SMALL], path=path, out=out,
                          helpers=(worker(port, "--root", str(path)), worker(port, "--sampler"))).expect(0)
    (facts,) = outcome.result["run"]["servers"]
    assert facts["processors"] >= 1 and facts["kernel"] and facts["host"] == outcome.result["clients"][0]["host"]
    assert outcome.result["run"]["worker_count"] == 1 and len(outcome.result["clients"]) == 1
    for phase in outcome.phases:
        (server,) = phase["servers"]
        assert server["host"] == facts["host"] and server["problem"] == ""
        # From the start, before the first op, to the end of the last timed region.
        assert phase["duration_s"] <= server["sampled_s"] < phase["duration_s"] + 1
        assert 0 <= server["cpu_busy"] <= server["cpu_busy_max"] <= 1
        assert server["interval_count"] >= 1
    assert outcome.stdout.count(f"server      {facts['host']}") == 2 and "sampled" in outcome.stdout, outcome
    again = program.plain("report", str(out), "--format", "json").expect(0)
    assert '"servers"' in again.stdout
    assert (out / "report.html").exists()


def test_intervals_follow_the_option(path, out, port):
    words = ["-i", "0", "-r", "64k", "-s", "1m", "--time", "2", "-+n", "-c", "-e", "--sample-interval", "0.1"]
    outcome = program.run([*listening(port), *words], path=path, out=out,
                          helpers=(worker(port, "--root", str(path)), worker(port, "--sampler"))).expect(0)
    (server,) = outcome.phase("write")["servers"]
    # A busy machine samples less often, but never more often.
    assert 3 <= server["interval_count"] <= server["sampled_s"] / 0.1 + 3


def test_a_sampler_that_dies_costs_only_its_figures(path, out, port):
    words = ["-i", "0", "-r", "64k", "-s", "1m", "--time", "600", "-+n"]
    sampler = subprocess.Popen(worker(port, "--sampler"), stdin=subprocess.DEVNULL, env=program.clean_environment())
    try:
        with program.start([*listening(port), *words], path=path, out=out,
                           helpers=(worker(port, "--root", str(path)),)) as running:
            running.wait_until(lambda: running.data_bytes() > 0, "lanes write")
            sampler.kill()
            time.sleep(0.5)
            running.interrupt()
            outcome = running.wait().expect(130)
    finally:
        sampler.kill()
        sampler.wait()
    (server,) = outcome.phase("write")["servers"]
    assert server["problem"], server
    assert "the sampler on" in outcome.stderr and "goes on without it" in outcome.stderr, outcome
    assert outcome.phase("write")["bytes"] > 0 and outcome.phase("write")["errors"] == []


def test_a_missing_sampler_is_named(path, out, port):
    outcome = program.run([*listening(port), *SMALL, "--join-timeout", "4"], path=path, out=out,
                          helpers=(worker(port, "--root", str(path)),)).expect(3)
    assert "0 of 1 samplers" in outcome.stderr and "--sampler" in outcome.stderr, outcome
    assert not out.exists()


def test_sampler_hosts_start_over_the_remote_shell(path, out, tmp_path):
    shell = tmp_path / "shell"
    log = tmp_path / "log"
    shell.write_text(f'#!/bin/sh\necho "$1 $2" >>{log}\nexec sh -c "$2"\n')
    shell.chmod(0o755)
    words = ["--hosts", "c1,c2", "--sampler-hosts", "filer", "--launcher", f"{shell} {{host}} {{command}}",
             "--listen", "0.0.0.0:0", "--coordinator-host", "127.0.0.1"]
    outcome = program.run([*words, *SMALL], path=path, out=out).expect(0)
    started = {line.split()[0]: line for line in log.read_text().splitlines()}
    assert set(started) == {"c1", "c2", "filer"}
    assert "--sampler" in started["filer"] and "--root" not in started["filer"]
    assert "--sampler" not in started["c1"] and "--root" in started["c1"]
    assert len(outcome.result["run"]["servers"]) == 1 and outcome.result["run"]["worker_count"] == 2
    assert all(len(phase["servers"]) == 1 for phase in outcome.phases)


@pytest.mark.parametrize("words, says", [
    (["--samplers", "1"], "it needs --listen ADDR"),
    (["--sampler-hosts", "filer"], "it needs --hosts LIST"),
    (["--sample-interval", "1"], "it needs --sampler-hosts LIST or --samplers N"),
    (["--hosts", "c1", "--sampler-hosts", "filer*2"], "leave out *2"),
])
def test_samplers_where_there_can_be_none(words, says, path, out):
    outcome = program.run([*words, *SMALL], path=path, out=out).expect(1)
    assert says in outcome.stderr and len(outcome.stderr.strip().splitlines()) == 1, outcome
    assert not out.exists()


@pytest.mark.parametrize("words", [["--path", "/tmp"], ["--slots", "2"], ["--simulate", "2"], ["--max-lanes", "3"]])
def test_a_sampler_has_no_lanes(words, port):
    outcome = program.plain(*worker(port, "--sampler", *words)[1:]).expect(1)
    assert "--sampler has no lanes" in outcome.stderr and words[0] in outcome.stderr, outcome
