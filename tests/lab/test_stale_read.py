"""Verification finds a stale read: a client that trusts its caches reads data that another client has since rewritten."""

import contextlib
import json

import pytest

import cluster_run
import lab as nfs_lab

MOUNT_POINT = f"{nfs_lab.SCRATCH}/trusting"
SECTORS = (1 << 20) // 512
PHASES = """
  - {name: write, assignments: [{operation: {name: write, record_bytes: 64k}}], region: {close: true},
     stonewall: none}
  - {name: first-read, assignments: [{operation: {name: read, record_bytes: 64k, rotate_clients: true}}]}
  - {name: rewrite, assignments: [{operation: {name: rewrite, record_bytes: 64k}}], region: {close: true},
     stonewall: none}
  - {name: second-read, assignments: [{operation: {name: reread, record_bytes: 64k, rotate_clients: true}}]}
"""


@contextlib.contextmanager
def mounted(lab, options):
    """Mounts the export at MOUNT_POINT of every client, with its mount options from `options`."""
    with contextlib.ExitStack() as stack:
        for client in lab.clients:
            what = f"-o vers=3,nolock,nosharecache,{options[client]} 10.77.0.1:{nfs_lab.EXPORT} {MOUNT_POINT}"
            lab.run(client, f"mkdir -p {MOUNT_POINT} && mount -t nfs {what}")
            stack.callback(lab.run, client, f"umount {MOUNT_POINT}")
        yield


def run_plan(lab, directory, tmp_path):
    """Runs with one worker with one lane on each client. Returns the exit code, the report and the phases by name."""
    tmp_path.mkdir()
    plan, out = tmp_path / "plan.yaml", tmp_path / "out"
    plan.write_text(f"targets: [{{path: {directory}}}]\nfiles: {{bytes_per_lane: 1m}}\nlanes_per_worker: 1\n"
                    f"data: {{verify: true}}\nphases:{PHASES}")
    coordinator, workers = cluster_run.start_over_grpc(lab, "run", ["--plan", str(plan), "--out", str(out)],
                                                       "--root / --allow drop-caches")
    ended = lab.finish(coordinator, timeout=cluster_run.PATIENCE_S)
    for worker in workers:
        lab.finish(worker, check=True)
    result = json.loads((out / "result.json").read_text())
    return ended, result, {phase["name"]: phase for phase in result["phases"]}


def read_from_server(phase, client):
    """Bytes that the client's kernel asked the server for during the phase."""
    (delta,) = [each["host_delta"] for each in phase["clients"] if each["host"] == client]
    return sum(mount["server_read_bytes"] for mount in delta["nfs"].values())


@pytest.mark.parametrize("trusts", [True, False], ids=["nocto", "cto"])
def test_a_stale_read_is_told_with_its_writer_and_generation(lab, tmp_path, trusts):
    trusting, honest = lab.clients
    options = {trusting: "actimeo=600,nocto" if trusts else "actimeo=600", honest: "actimeo=600"}
    # A kernel may revalidate a file before its cached attributes expire; then nothing stale is read. The kernel's counters
    # show this independently of the verification.
    for attempt in range(4):
        name = f"stale-{trusts}-{attempt}"
        lab.run(nfs_lab.SERVER, f"mkdir {nfs_lab.EXPORT}/{name}")
        with mounted(lab, options):
            ended, result, phases = run_plan(lab, f"{MOUNT_POINT}/{name}", tmp_path / str(attempt))
        lab.run(nfs_lab.SERVER, f"rm -rf {nfs_lab.EXPORT}/{name}")
        if not trusts or read_from_server(phases["second-read"], trusting) == 0:
            break

    first, second = phases["first-read"]["verify"], phases["second-read"]["verify"]
    assert first["sectors"] == second["sectors"] == 2 * SECTORS
    assert first["mismatched"] == 0, "what is read for the first time is what was written"
    assert phases["second-read"]["lanes_on_own_client"] == 0
    assert ended.returncode == result["run"]["exit_code"] == (2 if trusts else 0), ended.stdout
    if not trusts:
        assert second["mismatched"] == 0
        return
    # All that the trusting client read came from its cache, of the lane that the other client has.
    lanes = {worker["host"]: worker["workers"][0]["lanes"][0] for worker in phases["second-read"]["clients"]}
    writer = lanes[trusting]["file_owner"]
    assert writer == lanes[honest]["lane"]
    assert second["mismatched"] == SECTORS and second["counts"] == {"stale": SECTORS}
    assert [mismatch["expected"] for mismatch in second["first"]] == ["generation 2"] * 10
    assert [mismatch["found"] for mismatch in second["first"]] == [f"generation 1 by lane {writer}"] * 10
    assert {error["client"] for error in phases["second-read"]["errors"]} == {trusting}
    assert f"FAILED: {SECTORS} of" in cluster_run.in_one_line(ended.stdout.replace(",", ""))
