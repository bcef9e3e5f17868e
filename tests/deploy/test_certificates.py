"""deploy/make-certificates.sh: workers can join over TLS with the files that it writes, and not without them."""

import pathlib
import subprocess

import program
import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "deploy" / "make-certificates.sh"


def make(*words):
    return subprocess.run([SCRIPT, *words], text=True, capture_output=True, timeout=60)


def contents(directory):
    return {file.name: file.read_bytes() for file in directory.iterdir()}


def test_existing_files_are_kept_and_secrets_are_private(tmp_path):
    tls = tmp_path / "tls"
    assert make(tls, "localhost", "127.0.0.1").returncode == 0
    assert make(tls, "--worker", "node1").returncode == 0
    before = contents(tls)
    assert {"ca.pem", "ca.key", "coordinator.pem", "coordinator.key", "token", "worker-node1.pem", "worker-node1.key"} <= before.keys()
    assert all(file.stat().st_mode & 0o077 == 0 for file in tls.iterdir())
    assert make(tls, "localhost").returncode == make(tls, "--worker", "node1").returncode == 0
    assert contents(tls) == before
    assert make(tmp_path / "other", "no such,name").returncode == 1


@pytest.mark.parametrize("words, said", [
    (("elsewhere",), "coordinator.pem exists and is not valid for elsewhere"),
    (("10.0.0.1",), "coordinator.pem exists and is not valid for 10.0.0.1"),
    (("--worker",), "needs the names"), (("--worker", "a/b"), "'a/b' is neither"), (("--revoke", "none.pem"), "none.pem cannot be revoked"),
])
def test_what_does_not_fit_is_refused_and_nothing_is_changed(tmp_path, words, said):
    make(tmp_path / "tls", "localhost")
    before = {name: text for name, text in contents(tmp_path / "tls").items() if not name.startswith("index.txt")}
    outcome = make(tmp_path / "tls", *words)
    assert outcome.returncode == 1 and said in outcome.stderr and len(outcome.stderr.splitlines()) == 1, outcome
    assert before.items() <= contents(tmp_path / "tls").items()


@pytest.mark.parametrize("half", ["ca.key", "coordinator.key", "coordinator.pem"])
def test_one_half_of_a_pair_is_not_made_anew(tmp_path, half):
    make(tmp_path / "tls", "localhost")
    other = tmp_path / "tls" / {"ca.key": "ca.pem", "coordinator.key": "coordinator.pem", "coordinator.pem": "coordinator.key"}[half]
    other.unlink()
    before = contents(tmp_path / "tls")
    outcome = make(tmp_path / "tls", "localhost")
    assert outcome.returncode == 1 and half in outcome.stderr, outcome
    assert contents(tmp_path / "tls") == before


def text_of(file, *words):
    return subprocess.run(["openssl", "x509", "-in", file, "-noout", "-text", *words], text=True, capture_output=True, timeout=60,
                          check=True).stdout


def test_certificates_are_good_for_what_they_are_for(tmp_path):
    tls = tmp_path / "tls"
    make(tls, "localhost")
    make("--days", "30", tls, "--worker", "node1")
    ca, coordinator, worker = (text_of(tls / f"{name}.pem") for name in ("ca", "coordinator", "worker-node1"))
    assert "CA:TRUE, pathlen:0" in ca and "CRL Sign" in ca
    assert "Server Authentication" in coordinator and "Client Authentication" not in coordinator and "CA:FALSE" in coordinator
    assert "Client Authentication" in worker and "Server Authentication" not in worker and "CA:FALSE" in worker
    for name, days in (("coordinator", 365), ("worker-node1", 30)):
        ends = [subprocess.run(["openssl", "x509", "-in", tls / f"{name}.pem", "-noout", "-checkend", str(seconds)],
                               capture_output=True, timeout=60).returncode
                for seconds in ((days - 1) * 86400, (days + 1) * 86400)]
        assert ends == [0, 1], (name, ends)


def join(tmp_path, token, coordinator=(), worker=()):
    """Runs on all interfaces with the script's certificate. Returns the coordinator's code and output, and the ended worker."""
    tls = tmp_path / "tls"
    port = program.free_port()
    out, path = tmp_path / "out", tmp_path / "target"
    path.mkdir()
    running = subprocess.Popen(
        [program.BINARY, "run", "--listen", f"0.0.0.0:{port}", "--workers", "1", "--token-file", tls / "token", "--tls-cert",
         tls / "coordinator.pem", "--tls-key", tls / "coordinator.key", "--path", path, "--out", out, "-i", "0", "-r", "64k",
         "-s", "1m", "-t", "1", "--join-timeout", "10", *coordinator], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    joined = subprocess.run([program.BINARY, "worker", "--join", f"127.0.0.1:{port}", "--token-file", token, "--root", path,
                             "--join-timeout", "5", *worker], text=True, capture_output=True, timeout=60)
    said, _ = running.communicate(timeout=60)
    return running.returncode, said, joined


def test_a_worker_joins_with_the_token_file(tmp_path):
    make(tmp_path / "tls", "127.0.0.1")
    code, said, worker = join(tmp_path, tmp_path / "tls" / "token")
    assert code == 0 and worker.returncode == 0, said + worker.stderr


def test_a_token_with_another_ca_does_not_join(tmp_path):
    make(tmp_path / "tls", "127.0.0.1")
    make(tmp_path / "foreign", "127.0.0.1")
    code, said, worker = join(tmp_path, tmp_path / "foreign" / "token")
    assert code == 3 and worker.returncode == 1 and "is not the one of this coordinator" in worker.stderr, said + worker.stderr


@pytest.mark.parametrize("revoked", [None, "worker-node1.pem", "coordinator.pem"])
def test_certificates_on_both_sides_and_what_is_revoked(tmp_path, revoked):
    tls = tmp_path / "tls"
    make(tls, "127.0.0.1")
    make(tls, "--worker", "node1", "node2")
    assert make(tls, "--revoke", tls / "worker-node2.pem", *([tls / revoked] if revoked else [])).returncode == 0
    trusted = ("--tls-ca", tls / "ca.pem", "--tls-crl", tls / "crl.pem")
    code, said, worker = join(tmp_path, tls / "token", coordinator=trusted,
                              worker=("--tls-cert", tls / "worker-node1.pem", "--tls-key", tls / "worker-node1.key", *trusted))
    if revoked is None:
        assert code == 0 and worker.returncode == 0, said + worker.stderr
        return
    assert code == 3 and worker.returncode == 1, said + worker.stderr
    if revoked == "coordinator.pem":
        assert "the coordinator's certificate (CN=cluster-iobench coordinator) was revoked" in worker.stderr
    else:
        assert "does not accept this worker's certificate" in worker.stderr and "--tls-crl" in worker.stderr, worker.stderr
        assert "certificate revoked" in said, said
