"""Limits that the lab can make, each for as long as its context lasts."""

import contextlib
import threading
import time

import lab as nfs_lab
from slow_disk import mounted

LINK_BYTES_PER_S = 2_000_000  # a link that is full at 2 MB/s leaves processors idle, however slow the lab is
SLOW_LINK_BYTES_PER_S = 250_000  # of one client: the other one, without a limit, is twice as fast on the busiest machine
DISK_MS = 10
MANY_THREADS = 16  # more than any plan here has ops in flight
FEW_SLOTS = 2


@contextlib.contextmanager
def nfsd_threads(lab, count):
    before = lab.run(nfs_lab.SERVER, "cat /proc/fs/nfsd/threads").stdout.strip()
    lab.run(nfs_lab.SERVER, f"rpc.nfsd {count}")
    try:
        yield
    finally:
        lab.run(nfs_lab.SERVER, f"rpc.nfsd {before}")


@contextlib.contextmanager
def busy_processor(lab, client, nice=0):
    """nice: below 0, the lanes wait for the processor even when they wake."""
    loop = lab.start(client, f"renice -n {nice} $$ >/run/niceness; echo $$ >/run/busy; while :; do :; done")
    try:
        yield
    finally:
        lab.run(client, "kill -9 $(cat /run/busy)")
        lab.finish(loop)


@contextlib.contextmanager
def few_slots(lab, version):
    """Limits the slots of new mounts. Unmounts the existing one, whose connection and slots they would share."""
    point = nfs_lab.MOUNT_POINTS[version]
    source, options = ("/", "vers=4.2") if version == "4.2" else (nfs_lab.EXPORT, "vers=3,nolock")
    if version == "4.2":
        settings = {"/sys/module/nfs/parameters/max_session_slots": 64}
    else:
        settings = {"/proc/sys/sunrpc/tcp_slot_table_entries": 2, "/proc/sys/sunrpc/tcp_max_slot_table_entries": 65536}
    for client in lab.clients:
        lab.run(client, f"umount {point}")
        for file in settings:
            lab.run(client, f"echo {FEW_SLOTS} >{file}")
    try:
        yield
    finally:
        for client in lab.clients:
            for file, value in reversed(settings.items()):
                lab.run(client, f"echo {value} >{file}")
            lab.run(client, f"mount -t nfs -o {options} 10.77.0.1:{source} {point}")


@contextlib.contextmanager
def freezing(lab, directory, for_s):
    """Freezes the server once, a little after the next run has begun to write below this directory of it."""
    ended = threading.Event()

    def freeze():
        seen = f"cat $(find {directory} -type f -size +0 | grep -v manifest) /dev/null | head -c 1 | wc -c"
        while not ended.wait(0.2):
            if lab.run(nfs_lab.SERVER, seen, check=False).stdout.strip() == "1":
                break
        if not ended.wait(1.5):
            with lab.frozen(nfs_lab.SERVER):
                time.sleep(for_s)

    thread = threading.Thread(target=freeze)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def read_ahead(lab, place, kib):
    for client in lab.clients:
        lab.run(client, f"echo {kib} >/sys/class/bdi/$(mountpoint -d {place})/read_ahead_kb")
    yield


@contextlib.contextmanager
def dirty_limit(lab, limit_bytes):
    """The kernel's limits are in pairs; setting one in bytes sets that in percent to 0, and the other way round."""
    for client in lab.clients:
        lab.run(client, f"echo {limit_bytes // 2} >/proc/sys/vm/dirty_background_bytes; echo {limit_bytes} >/proc/sys/vm/dirty_bytes")
    try:
        yield
    finally:
        for client in lab.clients:
            lab.run(client, "echo 10 >/proc/sys/vm/dirty_background_ratio; echo 20 >/proc/sys/vm/dirty_ratio")


@contextlib.contextmanager
def load_from(lab, client, directory):
    """A client that is no part of the run writes all the time, past its memory."""
    place = "/run/other-load"
    with mounted(lab, "vers=4.2", directory, place):
        loop = lab.start(client, f"echo $$ >/run/loader; for k in 1 2 3 4 5 6 7 8 9 10 11 12; do (while :; do dd if=/dev/zero of={place}/load-$k "
                                 "bs=16k count=16 oflag=direct conv=notrunc; done) 2>/dev/null & done; wait")
        try:
            yield
        finally:
            lab.run(client, "pkill -P $(cat /run/loader); kill $(cat /run/loader); sleep 0.2; pkill -x dd; true", check=False)
            lab.finish(loop)
            lab.run(client, f"for try in 1 2 3 4 5 6 7 8 9; do pgrep -x dd || break; sleep 0.5; done; rm -f {place}/load-*", check=False)
