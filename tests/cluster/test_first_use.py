"""A first user is helped: no arguments, typos, workers that do not join, and output into `| head`."""
import contextlib
import os
import pathlib
import re
import socket
import subprocess
import threading

import program
import pytest

SMALL = ("-i", "0", "-i", "1", "-+n", "-ce", "-r", "4k", "-s", "64k")
MARKS_OF_OUR_MAKING = {"too_short", "unflushed", "absorbed"}


# ----------------------------------------------------------------------------------------- what is asked for


@pytest.mark.parametrize("args", [(), ("run",)])
def test_without_arguments_it_says_what_it_would_do_and_writes_nothing(args, tmp_path):
    outcome = program.plain(*args, cwd=tmp_path).expect(1)
    assert outcome.stdout.count("Nothing was measured or written") == 1 and outcome.stderr == "", outcome
    for words in ("cluster-iobench /mnt/nfs", "mpirun -np 32", "cluster-iobench.out", "--out", "run --help"):
        assert words in outcome.stdout, outcome
    assert len(outcome.stdout.splitlines()) < 25, "short"
    assert list(tmp_path.iterdir()) == []


def test_help_is_a_command_too():
    assert program.plain("help").expect(0).stdout == program.plain("--help").expect(0).stdout
    assert program.plain("help", "worker").expect(0).stdout == program.plain("worker", "--help").expect(0).stdout


@pytest.mark.parametrize("args, answer", [
    (("--tmie", "3"), "did you mean --time?"),
    (("-–lanse", "4"), "did you mean --lanes or --lease?"),
    (("-s", "64MB"), "64MiB"),
    (("--engine", "urnig"), "did you mean uring?"),
    (("read",), "write --op before it"),
    (("--suite", "smok"), "did you mean smoke?"),
    (("--listen", "9400", "--workers", "1"), "a port follows a colon: :9400"),
])
def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(args, answer, path, out):
    outcome = program.run(args, path=path, out=out).expect(1)
    assert answer in outcome.stderr and len(outcome.stderr.splitlines()) == 1, outcome
    assert not out.exists() and not outcome.data.exists()


def test_what_others_write_is_understood(path):
    words = (path, "-i", "1", "-s", "1GiB", "--time", "500ms", "--warmup", "100ms", "--engine", "io_uring")
    plan = program.plain(*words, "--print-plan").expect(0).stdout
    for line in (f"path: {path}", "bytes_per_lane: 1073741824", "time_s: 0.5", "warmup_s: 0.1", "engine: uring"):
        assert line in plan, plan


def test_a_phase_for_which_nobody_says_how_much_has_no_mark_of_our_making(path, out, tmp_path):
    plan = program.plain(path, "-i", "0", "-i", "1", "-+n", "--drop-caches", "--print-plan").expect(0).stdout
    assert plan.count("time_s: 3") == 2
    (tmp_path / "plan.yaml").write_text(plan.replace("time_s: 3", "time_s: 1.1"))
    outcome = program.run(["--plan", tmp_path / "plan.yaml"], path=path, out=out).expect(0)
    for phase in outcome.phases:
        assert phase["measured_bytes"] / phase["headline"]["bytes_per_s"] >= 1, phase["headline"]
        assert not MARKS_OF_OUR_MAKING & {mark["code"] for mark in phase["marks"]}, phase["marks"]
    write, read = outcome.phases
    assert "fsync" in write["headline"]["region"], write["headline"]
    assert "cached" not in {mark["code"] for mark in read["marks"]}, "every pass comes from the file system"
    assert [step["name"] for step in read["steps"] if "passes" in step["name"]] == ["drop-passes"]


# ------------------------------------------------------------------------------------------------- | head


def test_a_reader_who_has_seen_enough_ends_nothing(path, out):
    command = [program.BINARY, *SMALL, "--path", str(path), "--out", str(out)]
    read_end, write_end = os.pipe()
    os.close(read_end)
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=write_end, stderr=subprocess.PIPE, text=True,
                           env=program.clean_environment(), timeout=program.PATIENCE_S)
    os.close(write_end)
    assert ended.returncode == 0 and ended.stderr == "", ended
    assert "\nwrite " in program.plain("report", out).expect(0).stdout, "what was measured is saved"
    for args in (["report", str(out)], ["run", "--help"], ["--help", "iozone"]):
        shown = subprocess.run(["sh", "-c", '"$0" "$@" 2>"$ERRORS"; echo $? >"$CODE"', program.BINARY, *args],
                               stdin=subprocess.DEVNULL, stdout=closed_pipe(), timeout=program.PATIENCE_S,
                               env=program.clean_environment(ERRORS=str(out / "errors"), CODE=str(out / "code")))
        assert shown.returncode == 0 and (out / "code").read_text() == "0\n" and (out / "errors").read_text() == ""


