"""validate on real NFS clients: a correct deployment passes, and each real fault makes its check fail."""

import pytest

import lab as nfs_lab
from deployment import ALL_CLIENTS, FREEZE_S, LEASE_S, LONG_LEASE_S, THERE, V3, V4, Deployment, serve_and_join, set_quota
from validation import PATIENCE_S, verdicts


@pytest.fixture(scope="session")
def disk_mb():
    """A disk, so that what the server has acknowledged survives a power cut. On a smaller one, ext4 has blocks of 1 KiB,
    and cannot have a file of 4 TiB."""
    return 512


@pytest.fixture(scope="module")
def served(lab):
    return serve_and_join(lab)


@pytest.fixture
def deployment(served, directory_name, tmp_path):
    with Deployment(served, directory_name, tmp_path) as made:
        yield made


PERFORMANCE = "client-rates,network-limit,scaling,metadata-rates,latency-tail"
NOT_ASKED_FOR = [*PERFORMANCE.split(","), "consistency", "expected", "quota", "dead-client"]


def assert_all_pass(checks, skipped=()):
    # The hosts' clocks differ by up to a second here, because each starts at a whole second.
    wrong = {name: check for name, check in checks.items()
             if check["verdict"] not in (("pass", "warn") if name == "clocks" else ("pass",))}
    assert set(wrong) == {*skipped, *NOT_ASKED_FOR}, wrong
    assert all(check["verdict"] == "skipped" for check in wrong.values()), wrong


def test_a_sync_export_passes_all_checks_and_a_power_cut_of_its_server(deployment):
    deployment.mount_all(V4)
    # Booting the server again may take minutes here.
    checks = deployment.validate("--clock-difference", "3", "--names", "500", "--stall-within", "240", fault=deployment.cut_power)
    assert_all_pass(checks)
    assert deployment.lab.run(deployment.lab.clients[0], ["ls", "-A", THERE]).stdout == ""


def test_nfsv3_whose_locks_reach_the_server_passes_all_checks(deployment):
    deployment.mount_all(V3)
    checks = deployment.validate_over_mpi("--clock-difference", "3", "--names", "500")
    assert_all_pass(checks, skipped=["client-identity", "durability", "failover", "lock-reclaim"])


@pytest.fixture
def whole_seconds(deployment):
    """The deployment's directory is a file system whose timestamps have whole seconds: ext4 with inodes of 128 bytes."""
    lab, there, image = deployment.lab, f"{nfs_lab.EXPORT}/{deployment.name}", "/mnt/export/whole-seconds.ext4"
    lab.run(nfs_lab.SERVER, f"modprobe loop; truncate -s 32m {image} && mkfs.ext4 -q -I 128 {image} && mount -o loop {image} {there} && "
            f"exportfs -o rw,sync,no_root_squash,no_subtree_check,insecure,fsid=7 {ALL_CLIENTS}:{there}")
    yield
    for client in deployment.mounted:
        lab.run(client, ["umount", THERE])
    deployment.mounted.clear()
    lab.run(nfs_lab.SERVER, f"exportfs -u {ALL_CLIENTS}:{there} && exportfs -f && "
            f"until umount {there}; do sleep 0.2; done && rm {image}", timeout=PATIENCE_S)


@pytest.mark.parametrize("options", [V4, V3], ids=["nfs4.2", "nfs3"])
def test_timestamps_of_whole_seconds_are_a_warning_and_no_false_alarm(deployment, whole_seconds, options):
    deployment.mount_all(options)
    checks = deployment.validate("--only", "close-to-open,mmap,delegations")
    assert verdicts(checks) == {"close-to-open": "warn", "mmap": "pass", "delegations": "pass"}
    assert "timestamps have steps of 1 s" in checks["close-to-open"]["found"]


def test_mounts_that_keep_locks_and_attributes_to_themselves_fail(deployment):
    deployment.mount_all("vers=3,nolock,actimeo=600")
    checks = deployment.validate("--only", "mounts,visibility,locks", "--visible-within", "8")
    assert verdicts(checks) == {"mounts": "fail", "visibility": "fail", "locks": "follows"}
    assert any("nolock: " in line for line in checks["mounts"]["evidence"])
    assert any("acregmin=600" in line for line in checks["mounts"]["evidence"])
    assert any("had not seen a new size in stat()" in line for line in checks["visibility"]["evidence"])
    for kind in "fcntl: ", "flock: ":
        assert any(line.startswith(kind) and "got an exclusive lock" in line for line in checks["locks"]["evidence"])


