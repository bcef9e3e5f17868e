"""Strangers: who may join over a network, what they are told, and that the run goes on without them."""
import contextlib
import os
import pathlib
import queue
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import warnings

import grpc
import program
import pytest
from certificates import Authority

SMALL = ("-i", "0", "-+n", "-r", "4k", "-s", "64k", "-t", "1")
JOIN = "/iobench.v1.Coordinator/Join"


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


@pytest.fixture
def cluster(tmp_path, path, out):
    made = Cluster(tmp_path, path, out)
    with made.stack:
        yield made


# --------------------------------------------------------------------------------------------- tokens, run certificates


def test_strangers_are_told_why_and_the_run_goes_on(cluster):
    cluster.with_token()
    other = Authority(cluster.scratch, "other")
    letters = "abcdefghijklmnopqrstuvwxyz"
    strangers = {
        # name: (their options, their exit code, what they are told, what the coordinator says).
        "another token": (("--token-file", cluster.file("wrong", letters + "\n" + cluster.pem())), 1,
                          "the worker's token is not this run's", "token is not this run's"),
        "another run's certificate": (("--token-file", cluster.file("foreign", cluster.token() + "\n" + other.ca.read_text())),
                                      1, "is not the one of this coordinator", "TLS handshake failed"),
        "no token": (("--tls-ca", cluster.file("ca", cluster.pem())), 1, "", ""),
        "no TLS": (("--join-timeout", "1s"), 3, "what answers there uses TLS", "does not use TLS"),
    }
    for name, (options, code, heard, said) in strangers.items():
        wait_s = 1 if code == 3 else 30
        outcome = cluster.worker(*[word for word in options if word not in ("--join-timeout", "1s")], wait_s=wait_s)
        assert outcome.code == code and heard in outcome.stderr, (name, outcome)
        assert letters not in outcome.stderr and cluster.token() not in outcome.stderr, name
        assert len([line for line in outcome.stderr.splitlines() if "cannot join" in line or "within" in line]) == 1, outcome
        if said:
            cluster.wait_to_say(re.escape(said))
    with socket.create_connection(("127.0.0.1", cluster.port)) as web:
        web.sendall(b"GET / HTTP/1.1\r\n\r\n")
        with contextlib.suppress(ConnectionResetError):
            assert web.recv(100) == b""
    cluster.wait_to_say("speaks neither TLS nor gRPC")
    outcome = cluster.complete("--token-file", str(cluster.token_file))
    assert cluster.token() not in cluster.said() and cluster.token() not in (outcome.out / "result.json").read_text()


def test_a_token_on_standard_input(cluster):
    cluster.with_token()
    worker = subprocess.Popen([program.BINARY, "worker", "--join", f"127.0.0.1:{cluster.port}", "--root", cluster.path, "--token-file", "-"],
                              stdin=subprocess.PIPE, env=program.clean_environment())
    worker.communicate(cluster.token_file.read_bytes(), timeout=program.PATIENCE_S)
    assert worker.returncode == 0
    cluster.running.wait().expect(0)


def test_a_token_file_keeps_its_token_and_gets_the_next_certificate(cluster):
    cluster.with_token()
    assert cluster.token_file.stat().st_mode & 0o777 == 0o600
    assert f"--token-file {cluster.token_file}" in cluster.said()
    first = cluster.token(), cluster.pem()
    assert re.fullmatch(r"[\w-]{43}", first[0]) and first[1].startswith("-----BEGIN CERTIFICATE-----")
    cluster.complete("--token-file", str(cluster.token_file))
    again = Cluster(cluster.scratch, cluster.path, cluster.scratch / "out2")
    with again.stack:
        again.with_token("--force")
        assert again.token() == first[0] and again.pem() != first[1]
        again.complete("--token-file", str(again.token_file))


def test_a_coordinator_that_cannot_listen_leaves_the_token_file_alone(cluster):
    """The command typed again while the first coordinator waits."""
    command = cluster.with_token().running.command
    before = cluster.token_file.read_bytes()
    again = program.plain(*command[command.index(program.BINARY) + 1:]).expect(1)
    assert "cannot listen on" in again.stderr, again
    assert cluster.token_file.read_bytes() == before
    cluster.complete("--token-file", str(cluster.token_file))


