"""Strangers: what others on this host or the network can do to a coordinator and its workers, and that the run goes on."""
import contextlib
import os
import pathlib
import queue
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import time

import grpc
import program
import pytest
from certificates import Authority
from joining import SMALL

JOIN = "/iobench.v1.Coordinator/Join"

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
