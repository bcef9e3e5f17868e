"""Tokens, certificates and TLS: who may join over a network, and what they are told."""
import contextlib
import os
import re
import socket
import ssl
import subprocess
import threading
import time
import warnings

import program
import pytest
from certificates import Authority
from joining import SMALL, Cluster

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
