#!/usr/bin/env python3
"""A worker that has joined turns hostile: floods of HTTP/2 frames, beside honest workers that must not suffer.

The hostile one is a real worker behind a proxy that holds its certificate. It joins, serves and answers like any other,
so that the coordinator has no reason to drop it, while the proxy adds frames of its own to the same connection.

    CLUSTER_IOBENCH=build/release/cluster-iobench tests/faults/floods.py --seconds 30 --repeat 10 [--at-a-time N] [KIND …]

runs every kind of flood so long and so often, and prints a table: runs in which all honest workers were whole, what the
coordinator's memory peaked at, why the hostile one was dropped, and after how many bytes. Without KIND: all of them.
"""
import argparse
import concurrent.futures
import contextlib
import os
import pathlib
import re
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import program  # noqa: E402
from certificates import Authority  # noqa: E402

HONEST = 3
PREFACE_BYTES = 24
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED = 1, 1, 4, 8
MAX_FRAME = 16_384
BATCH_BYTES = 256 << 10
# A flood that needs more than this is ended, so that the machine survives what the test is to find.
MEMORY_LIMIT_BYTES = 1500 << 20


# ------------------------------------------------------------------------------------------------------------ frames


def frame(kind, flags, stream, body=b""):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def varint(value, prefix_bits, first=0):
    """A number of HPACK, after the upper bits of its first byte."""
    limit = (1 << prefix_bits) - 1
    if value < limit:
        return bytes([first | value])
    out, value = bytearray([first | limit]), value - limit
    while value >= 128:
        out.append(value % 128 | 128)
        value //= 128
    return bytes(out) + bytes([value])


def literal(name, value, first=0):
    """A header that is written out. `first` 0x40: with indexing."""
    return (bytes([first]) + varint(len(name), 7) + name.encode() + varint(len(value), 7) + value.encode())


def call(*more):
    """The headers of a call as a worker makes it, and more."""
    known = [(":method", "POST"), (":scheme", "https"), (":path", "/iobench.v1.Coordinator/Join"), (":authority", "localhost"),
             ("te", "trailers"), ("content-type", "application/grpc")]
    return b"".join(literal(*each) for each in (*known, *more))


def pb(number, value):
    """A field of a protobuf message: a number, or bytes."""
    def number_bytes(n):
        head, n = n & 0x7f, n >> 7
        return bytes([head | 0x80]) + number_bytes(n) if n else bytes([head])
    if isinstance(value, int):
        return number_bytes(number << 3) + number_bytes(value)
    return number_bytes(number << 3 | 2) + number_bytes(len(value)) + value


def message(body):
    """As gRPC writes it into a stream."""
    return b"\0" + len(body).to_bytes(4, "big") + body


def data_frames(stream, body):
    return b"".join(frame(DATA, 0, stream, body[at:at + MAX_FRAME]) for at in range(0, len(body), MAX_FRAME))


# ------------------------------------------------------------------------------------------------------------ floods


def batches(make):
    """Joins frames into batches, so that this process is fast enough to flood."""
    pending, size = [], 0
    for each in make:
        pending.append(each)
        size += len(each)
        if size >= BATCH_BYTES:
            yield b"".join(pending)
            pending, size = [], 0


