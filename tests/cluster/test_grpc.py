"""Workers join over gRPC at every kind of address and in any order, and leave no socket behind."""
import program
import pytest
from report_checks import check_report

SMALL = ("-i", "0", "-i", "1", "-+n", "-ce", "-r", "4k", "-s", "64k")


@pytest.mark.parametrize("transport", ["join-ipv6", "join-unix"])
def test_addresses(transport, path, out, tmp_path):
    _, options, helpers = program.Transports(tmp_path).parts(transport)
    outcome = program.run([*SMALL, *options], path=path, out=out, helpers=helpers).expect(0)
    check_report(outcome.result)
    assert outcome.result["run"]["transport"] == "grpc"


def test_workers_may_be_there_before_their_coordinator(path, out, tmp_path):
    import subprocess
    import time
    _, options, (worker, _) = program.Transports(tmp_path).parts("join-unix")
    early = [subprocess.Popen(worker, stdin=subprocess.DEVNULL, env=program.clean_environment()) for _ in range(2)]
    try:
        time.sleep(0.3)          # so that at least one has tried in vain; joining later is right too
        program.run([*SMALL, *options], path=path, out=out).expect(0)
        assert [process.wait(timeout=program.PATIENCE_S) for process in early] == [0, 0]
    finally:
        for process in early:
            if process.poll() is None:
                process.kill()
                process.wait()


def test_all_addresses_may_be_listened_to_when_it_is_said_aloud(path, out):
    port = program.free_port()
    worker = (program.BINARY, "worker", "--join", f"127.0.0.1:{port}", "--root", str(path))
    program.run([*SMALL, "--listen", f"0.0.0.0:{port}", "--workers", "1", "--insecure"], path=path, out=out,
                helpers=(worker,)).expect(0)


def test_the_address_is_in_use(path, out):
    import socket
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        outcome = program.run([*SMALL, "--listen", f"127.0.0.1:{port}", "--workers", "1"], path=path, out=out).expect(1)
    assert str(port) in outcome.stderr and len(outcome.stderr.strip().splitlines()) == 1, outcome
    assert not out.exists()


def test_eight_spawned_workers(path, out):
    outcome = program.run([*SMALL, "--spawn", "8"], path=path, out=out).expect(0)
    check_report(outcome.result)
    assert outcome.result["run"]["worker_count"] == 8 and len(outcome.result["clients"]) == 1


def test_spawned_workers_leave_no_socket_behind(path, out, tmp_path):
    sockets = tmp_path / "sockets"
    sockets.mkdir()
    program.run([*SMALL, "--spawn", "2"], path=path, out=out, env=program.clean_environment(TMPDIR=str(sockets))).expect(0)
    assert not list(sockets.iterdir())