def test_token_files_that_are_refused(cluster, path):
    for name, text, mode, words in (("open", "x" * 20, 0o644, "chmod 600"), ("group", "x" * 20, 0o640, "--token-group"),
                                    ("short", "x" * 15, 0o600, "16 to 512"),
                                    ("words", "a token of several words", 0o600, "cannot have")):
        file = cluster.file(name, text, mode)
        listen = (*SMALL, "--path", path, "--listen", "127.0.0.1:0", "--workers", "1")
        for command in ((*listen, "--token-file", file), ("worker", "--join", "127.0.0.1:1", "--root", "/", "--join-timeout", "0",
                                                          "--token-file", file)):
            outcome = program.plain(*command)
            assert outcome.code in (1, 3) and words in outcome.stderr and file in outcome.stderr, outcome
            assert len(outcome.stderr.splitlines()) == 1, outcome


def test_a_token_file_of_a_group_is_read_if_the_command_line_says_so(cluster, path):
    file = cluster.file("group", "x" * 20, 0o640)
    with_token = ("--token-file", file, "--token-group", "--join-timeout", "1")
    for command in ((*SMALL, "--path", path, "--listen", "127.0.0.1:0", "--workers", "1", *with_token),
                    ("worker", "--join", "127.0.0.1:1", "--root", "/", *with_token)):
        outcome = program.plain(*command).expect(3)  # nobody is there
        assert "its group can read it" not in outcome.stderr, outcome


class Recorder:
    """A proxy between a worker and its coordinator that records what passes in both directions."""

    def __init__(self, port):
        self.to_coordinator, self.to_worker = bytearray(), bytearray()
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                worker, _ = self.listener.accept()
                coordinator = socket.create_connection(("127.0.0.1", self.target))
                for source, sink, kept in ((worker, coordinator, self.to_coordinator), (coordinator, worker, self.to_worker)):
                    threading.Thread(target=self._pump, args=(source, sink, kept), daemon=True).start()

    @staticmethod
    def _pump(source, sink, kept):
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                kept += part
                sink.sendall(part)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("where", ["network", "loopback", "without token"])
def test_what_a_worker_and_a_coordinator_with_a_token_say_is_encrypted(cluster, where):
    """Without a token, the same recorder sees it: this proves that the test can fail."""
    credentials = ()
    if where == "without token":
        cluster.listen(loopback=True)
    else:
        cluster.with_token(loopback=where == "loopback")
        credentials = ("--token-file", str(cluster.token_file))
    recorder = Recorder(cluster.port)
    with recorder.listener:
        cluster.worker(*credentials, port=recorder.port).expect(0)
        cluster.running.wait().expect(0)
    is_plain = not credentials
    secrets = [b"iobench.v1.Coordinator", str(cluster.path).encode(), *([cluster.token().encode()] if credentials else [])]
    for secret in secrets:
        assert (secret in recorder.to_coordinator + recorder.to_worker) == is_plain, secret
    assert recorder.to_coordinator[0] == (ord("P") if is_plain else 0x16)


@pytest.mark.parametrize("loopback", [False, True], ids=["TLS", "loopback"])
def test_a_join_that_is_replayed_does_not_count(cluster, loopback):
    cluster.with_token(workers=2, loopback=loopback)
    recorder = Recorder(cluster.port)
    credentials = ("--token-file", str(cluster.token_file))
    worker = subprocess.Popen([program.BINARY, "worker", "--join", f"127.0.0.1:{recorder.port}", "--root", "/", *credentials],
                              stdin=subprocess.DEVNULL, env=program.clean_environment())
    try:
        cluster.wait_to_say("1 of 2 workers have joined")
        with socket.create_connection(("127.0.0.1", cluster.port)) as replay:
            replay.sendall(bytes(recorder.to_coordinator))
            cluster.wait_to_say("TLS handshake failed")
        second = cluster.worker(*credentials).expect(0)
        assert cluster.running.wait().expect(0).result["run"]["worker_count"] == 2, second
        assert worker.wait(timeout=program.PATIENCE_S) == 0
    finally:
        worker.kill()
        worker.wait()
        recorder.listener.close()


# ------------------------------------------------------------------------------------------- others at the same address


