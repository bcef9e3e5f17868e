"""--background on two real NFS clients: one reads, undisturbed and while the other writes; the server's counters agree."""

import json

from cluster_run import over_grpc

MIB = 1 << 20


def test_victims_read_and_the_load_writes_what_the_server_counts(lab, nfs_dir, tmp_path):
    out = tmp_path / "out"
    before = lab.server_counters()
    over_grpc(lab, ["--path", nfs_dir, "--out", str(out), "--op", "random-read", "-r", "4k", "-s", "1m", "-t", "1", "-I", "--time", "3",
                    "--background", "write@256k"])
    server = lab.server_counters() - before
    result = json.loads((out / "result.json").read_text())
    undisturbed, beside = result["phases"]
    assert [len(phase["clients"]) for phase in result["phases"]] == [1, 2]
    victims, load = beside["parts"]
    assert (victims["worker_count"], load["worker_count"]) == (1, 1)
    # O_DIRECT: each op of both sides is a request, and the files existed before. A late start is repeated.
    read = undisturbed["bytes"] + victims["bytes"]
    assert read <= server.read_bytes <= 1.1 * read + MIB
    assert load["bytes"] <= server.write_bytes <= 1.3 * load["bytes"] + 8 * MIB
    rows = result["interference"][0]["rows"]
    assert rows[0]["rate"] == undisturbed["headline"]["bytes_per_s"] and rows[1]["rate"] == victims["bytes_per_s"]
    assert rows[1]["background_rate"] == load["bytes_per_s"] > 0
    # The busy server and the link make the reads of the other client wait.
    assert rows[1]["p99_us"] > rows[0]["p50_us"]
