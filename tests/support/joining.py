"""A coordinator that waits on a port of this host, and workers that join it."""
import contextlib
import re
import socket
import subprocess

import program

SMALL = ("-i", "0", "-+n", "-r", "4k", "-s", "64k", "-t", "1")


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


class Cluster:
    """A coordinator that waits on a port, and whatever connects to it. The program takes its address for a network address,
    although only this host can reach it."""

    def __init__(self, tmp_path, path, out):
        self.scratch, self.path, self.out = tmp_path, path, out
        self.port = program.free_port()
        self.token_file = tmp_path / "token"
        self.stderr = tmp_path / f"{out.name}.stderr"
        self.stack = contextlib.ExitStack()
        self.running = None

    def listen(self, *options, workers=1, loopback=False, prefix=()):
        host = "127.0.0.1" if loopback else "[::ffff:127.0.0.1]" if has_ipv6() else "0.0.0.0"
        listen = ("--listen", f"{host}:{self.port}", "--workers", str(workers), "--join-timeout", "60")
        self.running = self.stack.enter_context(
            program.start([*SMALL, *listen, *options], path=self.path, out=self.out,
                          prefix=("sh", "-c", f'exec "$@" 2> {self.stderr}', "sh", *prefix)))
        self.running.wait_until(lambda: "waiting for" in self.said(), "it listens")
        return self

    def with_token(self, *options, **settings):
        return self.listen("--token-file", str(self.token_file), *options, **settings)

    def said(self):
        return self.stderr.read_text() if self.stderr.exists() else ""

    def wait_to_say(self, words):
        self.running.wait_until(lambda: re.search(words, self.said()), f"it says {words}: {self.said()}")

    def worker(self, *options, port=None, wait_s=30):
        """Runs a worker that joins, or fails to join."""
        return program.plain("worker", "--join", f"127.0.0.1:{port or self.port}", "--root", self.path, "--join-timeout", wait_s,
                             *options)

    def complete(self, *options, count=1):
        """Starts the run's own workers, with which it goes on and ends well."""
        workers = [subprocess.Popen([program.BINARY, "worker", "--join", f"127.0.0.1:{self.port}", "--root", self.path, *options],
                                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=program.clean_environment())
                   for _ in range(count)]
        try:
            outcome = self.running.wait().expect(0)
            for worker in workers:
                assert worker.wait(timeout=program.PATIENCE_S) == 0, worker.stderr.read()
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
                worker.stderr.close()
        assert outcome.result["run"]["worker_count"] == count and outcome.phase("write")
        return outcome

    def file(self, name, text, mode=0o600):
        file = self.scratch / name
        file.write_text(text)
        file.chmod(mode)
        return str(file)

    def token(self):
        return self.token_file.read_text().splitlines()[0]

    def pem(self):
        return self.token_file.read_text().split("\n", 1)[1]
