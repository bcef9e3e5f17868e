"""Workers that stay and serve run after run (--stay)."""
import contextlib
import os
import pathlib
import signal
import subprocess
import time

import program
from joining import SMALL, Cluster


@contextlib.contextmanager
def staying(cluster, *options, exit_code=0):
    """A worker with --stay, and the file with what it prints. It ends with `exit_code`: after SIGTERM, sent at the end,
    if that is 0, and otherwise on its own."""
    errors = cluster.scratch / "worker.stderr"
    with open(errors, "w", encoding="utf-8") as stderr:
        worker = subprocess.Popen([program.BINARY, "worker", "--stay", "--join", f"127.0.0.1:{cluster.port}", "--root", cluster.path,
                                   "--token-file", str(cluster.token_file), *options],
                                  stdin=subprocess.DEVNULL, stderr=stderr, env=program.clean_environment())
        try:
            yield worker, errors
            if exit_code == 0:
                worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=program.PATIENCE_S) == exit_code, errors.read_text()
        finally:
            worker.kill()
            worker.wait()


def test_a_worker_that_stays_serves_run_after_run(cluster):
    """Each run has a new certificate, which the worker finds in the token file."""
    with staying(cluster) as (worker, errors):
        for number in range(3):
            next_run = Cluster(cluster.scratch, cluster.path, cluster.scratch / f"out{number}")
            next_run.port = cluster.port
            with next_run.stack:
                next_run.with_token()
                next_run.running.wait().expect(0)
            assert worker.poll() is None, errors.read_text()


def test_a_worker_that_stays_outlives_what_sends_it_away(cluster):
    right = cluster.file("right", "the-token-of-this-run\n")
    cluster.listen("--token-file", right, loopback=True)    # writes its certificate into the file
    cluster.file("token", "a-token-of-another-run\n" + pathlib.Path(right).read_text().split("\n", 1)[1])
    with staying(cluster) as (worker, errors):
        cluster.running.wait_until(lambda: "waiting for the next coordinator" in errors.read_text(), "it is refused")
        pathlib.Path(cluster.file("copy", pathlib.Path(right).read_text())).rename(cluster.token_file)
        cluster.running.wait().expect(0)
        assert worker.poll() is None


def slots_that_wait(worker, errors):
    """The two processes of a worker with --stay --slots 2, as soon as both exist and one waits for a coordinator."""
    deadline = time.monotonic() + program.PATIENCE_S
    while True:
        slots = [int(pid) for file in pathlib.Path(f"/proc/{worker.pid}/task").glob("*/children")
                 for pid in file.read_text().split()]
        if len(slots) == 2 and "waiting for a coordinator at" in errors.read_text():
            return slots
        assert worker.poll() is None and time.monotonic() < deadline, errors.read_text()
        time.sleep(0.02)


def test_slots_that_stay_end_well_after_sigterm(cluster):
    with staying(cluster, "--slots", "2") as (worker, errors):
        slots_that_wait(worker, errors)


def test_a_slot_that_dies_ends_all_slots_that_stay(cluster):
    """Later runs would lack it. The exit code makes systemd start all slots again."""
    with staying(cluster, "--slots", "2", exit_code=3) as (worker, errors):
        first, second = slots_that_wait(worker, errors)
        os.kill(first, signal.SIGKILL)
    assert "has ended: signal 9 (KILL); the others end too" in errors.read_text()
    assert not pathlib.Path(f"/proc/{second}").exists()


def test_stay_and_insecure_are_said_where_they_mean_something(cluster):
    for words, options in {
            "--join-timeout": ("worker", "--join", "127.0.0.1:1", "--root", "/", "--stay", "--join-timeout", "5"),
            "nothing protects": ("worker", "--join", "192.0.2.1:9400", "--root", "/"),
            "--token-file": ("worker", "--join", "192.0.2.1:9400", "--root", "/", "--insecure", "--token-file", "/x"),
            "--listen": (*SMALL, "--token-file", "/x", "--path", str(cluster.path)),
            "--tls-key": (*SMALL, "--listen", "127.0.0.1:0", "--workers", "1", "--tls-cert", "/x", "--path", str(cluster.path)),
    }.items():
        outcome = program.plain(*options).expect(1)
        assert words in outcome.stderr and len(outcome.stderr.splitlines()) == 1, outcome