class Squatter:
    """Another program at an address of the coordinator's: it accepts connections, and keeps what is sent to it."""

    def __init__(self, *addresses, context=None):
        self.heard, self.connections, self.context = bytearray(), 0, context
        self.listeners = [socket.create_server(address, family=socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
                          for address in addresses]
        for listener in self.listeners:
            threading.Thread(target=self._serve, args=(listener,), daemon=True).start()

    def _serve(self, listener):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.connections += 1
                threading.Thread(target=self._listen_to, args=(connection,), daemon=True).start()

    def _listen_to(self, connection):
        with contextlib.suppress(OSError), connection:
            if self.context is not None:
                connection = self.context.wrap_socket(connection, server_side=True)
            connection.settimeout(5)
            while part := connection.recv(65536):
                self.heard += part

    def close(self):
        for listener in self.listeners:
            listener.close()


def foreign_context(cluster):
    options = Authority(cluster.scratch, "foreign").signs("squatter", names="DNS:localhost,DNS:run.cluster-iobench.invalid")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["h2"])
    context.load_cert_chain(options[1], options[3])
    return context


@pytest.mark.parametrize("speaks", ["nothing", "TLS"])
def test_a_squatter_on_loopback_gets_no_token(cluster, speaks):
    """It is there first. The coordinator cannot listen, and a worker that comes sends nothing but a handshake."""
    certificate = "" if speaks == "nothing" else Authority(cluster.scratch, "ours").ca.read_text()
    cluster.file("token", "a-token-of-many-runs\n" + certificate)
    squatter = Squatter(("127.0.0.1", cluster.port), context=foreign_context(cluster) if speaks == "TLS" else None)
    try:
        outcome = cluster.worker("--token-file", str(cluster.token_file), wait_s=3)
        assert outcome.code in (1, 3) and ("TLS" in outcome.stderr or "certificate" in outcome.stderr), outcome
        assert b"a-token-of-many-runs" not in squatter.heard and b"Coordinator" not in squatter.heard
    finally:
        squatter.close()


@pytest.mark.skipif(not has_ipv6(), reason="needs ::1")
@pytest.mark.parametrize("speaks", ["nothing", "TLS"])
def test_a_squatter_on_the_other_family_does_not_get_between(cluster, speaks):
    """`--join localhost` tries ::1 first, where somebody else listens; the coordinator is on 127.0.0.1."""
    squatter = Squatter(("::1", cluster.port), context=foreign_context(cluster) if speaks == "TLS" else None)
    try:
        cluster.with_token(loopback=True)
        outcome = program.plain("worker", "--join", f"localhost:{cluster.port}", "--root", cluster.path, "--join-timeout", "60",
                                "--token-file", str(cluster.token_file)).expect(0)
        assert cluster.running.wait().expect(0).result["run"]["worker_count"] == 1, outcome
        assert squatter.connections > 0 and cluster.token().encode() not in squatter.heard
    finally:
        squatter.close()


@pytest.mark.skipif(not has_ipv6(), reason="needs ::1")
def test_a_worker_waits_for_its_coordinator_beside_a_squatter(cluster):
    """The coordinator comes late: the squatter's certificate says nothing about the address where it will be."""
    cluster.with_token(loopback=True)       # writes the token file
    token_file = cluster.token_file.read_text()
    cluster.running.interrupt()
    cluster.running.wait()
    squatter = Squatter(("::1", cluster.port), context=foreign_context(cluster))
    worker = None
    try:
        worker = subprocess.Popen([program.BINARY, "worker", "--join", f"localhost:{cluster.port}", "--root", cluster.path,
                                   "--token-file", cluster.file("early", token_file)],
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=program.clean_environment())
        deadline = time.monotonic() + program.PATIENCE_S
        while squatter.connections < 6:     # several attempts, each with a look at why it failed
            assert worker.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        squatter.close()
        if worker is not None:
            worker.kill()
            worker.communicate()