def test_a_client_with_other_options_and_another_user_mapping_is_named(deployment):
    like_all, other = deployment.lab.clients
    deployment.mount(like_all, V4)
    deployment.lab.run(nfs_lab.SERVER, f"chmod 777 {nfs_lab.EXPORT}/{deployment.name}")
    address = deployment.lab.hosts[other].address
    deployment.export("sync,all_squash,anonuid=1234,anongid=1234", clients=address)
    try:
        deployment.mount(other, f"{V4},wsize=32768")
        checks = deployment.validate("--only", "mounts,identity")
    finally:
        deployment.unexport(address)
    assert verdicts(checks) == {"mounts": "warn", "identity": "fail"}
    for check in checks.values():
        assert any(other in line for line in check["evidence"]), check


def test_groups_count_but_not_where_all_users_are_squashed(deployment):
    lab, other = deployment.lab, deployment.lab.clients[1]
    lab.run(nfs_lab.SERVER, f"chmod 777 {nfs_lab.EXPORT}/{deployment.name}")
    address = lab.hosts[other].address
    deployment.mount_all(V4)
    right = deployment.validate("--only", "groups")["groups"]
    (deployment.tmp_path / "report.json").unlink()
    deployment.export("sync,all_squash,anonuid=1234,anongid=1234", clients=address)
    try:
        wrong = deployment.validate("--only", "groups")["groups"]
    finally:
        deployment.unexport(address)
    assert [right["verdict"], wrong["verdict"]] == ["pass", "fail"]
    assert "of more than 16 groups, only the first 16 count (AUTH_SYS)" in right["found"]
    (line,) = wrong["evidence"]
    assert line.startswith(f"{other}: user 61234") and "its files belong to user 1234" in line


def test_a_quota_is_an_error_that_loses_nothing_and_its_absence_fails(deployment):
    """The server maps every user to 1234, who has a quota of 20 MiB at first, and then none."""
    deployment.mount_all(V4)
    lab = deployment.lab
    lab.run(nfs_lab.SERVER, f"chmod 777 {nfs_lab.EXPORT}/{deployment.name}")
    addresses = [lab.hosts[name].address for name in lab.clients]
    for address in addresses:
        deployment.export("sync,all_squash,anonuid=1234,anongid=1234", clients=address)
    try:
        seen = []
        for blocks in (20 << 10, 0):
            lab.run(nfs_lab.SERVER, set_quota(1234, blocks))
            checks = deployment.validate("--only", "quota", "--over-quota", "48m")
            seen.append(checks["quota"])
            (deployment.tmp_path / "report.json").unlink()
    finally:
        for address in addresses:
            deployment.unexport(address)
    assert [check["verdict"] for check in seen] == ["pass", "fail"]
    assert "failed with EDQUOT after " in seen[0]["found"] and seen[0]["found"].endswith("everything flushed is there")
    flushed = {figure["name"]: figure["value"] for figure in seen[0]["figures"]}["flushed_bytes"]
    assert flushed == 16 << 20
    assert seen[1]["found"].startswith("48 MiB were stored without an error")


def test_a_client_without_the_mount_is_named(deployment):
    mounted, other = deployment.lab.clients
    deployment.mount(mounted, V4)
    checks = deployment.validate("--only", "storage,locks")
    assert verdicts(checks) == {"storage": "fail", "locks": "follows"}
    assert checks["locks"]["follows_from"] == "storage"
    (line,) = checks["storage"]["evidence"]
    assert line.startswith(f"{other}: ") and "tmpfs" in line