def closed_pipe():
    read_end, write_end = os.pipe()
    os.close(read_end)
    return os.fdopen(write_end, "w")


# ---------------------------------------------------------------------------------------------- versions


def patched_copy(tmp_path):
    """A copy whose version says: the same release, built from other sources."""
    shown = program.plain("--version").expect(0).stdout
    version, fingerprint = re.fullmatch(r"cluster-iobench ([\d.]+\+([0-9a-f]{12}))\n", shown).groups()
    other = "f00dfeedbeef"
    copy = tmp_path / "patched"
    text = pathlib.Path(program.BINARY).read_bytes()
    assert fingerprint.encode() in text
    copy.write_bytes(text.replace(fingerprint.encode(), other.encode()))
    copy.chmod(0o755)
    return copy, version, version.replace(fingerprint, other)


def test_a_worker_built_from_other_sources_does_not_join(path, out, tmp_path):
    copy, ours, theirs = patched_copy(tmp_path)
    address = f"unix:{tmp_path}/coordinator.sock"
    worker = (str(copy), "worker", "--join", address, "--root", "/")
    outcome = program.run([*SMALL, "--listen", address, "--workers", "1", "--join-timeout", "5"], path=path, out=out,
                          helpers=(worker,)).expect(3)
    assert "sent away" in outcome.stderr and "0 of 1 workers have joined" in outcome.stderr, outcome
    assert ours in outcome.stderr and theirs in outcome.stderr and "install" in outcome.stderr, outcome
    assert not out.exists() and not outcome.data.exists()


def test_a_changed_source_has_another_version_and_another_build_has_the_same(tmp_path):
    script = pathlib.Path(__file__).parents[2] / "cmake" / "SourceFingerprint.cmake"
    source = tmp_path / "worker" / "engine" / "one.cc"
    source.parent.mkdir(parents=True)
    for folder in ("proto", "common", "coordinator"):
        (tmp_path / folder).mkdir()

    def version():
        output = tmp_path / "version.cc"
        subprocess.run(["cmake", f"-DSOURCE_DIR={tmp_path}", "-DVERSION=1.2.3", f"-DOUTPUT={output}", "-P", str(script)],
                       check=True, timeout=program.PATIENCE_S)
        return re.search(r'"(1\.2\.3\+[0-9a-f]{12})"', output.read_text()).group(1)

    source.write_text("int one;\n")
    first = version()
    (tmp_path / "coordinator" / "report.cc").write_text("only shows what was measured\n")
    assert version() == first
    source.write_text("int two;\n")
    second = version()
    source.rename(source.with_name("two.cc"))
    assert len({first, second, version()}) == 3


# ----------------------------------------------------------------------------------- workers that do not come


def test_who_has_not_joined_is_named(path, out, tmp_path):
    address = f"unix:{tmp_path}/coordinator.sock"
    worker = (program.BINARY, "worker", "--join", address, "--root", "/")
    outcome = program.run([*SMALL, "--listen", address, "--workers", "3", "--join-timeout", "4500ms"], path=path, out=out,
                          helpers=(worker,)).expect(3)
    host = socket.gethostname()
    assert f"1 of 3 workers have joined ({host}); missing: 2, to be started" in outcome.stderr, outcome
    assert f"cluster-iobench worker --join {address}" in outcome.stderr and "--join-timeout" in outcome.stderr


def test_the_command_for_workers_names_this_host(path, out):
    outcome = program.run([*SMALL, "--listen", ":0", "--workers", "1", "--insecure", "--join-timeout", "0.1"], path=path,
                          out=out).expect(3)
    command = rf"worker --join {re.escape(socket.gethostname())}:\d+ --insecure --root {re.escape(str(path))}\n"
    assert re.search(command, outcome.stderr), outcome
    assert "nothing is encrypted" in outcome.stderr, outcome


@contextlib.contextmanager
def remote_shell(tmp_path, script):
    shell = tmp_path / "rsh"
    shell.write_text("#!/bin/sh\n" + script)
    shell.chmod(0o755)
    yield program.clean_environment(RSH=str(shell))