@pytest.mark.parametrize("listens, reached, not_reached", [("127.0.0.1", "127.0.0.1", "::1"), ("[::1]", "::1", "127.0.0.1")])
def test_an_address_of_one_family_is_listened_on_alone(cluster, listens, reached, not_reached):
    if not has_ipv6():
        pytest.skip("needs ::1")
    with program.start([*SMALL, "--listen", f"{listens}:{cluster.port}", "--workers", "1", "--join-timeout", "60"],
                       path=cluster.path, out=cluster.out, prefix=("sh", "-c", f'exec "$@" 2> {cluster.stderr}', "sh")) as running:
        running.wait_until(lambda: "waiting for" in cluster.said(), "it listens")
        socket.create_connection((reached, cluster.port)).close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((not_reached, cluster.port))
        running.interrupt()
        running.wait()


# ------------------------------------------------------------------------------------------------------- Unix sockets

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")


@pytest.fixture
def everybodys(cluster, reachable_program):
    """A directory like /tmp."""
    cluster.program = str(reachable_program)
    with tempfile.TemporaryDirectory(prefix="iobench-", dir="/var/tmp") as directory:
        os.chmod(directory, 0o1777)
        with contextlib.ExitStack() as cluster.processes:
            yield pathlib.Path(directory)


def unix_coordinator(cluster, directory, *options, user=()):
    """A coordinator, perhaps of another user, at a socket that everybody may connect to."""
    cluster.address = f"unix:{directory}/s"
    own = directory / "own"
    own.mkdir(mode=0o777)
    own.chmod(0o777)
    command = (*user, "sh", "-c", f'umask 0; exec "$@" 2> {own}/stderr', "sh", cluster.program, "run", *SMALL, "--listen",
               cluster.address, "--workers", "1", "--join-timeout", "60", "--path", str(own), "--out", f"{own}/out", *options)
    (own / "stderr").touch()
    (own / "stderr").chmod(0o666)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=program.clean_environment())
    cluster.processes.callback(process.wait)
    cluster.processes.callback(process.kill)
    deadline = time.monotonic() + program.PATIENCE_S
    while "waiting for" not in (own / "stderr").read_text():
        assert process.poll() is None and time.monotonic() < deadline, (own / "stderr").read_text()
        time.sleep(0.02)
    return process, own


@AS_ROOT
def test_roots_worker_does_not_obey_another_users_coordinator(cluster, everybodys):
    process, own = unix_coordinator(cluster, everybodys, user=program.NOBODY)
    outcome = program.plain("worker", "--join", cluster.address, "--root", own, "--join-timeout", "2").expect(3)
    assert "belongs to user 65534, and this is user 0" in outcome.stderr and "--token-file" in outcome.stderr, outcome
    assert process.poll() is None