@pytest.mark.parametrize("limit, verdict", [(["--stall-within", "5"], "fail"), ([], "pass")], ids=["5s", "default"])
def test_a_server_that_hangs_fails_if_that_takes_longer_than_the_limit(deployment, limit, verdict):
    deployment.mount_all(V4)
    checks = deployment.validate("--only", "durability,failover", *limit, fault=deployment.freeze)
    # Nothing was lost, and nothing was tested: the server kept its memory.
    assert verdicts(checks) == {"durability": "warn", "failover": verdict}
    (longest_s,) = [figure["value"] for figure in checks["failover"]["figures"] if figure["name"] == "stall_max_s"]
    assert longest_s > FREEZE_S - 1


def test_listings_are_whole_over_several_connections(deployment):
    deployment.mount_all(f"{V4},nconnect=4")
    checks = deployment.validate("--only", "listings", "--names", "1500")
    assert verdicts(checks) == {"listings": "pass"}
    assert {figure["name"]: figure["value"] for figure in checks["listings"]["figures"]}["names"] == 1500


def test_a_listing_that_is_altered_on_the_server_fails(deployment):
    """Somebody removes one name behind the clients' back, as soon as the first client has created its half."""
    deployment.mount_all(V4)
    lab = deployment.lab
    thief = lab.start(nfs_lab.SERVER, f"until last=$(find {nfs_lab.EXPORT}/{deployment.name} -name f250) && [ $last ]; "
                      "do sleep 0.05; done; rm ${last%f250}f7")
    checks = deployment.validate("--only", "listings", "--names", "500")
    assert lab.finish(thief, check=True).returncode == 0
    assert verdicts(checks) == {"listings": "fail"}
    assert any("1 of 500 names missing, first f7" in line for line in checks["listings"]["evidence"]), checks


# Hosts share a few processors here, so that equal clients may differ a lot.
BRIEFLY = ["--size", "16m", "--phase-time", "2"]
SLOW_BYTES_PER_S = 500_000


def test_performance_of_equal_clients_is_measured_alone_and_together(deployment):
    deployment.mount_all(V4)
    checks = deployment.validate("--only", PERFORMANCE, *BRIEFLY, "--outlier-below", "10")
    found = verdicts(checks)
    # No interface here reports its speed, and the share of TCP that NFS reaches depends on the processors that hosts share.
    assert found["network-limit"] in ("pass", "warn")
    carried = {figure["name"] for figure in checks["network-limit"]["figures"]}
    assert carried == {f"{what}_{client.replace('-', '_')}" for what in ("network_share", "tcp_to", "tcp_from")
                       for client in deployment.lab.clients}
    assert not any("from the coordinator, " in line for line in checks["network-limit"]["evidence"]), checks["network-limit"]
    assert "fail" not in [found[name] for name in ("client-rates", "metadata-rates", "latency-tail")], checks
    rates = {figure["name"]: figure["value"] for figure in checks["client-rates"]["figures"]}
    assert set(rates) == {f"{phase}_alone_{client.replace('-', '_')}" for phase in ("write", "read")
                          for client in deployment.lab.clients}
    assert all(rate > 0 for rate in rates.values())
    assert not any("marked cached" in line for line in checks["client-rates"]["evidence"]), "reads come from the server"
    assert deployment.lab.run(deployment.lab.clients[0], ["ls", "-A", THERE]).stdout == ""


def test_a_client_behind_a_slow_link_is_named(deployment):
    deployment.mount_all(V4)
    slow = deployment.lab.clients[1]
    with deployment.lab.limit_to(slow, SLOW_BYTES_PER_S):
        checks = deployment.validate("--only", "client-rates,network-limit", *BRIEFLY)
    assert checks["client-rates"]["verdict"] in ("fail", "warn"), checks
    assert checks["network-limit"]["verdict"] == "warn"
    assert f"the network of {slow} is slower than that of the others" in checks["network-limit"]["found"]
    assert any(line.startswith(f"{slow}: TCP carries ") and " from the coordinator, " in line
               for line in checks["network-limit"]["evidence"]), checks["network-limit"]
    assert any(line.startswith(f"{slow}: read alone ") for line in checks["client-rates"]["evidence"]), checks