def forever(*frames):
    batch = b"".join(frames)
    batch *= max(1, BATCH_BYTES // len(batch))
    while True:
        yield batch


def stream_ids():
    return range(1001, 1 << 31, 2)


def rapid_reset():
    """CVE-2023-44487"""
    return batches(frame(HEADERS, END_HEADERS, stream, call()) + frame(RESET, 0, stream, b"\0\0\0\x08") for stream in stream_ids())


def many_streams():
    return batches(frame(HEADERS, END_HEADERS, stream, call()) for stream in stream_ids())


def continuation():
    """Headers that never end, in whole fields."""
    field = b"".join(literal(f"x-{number:04}", "v" * 100) for number in range(100))[:MAX_FRAME]
    yield frame(HEADERS, 0, 1001, call())
    yield from forever(frame(CONTINUATION, 0, 1001, field))


def endless_header():
    """CVE-2023-33953: one value of 1 GB."""
    yield frame(HEADERS, 0, 1001, call() + b"\0" + varint(3, 7) + b"x-y" + varint(1 << 30, 7))
    yield from forever(frame(CONTINUATION, 0, 1001, b"v" * MAX_FRAME))


def endless_number():
    """CVE-2023-33953: a number with endless leading zeros."""
    yield frame(HEADERS, 0, 1001, call() + b"\x00\x7f")
    yield from forever(frame(CONTINUATION, 0, 1001, b"\x80" * MAX_FRAME))


def header_bomb():
    """One large entry in the dynamic table, named by one byte as often as fits."""
    first = call() + literal("x-bomb", "b" * 3900, first=0x40)
    bomb = frame(HEADERS, END_HEADERS, 1001, first) + frame(RESET, 0, 1001, b"\0\0\0\x08")
    yield bomb
    yield from batches(frame(HEADERS, END_HEADERS, stream, b"\xbe" * MAX_FRAME) + frame(RESET, 0, stream, b"\0\0\0\x08")
                       for stream in stream_ids() if stream > 1001)


def bad_te():
    """CVE-2023-1428: aborts gRPC before 1.53."""
    for stream in stream_ids():
        headers = call().replace(literal("te", "trailers"), literal("te", "x")) + literal("x-long", "v" * 12_000)
        yield frame(HEADERS, END_HEADERS, stream, headers)


def long_headers():
    return batches(frame(HEADERS, END_HEADERS, stream, call(("x-long", "v" * 16_000))) for stream in stream_ids())


def settings():
    return forever(frame(SETTINGS, 0, 0, b"\0\4\0\1\0\0"), frame(SETTINGS, 0, 0, b"\0\4\0\2\0\0"))


def pings():
    return forever(frame(PING, 0, 0, b"12345678"))


def pings_unread():
    """The answers are not read (CVE-2019-9512)."""
    return pings()


def ping_answers():
    return forever(frame(PING, ACK, 0, b"12345678"))


def windows():
    return forever(frame(WINDOW, 0, 0, b"\0\0\0\1"), frame(WINDOW, 0, 1, b"\0\0\0\1"))


def priorities():
    return forever(frame(PRIORITY, 0, 1001, b"\0\0\0\0\x10"))


def unknown_frames():
    return forever(frame(0xfa, 0, 0, b"x" * 100))


def unknown_streams():
    return forever(frame(DATA, 0, 999_999, b"x" * 100), frame(RESET, 0, 999_999, b"\0\0\0\x08"))


def empty_data():
    return forever(frame(DATA, 0, 1))


def padded_data():
    return forever(frame(DATA, PADDED, 1, b"\xff" + bytes(255)))


def goaways():
    return forever(frame(GOAWAY, 0, 0, bytes(8) + b"x" * 100))


def empty_messages():
    return forever(data_frames(1, message(b"") * 3276))


def pongs():
    """Answers to a request that was not made."""
    pong = pb(1, 1 << 40) + pb(7, pb(1, 12345) + pb(2, 12346))
    return forever(data_frames(1, message(pong) * 600))


def progress():
    return forever(data_frames(1, message(pb(10, b"")) * 2000))


def large_events():
    """As large as events may be: strings."""
    return forever(data_frames(1, message(pb(2, pb(2, b"x" * (8 << 20))))))


def swollen_events():
    """Each byte becomes tens of bytes in memory: lanes without content."""
    return forever(data_frames(1, message(pb(14, pb(1, b"") * (4 << 20)))))


def endless_message():
    """Its length is a lie, and its content never ends."""
    yield frame(DATA, 0, 1, b"\0" + (15 << 20).to_bytes(4, "big"))
    yield from forever(frame(DATA, 0, 1, b"x" * 16_000))


def junk():
    yield os.urandom(64)
    yield from forever(os.urandom(BATCH_BYTES))


FLOODS = (rapid_reset, many_streams, continuation, endless_header, endless_number, header_bomb, bad_te, long_headers, settings, pings,
          pings_unread, ping_answers, windows, priorities, unknown_frames, unknown_streams, empty_data, padded_data, goaways,
          empty_messages, pongs, progress, large_events, swollen_events, endless_message, junk)
KINDS = {flood.__name__: flood for flood in FLOODS}


# --------------------------------------------------------------------------------------------------------- the proxy


class Tls:
    """A TLS connection that one thread reads and others write: Python's own objects are for one thread at a time."""

    def __init__(self, connection):
        connection.setblocking(False)
        self.connection, self.lock = connection, threading.Lock()
        self.ended = False

    def _try(self, call, *words):
        """Nothing if it would block."""
        with self.lock:
            try:
                return call(*words)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return None

    def _await(self, events):
        waiting = select.poll()
        try:
            waiting.register(self.connection, events)
        except ValueError as closed:
            raise OSError("it is closed") from closed
        waiting.poll(200)

    def recv(self, count):
        while not self.ended:
            if (part := self._try(self.connection.recv, count)) is not None:
                return part
            self._await(select.POLLIN)
        return b""

    def send(self, part):
        """Returns how much was taken within a moment."""
        if self.ended:
            raise OSError("it has ended")
        if (count := self._try(self.connection.send, part)) is not None:
            return count
        self._await(select.POLLOUT)
        return 0

    def sendall(self, whole):
        left = memoryview(whole)
        while left:
            left = left[self.send(left):]

    def close(self):
        self.ended = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


class Windows:
    """How much data the coordinator takes for now, by stream; 0: in all."""

    def __init__(self):
        self.lock, self.left, self.initial = threading.Lock(), {0: 65_535, 1: 65_535}, 65_535

    def read(self, whole):
        """Learns from a frame of the coordinator."""
        kind, stream, body = whole[3], int.from_bytes(whole[5:9], "big"), whole[9:]
        with self.lock:
            if kind == WINDOW:
                self.left[stream] = self.left.get(stream, self.initial) + int.from_bytes(body, "big")
            for at in range(0, len(body) if kind == SETTINGS else 0, 6):
                if int.from_bytes(body[at:at + 2], "big") == 4:
                    value = int.from_bytes(body[at + 2:at + 6], "big")
                    self.left[1] += value - self.initial
                    self.initial = value

    def take(self, whole):
        if whole[3] == DATA:
            with self.lock:
                for stream in (0, int.from_bytes(whole[5:9], "big")):
                    self.left[stream] = self.left.get(stream, self.initial) - (len(whole) - 9)

    def fit(self, whole):
        return min(self.left[0], self.left[1]) >= len(whole) - 9


class HostileProxy:
    """Stands between one worker and the coordinator. Both sides use TLS, for which it has a certificate."""

    def __init__(self, port, authority):
        self.target = port
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        for context, name in ((self.server, "proxy"), (self.client, "proxy-client")):
            words = authority.signs(name)
            context.load_cert_chain(words[1], words[3])
            context.load_verify_locations(authority.ca)
            context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()    # of what is written to the coordinator, frame by frame
        self.coordinator = None         # the next connection to flood, with its windows
        self.connections = []
        self.reads = True               # false: what the coordinator sends is not read
        self.threads = [threading.Thread(target=self._serve, daemon=True)]
        self.threads[0].start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reads = True
        for each in (self.listener, *self.connections):
            with contextlib.suppress(OSError):
                each.close()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                worker, _ = self.listener.accept()
                threading.Thread(target=self._connect, args=(worker,), daemon=True).start()

    def _connect(self, plain):
        with contextlib.suppress(OSError):
            worker = Tls(self.server.wrap_socket(plain, server_side=True))
            coordinator = Tls(self.client.wrap_socket(socket.create_connection(("127.0.0.1", self.target)), server_hostname="localhost"))
            windows = Windows()
            self.coordinator = coordinator, windows
            self.connections += [worker, coordinator]
            threading.Thread(target=self._to_worker, args=(coordinator, worker, windows), daemon=True).start()
            self._to_coordinator(worker, coordinator, windows)

    @staticmethod
    def _frame(connection):
        """Reads one frame."""
        def exactly(count):
            parts = b""
            while len(parts) < count:
                part = connection.recv(count - len(parts))
                if not part:
                    raise OSError("it has gone")
                parts += part
            return parts
        head = exactly(9)
        return head + exactly(int.from_bytes(head[:3], "big"))

    def _to_worker(self, coordinator, worker, windows):
        with contextlib.suppress(OSError):
            while True:
                whole = self._frame(coordinator)
                windows.read(whole)
                worker.sendall(whole)
                while not self.reads:
                    time.sleep(0.05)
        coordinator.close()
        worker.close()

    def _to_coordinator(self, worker, coordinator, windows):
        with contextlib.suppress(OSError):
            preface = b""
            while len(preface) < PREFACE_BYTES:
                preface += worker.recv(PREFACE_BYTES - len(preface))
            with self.lock:
                coordinator.sendall(preface)
            while True:
                whole = self._frame(worker)
                with self.lock:
                    windows.take(whole)
                    coordinator.sendall(whole)

    def flood(self, kind, seconds, go_on, only_first=False):
        """Floods each connection that the worker makes, or only the first. Returns how many bytes the coordinator took, and after how long it
        hung up first, or None."""
        begin = time.monotonic()
        sent, dropped_after_s = 0, None
        def lasts():
            return time.monotonic() - begin < seconds and go_on()
        while lasts():
            (connection, windows), self.coordinator = self.coordinator or (None, None), None
            if connection is None:
                time.sleep(0.01)
                continue
            self.reads = kind != "pings_unread"
            try:
                for batch in KINDS[kind]():
                    is_data = batch[3:9] == frame(DATA, 0, 1)[3:9]
                    with self.lock:
                        sent += self._send_data(connection, windows, batch, lasts) if is_data else self._send(connection, batch, lasts)
                    if not lasts():
                        break
            except OSError:
                dropped_after_s = dropped_after_s or time.monotonic() - begin
                if only_first:
                    break
            self.reads = True
        return sent, dropped_after_s

    @staticmethod
    def _send(connection, batch, lasts):
        """Sends all that is taken while it lasts."""
        left = memoryview(batch)
        while left and lasts():
            left = left[connection.send(left[:65_536]):]
        return len(batch) - len(left)

    def _send_data(self, connection, windows, batch, lasts):
        """The same for frames of the worker's own call, for which there must be room."""
        at = 0
        while at < len(batch) and lasts():
            whole = batch[at:at + 9 + int.from_bytes(batch[at:at + 3], "big")]
            if not windows.fit(whole):
                if connection.ended:
                    raise OSError("it has ended")
                time.sleep(0.001)
                continue
            windows.take(whole)
            self._send(connection, whole, lasts)
            at += len(whole)
        return at


# -------------------------------------------------------------------------------------------------------- whole runs


def resident_bytes(pid, key="VmRSS"):
    with contextlib.suppress(OSError, AttributeError):
        return int(re.search(rf"{key}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)) << 10
    return 0


class Flooded:
    """What a flood has done to a run of three honest workers and a hostile one. `ends_when_dropped`: the run is interrupted then."""

    def __init__(self, scratch, kind, seconds, ends_when_dropped=False):
        scratch = pathlib.Path(scratch)
        authority = Authority(scratch, "ca")
        port = program.free_port()
        (scratch / "target").mkdir()
        # The phase outlasts the flood, so that an end of the honest lanes is a fault.
        words = ("-i", "0", "-+n", "-r", "4k", "-s", "64k", "-t", "1", "--time", str(seconds + 3), "-+O", "200",
                 "--listen", f"127.0.0.1:{port}", "--workers", str(HONEST + 1), *authority.signs("coordinator"), *authority.trusted())
        worker = (program.BINARY, "worker", "--root", str(scratch), *authority.signs("worker"), *authority.trusted(), "--join")
        self.peak_bytes, self.too_large = 0, False
        with program.start(words, path=scratch / "target", out=scratch / "out",
                           helpers=[(*worker, f"localhost:{port}")] * HONEST) as running, \
                HostileProxy(port, authority) as proxy:
            stderr = open(scratch / "hostile", "w", encoding="utf-8")
            hostile = subprocess.Popen((*worker, f"localhost:{proxy.port}"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=stderr, env=program.clean_environment(), start_new_session=True)
            try:
                running.wait_until(lambda: running.data_bytes() >= (HONEST + 1) * (64 << 10), "ops of all workers")
                watch = threading.Thread(target=self._watch, args=(running.process,), daemon=True)
                watch.start()
                self.sent_bytes, self.dropped_after_s = proxy.flood(
                    kind, seconds, lambda: running.process.poll() is None and not self.too_large, ends_when_dropped)
                if ends_when_dropped:
                    hostile.wait(timeout=program.PATIENCE_S)    # the coordinator has told it
                    running.interrupt()
                if self.too_large:
                    running.process.kill()
                self.outcome = running.wait(timeout=seconds + program.PATIENCE_S)
            finally:
                hostile.kill()
                hostile.wait()
                stderr.close()
        self.whole_count = self._whole_count()
        lines = [line for line in self.outcome.stderr.splitlines() if "is lost:" in line]
        self.reason = re.sub(r".* is lost: \S+: ", "", lines[0]) if lines else ""

    def _watch(self, process):
        while process.poll() is None:
            self.peak_bytes = max(self.peak_bytes, resident_bytes(process.pid, "VmHWM"))
            self.too_large |= self.peak_bytes > MEMORY_LIMIT_BYTES
            time.sleep(0.05)

    def _whole_count(self):
        """How many workers took part in the phase until its end."""
        if self.outcome.code not in (0, 3, 130) or not (self.outcome.out / "result.json").exists():
            return 0
        phase, = self.outcome.phases
        return len([worker for client in phase["clients"] for worker in client["workers"] if not worker["lost"]])

    @property
    def honest_are_whole(self):
        return self.whole_count >= HONEST

    def __str__(self):
        dropped = f"dropped after {self.dropped_after_s:5.2f} s" if self.dropped_after_s is not None else "not dropped         "
        return (f"exit {self.outcome.code:4} whole {self.whole_count} peak {self.peak_bytes >> 20:5} MiB {dropped} "
                f"sent {self.sent_bytes / 1e6:9.2f} MB  {self.reason}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--repeat", type=int, default=10)
    options.add_argument("--at-a-time", type=int, default=1, help="runs at the same time")
    options.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    chosen = options.parse_args()

    def flooded(kind):
        with tempfile.TemporaryDirectory() as scratch:
            return kind, Flooded(scratch, kind, chosen.seconds)

    runs = {kind: [] for kind in chosen.kinds or KINDS}
    with concurrent.futures.ThreadPoolExecutor(chosen.at_a_time) as pool:
        for kind, run in pool.map(flooded, [kind for kind in runs for _ in range(chosen.repeat)]):
            runs[kind].append(run)
            print(f"{kind:16} {run}", flush=True)
    for kind, all_runs in runs.items():
        whole, peak = sum(run.honest_are_whole for run in all_runs), max(run.peak_bytes for run in all_runs)
        print(f"{kind:16} honest workers whole in {whole} of {len(all_runs)}, coordinator at most {peak >> 20} MiB", flush=True)
    return any(not run.honest_are_whole or run.peak_bytes >= 500 << 20 for all_runs in runs.values() for run in all_runs)


if __name__ == "__main__":
    program.require_binary()
    sys.exit(main())
