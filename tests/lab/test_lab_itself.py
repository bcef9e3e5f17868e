"""The lab is what it claims: separate hosts, a kernel NFS server, and nothing left behind."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import lab as nfs_lab
from host_clock import HostClock
from processes import pids_in_network

MIB = 1 << 20
# How long ago, in s, a host has changed a file that it has just changed, by its kernel's time of the last tick.
AGE_OF_A_NEW_FILE = "python3 -c 'import os, time; open(\"/run/new\", \"w\").close(); print(time.time() - os.stat(\"/run/new\").st_mtime)'"


def test_each_lab_has_a_log_directory_of_its_own_in_the_one_that_is_named(tmp_path):
    named = tmp_path / "a" / "named"
    first, second = (nfs_lab.new_log_directory(str(named)) for _ in range(2))
    assert first != second and first.is_dir() and second.is_dir()
    assert first.parent == second.parent == named


def test_two_clients_are_two_hosts(lab):
    assert len(lab.clients) == 2
    facts = [
        lab.run(host, "cat /proc/sys/kernel/random/boot_id; hostname").stdout.split()
        for host in lab.hosts
    ]
    machine = open("/proc/sys/kernel/random/boot_id").read().strip()
    assert len({machine} | {boot_id for boot_id, _ in facts}) == 4
    assert [name for _, name in facts] == list(lab.hosts)


def test_both_nfs_versions_are_mounted(lab):
    for client in lab.clients:
        mounts = {
            fields[1]: fields
            for fields in map(str.split, lab.run(client, "cat /proc/mounts").stdout.splitlines())
        }
        for version, mount_point in nfs_lab.MOUNT_POINTS.items():
            _, _, kind, options = mounts[mount_point][:4]
            assert kind == ("nfs4" if version == "4.2" else "nfs")
            assert f"vers={version}" in options.split(",") and "proto=tcp" in options.split(",")


def test_a_file_written_on_one_client_is_read_on_the_other(lab, nfs_dir):
    writer, reader = lab.clients
    lab.run(writer, f"head -c {MIB} /dev/urandom >{nfs_dir}/file")
    sums = {lab.run(client, f"sha256sum {nfs_dir}/file").stdout for client in (writer, reader)}
    assert len(sums) == 1


def test_client_and_server_count_the_same_bytes(lab, version, nfs_dir):
    client, reader = lab.clients
    server_0, reader_0 = lab.server_counters(), lab.client_counters(reader, version)
    client_0 = lab.client_counters(client, version)
    lab.run(client, f"dd if=/dev/zero of={nfs_dir}/file bs=64k count=32 conv=fsync")
    server_1, client_1 = lab.server_counters(), lab.client_counters(client, version)
    lab.run(reader, f"cat {nfs_dir}/file >/dev/null")
    server_2, reader_2 = lab.server_counters(), lab.client_counters(reader, version)

    written, sent = server_1 - server_0, client_1 - client_0
    assert written.write_bytes == sent.write_bytes == 2 * MIB and written.read_bytes == 0
    assert written.requests["WRITE"] == sent.requests["WRITE"] >= 32
    assert written.requests["COMMIT"] == sent.requests["COMMIT"] >= 1
    served, received = server_2 - server_1, reader_2 - reader_0
    assert served.read_bytes == received.read_bytes == 2 * MIB and served.write_bytes == 0
    assert served.requests["READ"] == received.requests["READ"] >= 32


def test_a_second_read_comes_from_the_page_cache_of_the_client(lab, version, nfs_dir):
    client = lab.clients[0]
    lab.run(client, f"dd if=/dev/zero of={nfs_dir}/file bs=64k count=16 conv=fsync")
    lab.run(client, f"cat {nfs_dir}/file >/dev/null")
    before = lab.client_counters(client, version)
    lab.run(client, f"cat {nfs_dir}/file >/dev/null")
    assert (lab.client_counters(client, version) - before).read_bytes == 0
    lab.run(client, f"echo 3 >/proc/sys/vm/drop_caches; cat {nfs_dir}/file >/dev/null")
    assert (lab.client_counters(client, version) - before).read_bytes == MIB


def test_the_clocks_of_hosts_differ_and_can_be_read_from_outside(lab):
    offsets = []
    for client in lab.clients:
        with HostClock(lab, client) as clock:
            low, high = clock.offset_bounds_ns()
            low_later, high_later = clock.offset_bounds_ns()
        assert high - low < 20_000_000
        drift_ns = max(low_later - high, low - high_later, 0)
        assert drift_ns < 1_000_000
        offsets.append((low, high))
    (low_first, high_first), (low_second, high_second) = offsets
    assert -time.monotonic_ns() < low_second < high_first < 0, "hosts booted after the machine"
    assert high_second < low_first, "the second client booted after the first, its clock is behind"


def test_the_lab_has_a_network_of_its_own(lab):
    inside = lab.run_outside(["ip", "-o", "-4", "addr"]).stdout
    assert set(re.findall(r"inet ([\d.]+)", inside)) == {"127.0.0.1", nfs_lab.OUTSIDE}
    routes = lab.run_outside(["ip", "route"]).stdout.strip().splitlines()
    assert len(routes) == 1 and routes[0].startswith("10.77.0.0/24 dev br0")
    machine = subprocess.run(["ip", "-o", "addr"], capture_output=True, text=True, check=True)
    assert "10.77.0." not in machine.stdout


def test_a_failed_command_says_what_it_was_and_what_it_said(lab):
    said = r"(?s)client-11: ls /nothing\nended with 2\n.*No such file"
    with pytest.raises(nfs_lab.CommandFailed, match=said):
        lab.run(lab.clients[0], "ls /nothing")
    begin = time.monotonic()
    with pytest.raises(nfs_lab.CommandFailed, match=r"(?s)did not end in time.*so far"):
        lab.run(lab.clients[0], "echo so far; sleep 60", timeout=3)
    assert time.monotonic() - begin < 30


def test_a_disk_keeps_what_the_server_acknowledged_before_a_power_cut(tmp_path):
    with nfs_lab.NfsLab(tmp_path, client_count=1, disk_mb=64) as lab:
        lab.run("client-11", f"head -c {2 * MIB} /dev/urandom >/mnt/nfs/file")
        written = lab.run("client-11", "sync; sha256sum </mnt/nfs/file").stdout
        lab.power_cut(nfs_lab.SERVER)
        lab.boot(nfs_lab.SERVER)
        assert lab.run(nfs_lab.SERVER, "sha256sum </mnt/export/file").stdout == written
        assert lab.run("client-11", "sha256sum </mnt/nfs3/file").stdout == written


def test_the_clock_of_a_host_goes_on_although_its_kernel_loses_timer_signals(tmp_path):
    lost = f"{nfs_lab.SCRATCH}/lost_timers"
    with nfs_lab.NfsLab(tmp_path, client_count=0, shims=("xstate_shim", "lost_timers_shim")) as lab:
        lab.run_outside(["touch", lost])
        for _ in range(3):
            lab.run(nfs_lab.SERVER, "for _ in $(seq 200); do /bin/true; done")
        lab.run_outside(["rm", lost])
        time.sleep(5)
        ages = [float(lab.run(nfs_lab.SERVER, AGE_OF_A_NEW_FILE).stdout) for _ in range(3)]
        assert min(ages) < 3, ages  # a clock that stands is behind by all of the sleep


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_process_that_started_a_lab(tmp_path, how):
    owner = textwrap.dedent(f"""
        import os, sys, time
        sys.path.insert(0, {str(nfs_lab.SOURCE_DIR)!r})
        import lab
        with lab.NfsLab({str(tmp_path)!r}, client_count=0) as up:
            started = up.start("server", "sleep 1000")
            print(up.network_inode(), flush=True)
            time.sleep(1000)
        """)
    command = [sys.executable, "-c", owner]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        network = int(process.stdout.readline() or pytest.fail(process.stderr.read()))
        assert len(pids_in_network(network)) > 5
        process.send_signal(how)
        process.wait(timeout=30)
    finally:
        process.kill()
        process.communicate()
    deadline = time.monotonic() + 20
    while pids_in_network(network) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert pids_in_network(network) == []
    assert not os.path.exists(nfs_lab.SCRATCH)


def test_a_lab_that_cannot_run_names_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(nfs_lab.NEEDED_COMMANDS, "no-such-command", "no-such-package")
    with pytest.raises(nfs_lab.LabError, match="apt-get install no-such-package"):
        with nfs_lab.NfsLab(tmp_path):
            pass
