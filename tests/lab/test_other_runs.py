"""Two hosts with separate runs do not harm each other, and a path that is not shared is detected."""

import json

import pytest

import lab as nfs_lab
from cluster_run import in_one_line, over_grpc

pytestmark = pytest.mark.parametrize("version", ["4.2"], indirect=True)
PATIENCE_S = 120
HALF = "/run/half"  # on each client a tmpfs of its own, where nothing is mounted over it


def stored(lab, nfs_dir):
    """The data directory as the server sees it: name -> checksum."""
    data = f"{nfs_lab.EXPORT}/{nfs_dir.rsplit('/', 1)[1]}/cluster-iobench.data"
    lines = lab.run(nfs_lab.SERVER, f"cd {data} && sha256sum *").stdout.splitlines()
    return {line.split()[1]: line.split()[0] for line in lines}


def test_a_run_that_another_host_forces_in_keeps_its_data(lab, version, nfs_dir, tmp_path):
    program = nfs_lab.binary()
    first_host, second_host = lab.clients
    run = f"exec {program} --path {nfs_dir} -r 64k -t 2 -+n"
    pid, phase = f"{tmp_path}/pid", f"{tmp_path}/1/raw/phase-000.pb"
    first = lab.start(first_host, f"echo $$ > {pid}; {run} --out {tmp_path}/1 -i 0 -i 1 -e -s 256k --rest 3 2>&1")
    # Stopped between its two phases, the first run learns nothing of the other.
    lab.run(first_host, f"until [ -e {phase} ]; do sleep 0.1; done; kill -STOP $(cat {pid})", timeout=PATIENCE_S)
    lab.run(second_host, f"{run} --out {tmp_path}/2 -i 0 -s 128k --force -w", timeout=PATIENCE_S)
    kept = stored(lab, nfs_dir)
    assert sorted(kept) == ["lane-000000.0", "lane-000001.0", "manifest.json"]
    lab.run(first_host, f"kill -CONT $(cat {pid})")
    ended = lab.finish(first, timeout=PATIENCE_S)
    assert stored(lab, nfs_dir) == kept
    assert ended.returncode == 2
    assert "belongs to another run now" in in_one_line(ended.stdout) and f"{second_host} began at" in in_one_line(ended.stdout)
    result = json.loads((tmp_path / "1" / "result.json").read_text())
    assert [phase["name"] for phase in result["phases"]] == ["write"], "what was measured stays"
    lab.run(second_host, f"{run} --out {tmp_path}/3 -i 1 -s 128k", timeout=PATIENCE_S)
    assert lab.run(nfs_lab.SERVER, f"ls -A {nfs_lab.EXPORT}/{nfs_dir.rsplit('/', 1)[1]}").stdout == ""


@pytest.fixture
def half(lab, nfs_dir):
    """A function that mounts a source on one client's HALF; the directory exists on all clients."""
    mounted = []

    def mount(client, kind):
        name = nfs_dir.rsplit("/", 1)[1]
        source = {"4.2": f"10.77.0.1:/{name}", "3": f"10.77.0.1:{nfs_lab.EXPORT}/{name}"}[kind]
        options = {"4.2": "vers=4.2", "3": "vers=3,nolock"}[kind]
        lab.run(client, ["mount", "-t", "nfs", "-o", options, source, HALF])
        mounted.append(client)
        return source

    for client in lab.clients:
        lab.run(client, ["mkdir", "-p", HALF])
    yield mount
    for client in mounted:
        lab.run(client, ["umount", HALF])


def test_a_client_whose_path_is_not_mounted_is_not_in_the_total(lab, version, half, tmp_path):
    mounted, other = lab.clients
    source = half(mounted, "4.2")
    out = tmp_path / "out"
    options = ["--path", HALF, "--out", str(out), "-i", "0", "-+n", "-e", "-t", "1", "-r", "64k", "-s", "256k"]
    for dry in ([], ["--dry-run"]):
        with pytest.raises(nfs_lab.CommandFailed) as refused:
            over_grpc(lab, [*options, *dry])
        assert refused.value.code == 1
        for word in (f"{mounted}: nfs4 {source}", f"{other}: its own tmpfs", "--force"):
            assert word in refused.value.err
    assert not out.exists()
    assert lab.run(other, ["ls", "-A", HALF]).stdout == lab.run(mounted, ["ls", "-A", HALF]).stdout == ""

    over_grpc(lab, [*options, "--force"])
    result = json.loads((out / "result.json").read_text())
    (mark,) = [mark for mark in result["phases"][0]["marks"] if mark["code"] == "not_shared"]
    assert f"{other}: its own tmpfs" in mark["text"] and mark["value"] == 2
    assert any("(--force)" in note for note in result["notes"])


def test_one_directory_by_two_sources_is_one_directory(lab, version, half, tmp_path):
    sources = {client: half(client, kind) for client, kind in zip(lab.clients, ["4.2", "3"])}
    assert len(set(sources.values())) == 2
    out = tmp_path / "out"
    over_grpc(lab, ["--path", HALF, "--out", str(out), "-i", "0", "-i", "1", "-e", "-t", "1", "-r", "64k", "-s", "256k",
                    "--rotate-clients"])
    result = json.loads((out / "result.json").read_text())
    marks = {mark["code"] for phase in result["phases"] for mark in phase["marks"]}
    assert "not_shared" not in marks and "options_differ" in marks, "their versions of NFS differ, their data do not"
    assert result["notes"] == []
