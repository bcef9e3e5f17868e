"""deploy/make-certificates.sh: a worker can join over TLS with the files that it writes, and not without them."""

import pathlib
import subprocess

import program

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "make-certificates.sh"


def make(directory, *names):
    return subprocess.run([SCRIPT, directory, *names], text=True, capture_output=True, timeout=60)


def test_existing_files_are_kept_and_secrets_are_private(tmp_path):
    assert make(tmp_path / "tls", "localhost", "127.0.0.1").returncode == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "tls").iterdir()}
    assert {"ca.pem", "ca.key", "coordinator.pem", "coordinator.key", "token"} <= before.keys()
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "tls").iterdir())
    assert make(tmp_path / "tls", "localhost").returncode == 0
    assert {file.name: file.read_bytes() for file in (tmp_path / "tls").iterdir()} == before
    assert make(tmp_path / "other", "no such,name").returncode == 1


def join(tmp_path, token):
    """Runs on all interfaces with the script's certificate. Returns the coordinator's code and output, and the ended worker."""
    tls = tmp_path / "tls"
    port = program.free_port()
    out, path = tmp_path / "out", tmp_path / "target"
    path.mkdir()
    coordinator = subprocess.Popen(
        [program.BINARY, "run", "--listen", f"0.0.0.0:{port}", "--workers", "1", "--token-file", tls / "token", "--tls-cert",
         tls / "coordinator.pem", "--tls-key", tls / "coordinator.key", "--path", path, "--out", out, "-i", "0", "-r", "64k",
         "-s", "1m", "-t", "1", "--join-timeout", "10"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    worker = subprocess.run([program.BINARY, "worker", "--join", f"127.0.0.1:{port}", "--token-file", token, "--root", path,
                             "--join-timeout", "5"], text=True, capture_output=True, timeout=60)
    said, _ = coordinator.communicate(timeout=60)
    return coordinator.returncode, said, worker


def test_a_worker_joins_with_the_token_file(tmp_path):
    make(tmp_path / "tls", "127.0.0.1")
    code, said, worker = join(tmp_path, tmp_path / "tls" / "token")
    assert code == 0 and worker.returncode == 0, said + worker.stderr


def test_a_token_with_another_ca_does_not_join(tmp_path):
    make(tmp_path / "tls", "127.0.0.1")
    make(tmp_path / "foreign", "127.0.0.1")
    code, said, worker = join(tmp_path, tmp_path / "foreign" / "token")
    assert code == 3 and worker.returncode == 1 and "is not the one of this coordinator" in worker.stderr, said + worker.stderr
