"""A worker whose connection breaks comes back within its lease: the run does not notice, and its report says so."""
import contextlib
import re
import select
import socket
import struct
import threading
import time

import program
from report_checks import check_schema, lanes_of

PACE, SECONDS = 100, 2.5
PACED = ("-i", "0", "-i", "1", "-+n", "-r", "4k", "-s", "64k", "--time", str(SECONDS), "-+O", str(PACE), "-t", "1")


class BreakingProxy:
    """Stands between a worker and the coordinator. A break resets the connection at both ends; for some time, new
    connections are refused."""

    def __init__(self, port):
        self.port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.pair, self.down_until = None, 0.0
        self.breaks, self.connections, self.recorded = 0, 0, b""
        self.break_for_s = None             # set from outside: break now, for this time
        self.break_in_message_of = None     # break in the middle of the next chunk from the worker of this many bytes or more
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def hang_up(self, for_s):
        for end in self.pair or ():
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()
        self.pair, self.down_until = None, time.monotonic() + for_s
        self.breaks += 1

    def accept(self):
        near, _ = self.listener.accept()
        if self.pair or time.monotonic() < self.down_until:
            near.close()
            return
        far = None
        while far is None and not self.ends.is_set():
            with contextlib.suppress(ConnectionRefusedError):
                far = socket.create_connection(("127.0.0.1", self.port))
            time.sleep(0.02)
        self.pair = (near, far)
        self.connections += 1

    def pump(self, source):
        near, far = self.pair
        data = source.recv(1 << 20)
        if not data:
            return self.hang_up(0)
        if source is near and len(self.recorded) < 1 << 16:
            self.recorded += data
        limit = self.break_in_message_of
        if source is near and limit and len(data) >= limit:
            self.break_in_message_of = None
            far.sendall(data[:len(data) // 2])
            return self.hang_up(1)
        (far if source is near else near).sendall(data)
        return None

    def serve(self):
        while not self.ends.is_set():
            if self.break_for_s is not None and self.pair:
                self.hang_up(self.break_for_s)
                self.break_for_s = None
            ready, _, _ = select.select([self.listener, *(self.pair or ())], [], [], 0.02)
            for source in ready:
                with contextlib.suppress(OSError):
                    if source is self.listener:
                        self.accept()
                    elif self.pair and source in self.pair:
                        try:
                            self.pump(source)
                        except OSError:
                            self.hang_up(0)

    def close(self):
        self.ends.set()
        self.thread.join()
        self.listener.close()


@contextlib.contextmanager
def paced_run(path, out, *more):
    """Two workers, the second behind a proxy."""
    port = program.free_port()
    proxy = BreakingProxy(port)
    helpers = [(program.BINARY, "worker", "--join", address, "--root", "/") for address in (f"127.0.0.1:{port}", proxy.address)]
    try:
        with program.start([*PACED, "--listen", f"127.0.0.1:{port}", "--workers", "2", *more], path=path, out=out,
                           helpers=helpers) as running:
            yield running, proxy
    finally:
        proxy.close()


def check_whole(outcome, phases, farewells=((0, 0),)):
    outcome.expect(0)
    assert tuple(sorted(worker.returncode for worker in outcome.workers)) in farewells, outcome
    check_schema(outcome.result)
    assert len(outcome.phases) == phases
    for phase in outcome.phases:
        assert phase["workers_lost"] == 0 and phase["lanes_failed"] == 0 and len(lanes_of(phase)) == 2
        for lane in lanes_of(phase):        # a disturbed lane would lack ops
            assert lane["ops"] >= 0.4 * PACE * SECONDS, lane    # a busy machine does not keep the pace
    verified = program.plain("report", "--verify", outcome.out)
    assert verified.code == 0, verified


def reconnects(phase):
    """worker -> how often it reconnected; checks that the mark agrees."""
    marks = [mark for mark in phase["marks"] if mark["code"] == "reconnected"]
    found = {worker["worker"]: worker["reconnects"] for client in phase["clients"] for worker in client["workers"]}
    assert len(marks) == (1 if any(found.values()) else 0)
    assert not marks or marks[0]["value"] == sum(found.values())
    return found


def wait(running):
    outcome = running.wait()
    outcome.workers = running.workers
    return outcome


def test_a_connection_that_breaks_for_a_second_while_lanes_run(path, out):
    with paced_run(path, out) as (running, proxy):
        running.wait_until(lambda: running.data_bytes() >= 64 << 10, "ops of the lanes")
        proxy.break_for_s = 1
        outcome = wait(running)
    check_whole(outcome, 2)
    assert proxy.breaks >= 1 and sum(reconnects(outcome.phases[0]).values()) == 1
    assert sum(reconnects(outcome.phases[1]).values()) == 0
    text = " ".join(outcome.stdout.split())
    assert "reconnected 1 time" in text, outcome
    assert re.search(r"worker \d on \S+ has reconnected", outcome.stderr), outcome


def test_a_connection_that_breaks_in_the_middle_of_the_results(path, out):
    with paced_run(path, out) as (running, proxy):
        running.wait_until(lambda: running.data_bytes() >= 64 << 10, "ops of the lanes")
        proxy.break_in_message_of = 1000        # answers to polls are much shorter
        outcome = wait(running)
    check_whole(outcome, 2)
    assert proxy.break_in_message_of is None and proxy.connections == 2
    assert sum(sum(reconnects(phase).values()) for phase in outcome.phases) == 1


def test_many_breaks_at_any_time_cost_nothing(path, out):
    with paced_run(path, out) as (running, proxy):
        running.wait_until(lambda: running.data_bytes() > 0, "data")
        while running.process.poll() is None:
            time.sleep(0.2)
            before = proxy.connections
            proxy.break_for_s = 0.05
            while running.process.poll() is None and proxy.connections == before:
                time.sleep(0.01)
            if (out / "raw" / "phase-001.pb").exists():
                break
        proxy.break_for_s = None
        outcome = wait(running)
    # A worker whose connection breaks between the last result and the farewell finds the coordinator gone.
    check_whole(outcome, 2, farewells=((0, 0), (0, 3)))
    # A line each time would bury everything else.
    assert outcome.stderr.count("has reconnected: ") == 1 and outcome.stderr.count(" broke; it is lost if") == 1, outcome
    again = proxy.breaks - 1
    assert again < 2 or re.search(r"connections broke and came back again, nothing was lost: worker \d on \S+, \d+ times?: "
                                  r"check the network", outcome.stderr), outcome
    assert sum(sum(reconnects(phase).values()) for phase in outcome.phases) >= 1


def test_a_worker_that_comes_back_too_late_is_lost_as_ever(path, out):
    with paced_run(path, out, "--lease", "3") as (running, proxy):
        running.wait_until(lambda: running.data_bytes() >= 64 << 10, "ops of the lanes")
        proxy.break_for_s = 1000
        outcome = wait(running).expect(3)
    assert re.search(r"the connection of the worker at \S+ broke; it is lost if it does not come back within 3\b", outcome.stderr)
    assert "did not come back within 3" in outcome.stderr, outcome
    assert sorted(worker.returncode for worker in outcome.workers) == [0, 3]
    assert [phase["workers_lost"] for phase in outcome.phases] == [1, 1]
    assert lanes_of(outcome.phases[1])


def test_a_stranger_with_a_recorded_or_forged_call_takes_over_nothing(path, out):
    with paced_run(path, out) as (running, proxy):
        running.wait_until(lambda: running.data_bytes() >= 64 << 10, "ops of the lanes")
        call = proxy.recorded
        key = b"cluster-iobench-identity"
        at = call.index(key) + len(key) + 1     # after the length of the value
        forged = bytearray(call)
        forged[at + 42] = ord("A") if call[at + 42] != ord("A") else ord("B")   # the last character
        attempt = call.index(b"cluster-iobench-attempt") + len(b"cluster-iobench-attempt") + 5
        forged[attempt] = ord("A") if call[attempt] != ord("A") else ord("B")
        for replay in (call, bytes(forged)):
            with socket.create_connection(("127.0.0.1", proxy.port)) as stranger:
                stranger.sendall(replay)
                stranger.settimeout(0.3)
                with contextlib.suppress(OSError):
                    while stranger.recv(4096):
                        pass
        outcome = wait(running)
    check_whole(outcome, 2)
    assert "the same attempt to join was made before" in outcome.stderr, outcome
    assert all(not any(reconnects(phase).values()) for phase in outcome.phases) and proxy.connections == 1