@AS_ROOT
def test_roots_coordinator_takes_no_worker_of_another_user(cluster, everybodys):
    process, own = unix_coordinator(cluster, everybodys)
    stranger = [*program.NOBODY, cluster.program, "worker", "--join", cluster.address, "--root", str(own), "--join-timeout", "2"]
    assert subprocess.run(stranger, stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode == 3
    assert "belongs to user 65534, and this is user 0" in (own / "stderr").read_text()
    program.plain("worker", "--join", cluster.address, "--root", own).expect(0)
    assert process.wait(timeout=program.PATIENCE_S) == 0


@AS_ROOT
def test_a_token_is_enough_between_users(cluster, everybodys):
    process, own = unix_coordinator(cluster, everybodys, "--token-file", f"{everybodys}/token")
    theirs = everybodys / "theirs"
    theirs.write_bytes((everybodys / "token").read_bytes())
    theirs.chmod(0o600)
    os.chown(theirs, 65534, 65534)
    friend = [*program.NOBODY, cluster.program, "worker", "--join", cluster.address, "--root", str(own), "--token-file", str(theirs)]
    done = subprocess.run(friend, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, text=True)
    assert done.returncode == 0 and process.wait(timeout=program.PATIENCE_S) == 0, (done, (own / "stderr").read_text())


# -------------------------------------------------------------------------------------------------- the end of a token


def test_a_token_has_an_end(cluster):
    cluster.with_token("--token-ttl", "1")
    time.sleep(1.1)
    outcome = cluster.worker("--token-file", str(cluster.token_file)).expect(1)
    assert "the run's token was good for 1 s (--token-ttl)" in outcome.stderr, outcome
    cluster.wait_to_say("was turned away: the run's token was good for")


def test_a_token_whose_file_is_removed_admits_nobody(cluster):
    """One has joined, and stays; when the file is there again, the next may come."""
    cluster.with_token(workers=2)
    copy = cluster.file("copy", cluster.token_file.read_text())
    first = subprocess.Popen([program.BINARY, "worker", "--join", f"127.0.0.1:{cluster.port}", "--root", cluster.path, "--token-file", copy],
                             stdin=subprocess.DEVNULL, env=program.clean_environment())
    try:
        cluster.wait_to_say("1 of 2 workers have joined")
        cluster.token_file.unlink()
        cluster.wait_to_say("no longer has this run's token: nobody else can join")
        outcome = cluster.worker("--token-file", copy).expect(1)
        assert "the coordinator's token file no longer has the run's token" in outcome.stderr, outcome
        os.replace(copy, cluster.token_file)
        cluster.wait_to_say("has this run's token again")
        cluster.worker("--token-file", str(cluster.token_file)).expect(0)
        assert cluster.running.wait().expect(0).result["run"]["worker_count"] == 2
        assert first.wait(timeout=program.PATIENCE_S) == 0
    finally:
        first.kill()
        first.wait()


def test_token_ttl_is_said_where_there_is_a_token(cluster):
    for options in (("--spawn", "2"), ("--listen", "127.0.0.1:0", "--workers", "1")):
        outcome = program.plain(*SMALL, *options, "--token-ttl", "5", "--path", cluster.path).expect(1)
        assert "--token-ttl ends a token" in outcome.stderr, outcome


# -------------------------------------------------------------------------------------------------- certificates, TLS


def test_certificates_on_both_sides_need_no_token(cluster):
    ours, theirs = Authority(cluster.scratch, "ours"), Authority(cluster.scratch, "theirs")
    cluster.listen(*ours.signs("coordinator"), *ours.trusted())
    refused = {
        "the coordinator asks for a certificate: give --tls-cert": ours.trusted(),
        "does not accept this worker's certificate": (*theirs.signs("worker"), *ours.trusted()),
        "this worker's certificate (--tls-cert) has expired": (*ours.signs("old", days=-1), *ours.trusted()),
        "is not the one of this coordinator": (*ours.signs("worker"), *theirs.trusted()),
    }
    for words, options in refused.items():
        outcome = cluster.worker(*options).expect(1)
        assert words in outcome.stderr, outcome
        assert len(outcome.stderr.splitlines()) <= 2, outcome
    cluster.wait_to_say("TLS handshake failed")
    cluster.complete(*ours.signs("worker"), *ours.trusted())


@pytest.mark.parametrize("fault", ["expired", "for another host"])
def test_a_coordinator_whose_certificate_is_wrong(cluster, fault):
    ours = Authority(cluster.scratch, "ours")
    wrong = ours.signs("coordinator", days=-1) if fault == "expired" else ours.signs("coordinator", names="DNS:elsewhere")
    cluster.with_token(*wrong)
    cluster.token_file.write_text(cluster.token() + "\n")
    outcome = cluster.worker("--token-file", str(cluster.token_file), *ours.trusted()).expect(1)
    assert {"expired": "the coordinator's certificate has expired",
            "for another host": "is not for 127.0.0.1"}[fault] in outcome.stderr, outcome


def test_a_users_certificate_with_a_token(cluster):
    ours = Authority(cluster.scratch, "ours")
    token_file = cluster.file("token", "a-token-of-the-user\n")
    cluster.with_token(*ours.signs("coordinator"))
    assert cluster.token_file.read_text() == "a-token-of-the-user\n"    # left alone
    assert "has no token" in cluster.worker(*ours.trusted()).expect(1).stderr
    cluster.complete("--token-file", token_file, *ours.trusted())


def test_a_users_certificate_travels_in_the_token_file(cluster):
    cluster.with_token(*Authority(cluster.scratch, "ours").signs("coordinator"))
    assert cluster.pem() == (cluster.scratch / "ours-coordinator.pem").read_text()
    cluster.complete("--token-file", str(cluster.token_file))


def test_tls_at_a_port_without_it(cluster):
    cluster.listen("--insecure", loopback=True)
    file = cluster.file("token", "a-token-of-the-user\n" + Authority(cluster.scratch, "ca").ca.read_text())
    outcome = cluster.worker("--token-file", file, wait_s=1).expect(3)
    assert "does not use TLS" in outcome.stderr, outcome
    cluster.wait_to_say("it uses TLS, but this coordinator does not")
    assert "nothing is encrypted" in cluster.said()
    cluster.complete("--insecure")


# ---------------------------------------------------------------------------------- silence, floods, bad messages


def test_silent_connections_do_not_use_up_the_descriptors(cluster):
    """There are more connections than the coordinator has descriptors."""
    cluster.with_token(prefix=("prlimit", "--nofile=200:200"))
    with contextlib.ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(socket.create_connection(("127.0.0.1", cluster.port)))
        cluster.wait_to_say("the limit of open files, 200, is nearly reached")
        descriptors = len(os.listdir(f"/proc/{cluster.running.process.pid}/fd"))
        assert descriptors < 170, descriptors
        cluster.complete("--token-file", str(cluster.token_file))


def field(number, value):
    """A field of a protobuf message, encoded."""
    def varint(n):
        head, n = n & 0x7f, n >> 7
        return bytes([head | 0x80]) + varint(n) if n else bytes([head])
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def facts(version, **fields):
    numbers = {"host": 2, "boot_id": 3, "pid": 4, "processors": 5, "memory_bytes": 6, "position": 12}
    fields = {"host": "stranger", "boot_id": "none", **fields}
    return field(3, field(1, version) + b"".join(field(numbers[name], value) for name, value in fields.items()))


class RawWorker:
    """Joins with messages of its own."""

    def __init__(self, cluster, token=True):
        credentials = grpc.ssl_channel_credentials(cluster.pem().encode())
        options = [("grpc.ssl_target_name_override", "run.cluster-iobench.invalid"), ("grpc.max_send_message_length", -1)]
        self.channel = grpc.secure_channel(f"127.0.0.1:{cluster.port}", credentials, options)
        self.metadata = [("cluster-iobench-token", cluster.token())] if token else []

    def say(self, *messages, silent_s=0):
        """Sends messages. Returns gRPC's code and the coordinator's messages."""
        done = threading.Event()

        def requests():
            yield from messages
            done.wait(silent_s or program.PATIENCE_S)

        join = self.channel.stream_stream(JOIN, request_serializer=bytes, response_deserializer=bytes)
        answers, call = [], join(requests(), metadata=self.metadata, timeout=program.PATIENCE_S)
        try:
            for answer in call:
                answers.append(answer)
                if b"\x5a" in answer[:40] or len(answers) == 1:     # Leave: it was dismissed
                    break
            return call.code() if not answers else "answered", answers
        except grpc.RpcError as error:
            return error.code(), answers
        finally:
            done.set()
            call.cancel()


    def answers(self, body):
        """Joins, and answers the first requests with this body. Returns the reason why it has to leave; None: the coordinator
        hung up."""
        asked = queue.Queue()

        def events():
            yield facts(version())
            while (request := asked.get(timeout=program.PATIENCE_S)) is not None:
                yield field(1, call_id_of(request)) + body

        join = self.channel.stream_stream(JOIN, request_serializer=bytes, response_deserializer=bytes)
        call = join(events(), metadata=self.metadata, timeout=program.PATIENCE_S)
        try:
            for request in call:
                if b"dropped this worker" in request:
                    return request
                asked.put(request)
        except grpc.RpcError:
            pass
        finally:
            asked.put(None)
            call.cancel()
        return None


def call_id_of(request):
    """Field 2 of a request: a varint behind that of field 1."""
    def varint(at):
        value = shift = 0
        while True:
            value, shift, at = value | (request[at] & 0x7f) << shift, shift + 7, at + 1
            if not request[at - 1] & 0x80:
                return value, at
    at, fields = 0, {}
    while 2 not in fields:
        tag, at = varint(at)
        assert tag & 7 == 0, request
        fields[tag >> 3], at = varint(at)
    return fields[2]


# What answers a ping and is none: fields of WorkerEvent.
BAD_ANSWERS = {
    "nothing": (b"", b"it answered ping with nothing"),
    "of another kind": (field(4, b""), b"it answered ping with inspected"),
    "a chunk without end": (field(14, b""), b"it answered ping with chunk"),
    "a time before the ping": (field(7, field(1, 9) + field(2, 8)), b"it answered a ping before the ping had arrived"),
    "a second join": (facts("1"), None),
    "no message": (b"\xff" * 50, None),
}


def test_a_bad_message_before_the_first_phase_frees_its_seat(cluster):
    """The run waits for another worker, which takes it."""
    cluster.with_token()
    for name, (body, reason) in BAD_ANSWERS.items():
        answer = RawWorker(cluster).answers(body)
        assert reason in answer if reason else answer is None, (name, answer)
    cluster.wait_to_say("the run has not begun yet: it waits for 1 other worker to join")
    outcome = cluster.complete("--token-file", str(cluster.token_file))
    assert len(outcome.result["clients"]) == 1 and outcome.result["run"]["exit_code"] == 0


def version():
    return program.plain("--version").expect(0).stdout.split()[1]


def test_bad_messages_turn_only_their_sender_away(cluster):
    cluster.with_token()
    ours = version()
    raw = RawWorker(cluster)
    ends = {
        "not a message": (b"\xff" * 100, b""),
        "not a join": (field(12, field(1, 1)), b""),
        "a lost worker": (field(15, field(1, "me")), b""),
        "two joins in one": (facts("x" * 70_000), b"65536"),
    }
    for name, (message, _) in ends.items():
        code, answers = raw.say(message)
        assert code not in ("answered", grpc.StatusCode.DEADLINE_EXCEEDED) and not answers, (name, code, answers)
    claims = {
        b"is version 0.0.1": facts("0.0.1"),
        b"host name has control characters": facts(ours, host="a\x1b[31m"),
        b"host name has 300 bytes": facts(ours, host="h" * 300),
        b"position in the client list is 2": facts(ours, position=2),
        b"number of processors cannot be": facts(ours, processors=1 << 31),
    }
    for words, message in claims.items():
        code, answers = raw.say(message)
        assert code == "answered" and words in answers[0], (words, code, answers)
    code, _ = RawWorker(cluster, token=False).say(facts(ours))
    assert code == grpc.StatusCode.UNAUTHENTICATED
    for words in ("it sent 700\\d\\d bytes about itself", "sent away a worker from 127.0.0.1:", "is version 0.0.1",
                  "the worker has no token"):
        cluster.wait_to_say(words)
    assert "\x1b" not in cluster.said()
    cluster.complete("--token-file", str(cluster.token_file))


def peak_bytes(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", text).group(1)) << 10


@pytest.mark.unsanitized
def test_huge_messages_cost_no_memory(cluster):
    """Neither before a worker has joined, nor from one without a token."""
    cluster.with_token()
    before = peak_bytes(cluster.running.process.pid)
    huge = facts(version(), host="h" * (256 << 20))
    for token in (True, False):
        code, answers = RawWorker(cluster, token=token).say(huge)
        assert code != "answered" and not answers
    assert peak_bytes(cluster.running.process.pid) - before < len(huge) // 4
    cluster.complete("--token-file", str(cluster.token_file))


# ----------------------------------------------------------------------------------------------------------- --stay


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


def test_the_servers_tls_is_modern(cluster):
    cluster.with_token()
    context = ssl.create_default_context(cadata=cluster.pem())
    context.check_hostname = False
    with socket.create_connection(("127.0.0.1", cluster.port)) as plain, \
            context.wrap_socket(plain) as connection:
        assert connection.version() == "TLSv1.3"
        names = {value for _, value in connection.getpeercert()["subjectAltName"]}
        assert {"run.cluster-iobench.invalid", "localhost", "127.0.0.1", socket.gethostname()} <= names
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", cluster.port)) as plain, pytest.raises((ssl.SSLError, OSError)):
        old.wrap_socket(plain)


def test_the_server_makes_no_session_tickets(cluster):
    cluster.with_token()
    context = ssl.create_default_context(cadata=cluster.pem())
    context.check_hostname = False
    context.set_alpn_protocols(["h2"])
    with socket.create_connection(("127.0.0.1", cluster.port)) as plain, \
            context.wrap_socket(plain) as connection:
        assert connection.recv(9)  # HTTP/2 settings, which are sent after tickets
        assert not connection.session.has_ticket