def listed(tmp_path, path, *clients):
    (tmp_path / "clients").write_text("".join(f"{client} {path} {program.BINARY}\n" for client in clients))
    return ("-+m", str(tmp_path / "clients"), "--insecure")


def test_a_client_that_cannot_reach_the_coordinator_is_named_with_the_reason(path, out, tmp_path):
    words = (*listed(tmp_path, path, "node1"), "--listen", "127.0.0.1:0", "-+h", "127.0.0.2", *SMALL, "--out", out)
    with remote_shell(tmp_path, 'exec sh -c "$3"\n') as env:
        outcome = program.plain(*words, "--join-timeout", "5", env=env, cwd=tmp_path).expect(3)
    for words in ("client node1 (worker 0)", "127.0.0.2:", "connection refused", "-+h HOST"):
        assert words in outcome.stderr, outcome


def test_a_client_whose_shell_hangs_is_told_of_while_others_have_joined(path, out, tmp_path):
    words = (*listed(tmp_path, path, "node1", "node2"), "--listen", "127.0.0.1:0", *SMALL, "--out", out)
    with remote_shell(tmp_path, '[ "$1" = node2 ] && exec sleep 6\nexec sh -c "$3"\n') as env:
        outcome = program.plain(*words, "--join-timeout", "4", env=env, cwd=tmp_path).expect(3)
    assert "1 of 2 workers have joined" in outcome.stderr, outcome
    assert re.search(r"client node2 \(worker 1\): its worker has not joined after [\d.]+ s; .* printed nothing; "
                     r"raise --join-timeout", outcome.stderr), outcome


def test_what_a_remote_shell_says_is_passed_on(path, out, tmp_path):
    words = (*listed(tmp_path, path, "node1"), "--listen", "127.0.0.1:0", *SMALL, "--out", out)
    with remote_shell(tmp_path, 'echo "ssh: connect to host $1 port 22: No route to host" >&2; exit 255\n') as env:
        outcome = program.plain(*words, env=env, cwd=tmp_path).expect(3)
    assert "client node1 (worker 0)" in outcome.stderr and "No route to host" in outcome.stderr, outcome


def test_a_worker_at_a_wrong_port_says_what_answers_there():
    outcome = program.plain("worker", "--join", f"127.0.0.1:{program.free_port()}", "--root", "/", "--join-timeout", "2").expect(3)
    assert "connection refused: nothing listens on that port" in outcome.stderr, outcome
    outcome = program.plain("worker", "--join", "localhost").expect(1)
    assert "localhost:9400" in outcome.stderr, outcome
    with socket.socket() as listener:        # stands for a web server, or a server that waits for TLS
        listener.bind(("127.0.0.1", 0))
        listener.listen()

        def hang_up():
            with contextlib.suppress(OSError):
                while True:
                    accepted, _ = listener.accept()
                    accepted.recv(24)
                    accepted.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                    accepted.close()

        threading.Thread(target=hang_up, daemon=True).start()
        port = listener.getsockname()[1]
        outcome = program.plain("worker", "--join", f"127.0.0.1:{port}", "--root", "/", "--join-timeout", "3").expect(3)
        listener.shutdown(socket.SHUT_RDWR)
    assert "is not a coordinator of cluster-iobench" in outcome.stderr and "TLS" in outcome.stderr, outcome


# ------------------------------------------------------------------------------------------------- mpirun


@pytest.mark.mpi
def test_mpi_ranks_without_arguments_say_it_once(tmp_path):
    command = [*program.mpirun(4), program.BINARY]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=tmp_path,
                           env=program.clean_environment(), timeout=program.PATIENCE_S)
    assert ended.stdout.count("Nothing was measured or written") == 1, ended
    assert list(tmp_path.iterdir()) == []


@pytest.mark.mpi
@pytest.mark.parametrize("option", [("--spawn", "2"), ("--listen", "127.0.0.1:0", "--workers", "1"),
                                    ("--transport", "local")])
def test_mpi_ranks_that_would_each_be_a_coordinator_are_refused(option, path, out):
    outcome = program.run([*SMALL, *option], path=path, out=out, prefix=program.mpirun(3))
    assert outcome.code == 1, outcome
    ours = [line for line in outcome.stderr.splitlines() if line.startswith("cluster-iobench:")]
    assert len(ours) == 1 and option[0] in ours[0] and "Open MPI's mpirun" in ours[0] and "3 ranks" in ours[0], outcome
    assert not out.exists() and not outcome.data.exists()