def test_expected_facts_fail_where_one_client_has_other_options(deployment, tmp_path):
    like_all, other = deployment.lab.clients
    deployment.mount(like_all, V4)
    deployment.mount(other, f"{V4},wsize=32768")
    expect = tmp_path / "expect.yaml"
    expect.write_text("facts:\n  clients: 2\n  vers: 4.2\n  hard: yes\n  nconnect: 1\n  wsize: \">= 64k\"\n")
    checks = deployment.validate("--only", "expected", "--expect", str(expect))
    assert verdicts(checks) == {"expected": "fail"}
    wrong, *right = checks["expected"]["evidence"]
    assert wrong.startswith(f"not met: wsize >= 64k: {other} has 32768"), wrong
    assert len(right) == 4 and all(line.startswith("met: ") for line in right), right


@pytest.fixture
def lease(deployment, request):
    deployment.lease(request.param)
    yield
    deployment.lease(90)


@pytest.mark.power_cut
@pytest.mark.parametrize("lease", [LEASE_S], indirect=True)
def test_over_nfsv4_the_lock_of_a_client_without_power_is_free_when_its_lease_is_over(deployment, lease):
    lab, victim = deployment.lab, deployment.lab.clients[1]
    named = []
    def cut(client):
        named.append(client)
        lab.power_cut(client)
    deployment.mount_all(V4)
    checks = deployment.validate("--only", "locks,dead-client", client_fault=cut)
    deployment.boot_client(victim)
    assert named == [victim]
    assert verdicts(checks) == {"locks": "pass", "dead-client": "pass"}
    assert f"; the server's lease is {LEASE_S} s" in checks["dead-client"]["found"]
    assert lab.run(lab.clients[0], ["ls", "-A", THERE]).stdout == ""
    deployment.mount(victim, V4)
    late = deployment.validate("--only", "dead-client", "--lock-free-within", "5", "--force", client_fault=lab.power_cut)
    deployment.boot_client(victim)
    assert verdicts(late) == {"dead-client": "fail"}


@pytest.mark.power_cut
@pytest.mark.parametrize("lease", [LONG_LEASE_S], indirect=True)
def test_a_hook_that_only_ends_the_worker_does_not_show_what_a_power_cut_does(deployment, lease):
    lab = deployment.lab
    deployment.mount_all(V4)
    checks = deployment.validate("--only", "dead-client", client_fault=lambda client: lab.run(
        client, "pkill -9 -x cluster-iobench"))
    assert verdicts(checks) == {"dead-client": "warn"}


@pytest.mark.power_cut
@pytest.mark.parametrize("declared", [False, True], ids=["as-a-fact", "as-a-failure"])
def test_over_nfsv3_the_lock_of_a_client_without_power_stays(deployment, declared):
    lab, victim = deployment.lab, deployment.lab.clients[1]
    deployment.mount_all(V3)
    more = ["--lock-free-within", "6"] if declared else []
    checks = deployment.validate("--only", "dead-client", *more, client_fault=lab.power_cut)
    deployment.boot_client(victim)
    assert verdicts(checks) == {"dead-client": "fail" if declared else "pass"}
    assert "over NFSv3 nothing frees it until that client boots" in checks["dead-client"]["found"]


# This test is the last, because it leaves a server that has forgotten its clients.
@pytest.mark.power_cut
def test_an_async_export_loses_acknowledged_data_and_locks_with_its_power(deployment):
    deployment.mount_all(V4)
    deployment.export("async,no_root_squash")
    checks = deployment.validate("--only", "durability,lock-reclaim", fault=deployment.lose_what_is_not_on_disk)
    assert verdicts(checks) == {"durability": "fail", "lock-reclaim": "fail"}
    assert "acknowledged data did not survive" in checks["durability"]["found"]


@pytest.mark.power_cut
@pytest.mark.parametrize("notifies", [True, False], ids=["notified", "not-notified"])
def test_locks_of_nfsv3_survive_a_power_cut_if_the_server_notifies_its_clients(deployment, notifies):
    deployment.mount_all(V3)
    deployment.remember_locks_of_v3()
    fault = deployment.cut_power_and_notify if notifies else deployment.cut_power
    checks = deployment.validate("--only", "lock-reclaim", fault=fault)
    assert verdicts(checks) == {"lock-reclaim": "pass" if notifies else "fail"}
