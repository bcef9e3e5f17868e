"""Preflight on real NFS clients: it finds by content which of them see the same storage, whatever they have cached."""

import json

import pytest

import lab as nfs_lab
from cluster_run import start_over_grpc

pytestmark = pytest.mark.parametrize("version", ["4.2"], indirect=True)
PATIENCE_S = 120
THERE = "/run/preflight"  # on each client a tmpfs of its own, where nothing is mounted over it


@pytest.fixture
def there(lab, nfs_dir):
    """A function that mounts the test's directory on one client's THERE; THERE exists on all clients."""
    mounted = []
    name = nfs_dir.rsplit("/", 1)[1]

    def mount(client, options):
        source = f"10.77.0.1:{nfs_lab.EXPORT}/{name}" if "vers=3" in options else f"10.77.0.1:/{name}"
        lab.run(client, ["mount", "-t", "nfs", "-o", options, source, THERE])
        mounted.append(client)

    for client in lab.clients:
        lab.run(client, ["mkdir", "-p", THERE])
    yield mount
    for client in mounted:
        lab.run(client, ["umount", THERE])


def with_workers(lab, command, options):
    """Runs the command's coordinator outside, and a worker on each client. Returns the coordinator's CompletedProcess."""
    coordinator, workers = start_over_grpc(lab, command, ["--path", THERE, *options], f"--root {THERE}")
    done = lab.finish(coordinator, timeout=PATIENCE_S)
    for worker in workers:
        lab.finish(worker)
    return done


@pytest.mark.parametrize("kind", ["vers=4.2", "vers=3,nolock"])
def test_clients_that_cache_names_and_attributes_for_a_minute_see_the_same_storage(lab, version, there, kind):
    for client in lab.clients:
        there(client, f"{kind},actimeo=60")
        lab.run(client, f"ls -la {THERE}; stat {THERE}/cluster-iobench.data || true")
    done = with_workers(lab, "preflight", ["-i", "0", "-s", "64k"])
    assert done.returncode == 0 and "no faults" in done.stdout, done
    assert lab.run(lab.clients[0], ["ls", "-A", THERE]).stdout == ""


def test_a_name_that_a_client_knows_to_be_missing_is_looked_up_again(lab, version, there):
    """A client that looked for the file before it was written must not go on seeing that it is missing."""
    writer, reader = lab.clients
    for client in lab.clients:
        there(client, "vers=4.2,actimeo=60")
    assert lab.run(reader, f"ls {THERE}/cluster-iobench.check-1", check=False).returncode != 0
    lab.run(writer, f"echo here > {THERE}/cluster-iobench.check-1")
    # As the worker does before each look: it opens the directory, which makes the client ask the server.
    assert lab.run(reader, f"ls {THERE} > /run/names; cat {THERE}/cluster-iobench.check-1").stdout == "here\n"
    lab.run(writer, f"rm {THERE}/cluster-iobench.check-1")


def test_a_client_without_the_mount_is_found_and_can_be_left_out(lab, version, there, tmp_path):
    mounted, other = lab.clients
    there(mounted, "vers=4.2")
    found = with_workers(lab, "preflight", ["-i", "0", "-s", "64k", "--format", "json"])
    assert found.returncode == 1, found
    (fault,) = [each for each in json.loads(found.stdout)["findings"] if each["severity"] == "fault"]
    assert fault["check"] == "storage" and fault["client"] == other and "tmpfs" in fault["problem"]

    options = ["-i", "0", "-+n", "-e", "-t", "1", "-r", "64k", "-s", "256k", "--skip-bad", "--out", str(tmp_path / "out")]
    done = with_workers(lab, "run", options)
    assert done.returncode == 0, done
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert [client["host"] for client in result["clients"]] == [mounted]
    assert [client["client"] for client in result["run"]["left_out"]] == [other]
    assert result["phases"][0]["bytes"] == 256 << 10
    assert "left out" in done.stdout and other in done.stdout
    assert "not_shared" not in {mark["code"] for mark in result["phases"][0]["marks"]}
    for client in lab.clients:
        assert lab.run(client, ["ls", "-A", THERE]).stdout == ""
