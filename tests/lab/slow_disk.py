"""Storage on the lab's server that is slow: each request to it takes a given time."""

import contextlib

import lab as nfs_lab

DISK_MB = 64
_CLIENTS = "10.77.0.0/24"
_EXPORT_OPTIONS = "rw,sync,no_root_squash,no_subtree_check,insecure"


@contextlib.contextmanager
def slow_disk(lab, delay_ms, visible):
    """Exports an ext4 on a disk of its own and yields its directory in the export. One disk of each kind can exist.

    visible: a loop device, which takes one request after another and shows in the server's disk counters how busy it is.
    Otherwise requests overlap, and the counters show nothing, as with storage behind a driver that keeps none.
    The file system writes only what its users cause: a lazy mkfs would leave 4 MB for the first seconds after the mount.
    """
    number = 1 if visible else 0
    name = f"slow{number}"
    place, ram, loop = f"{nfs_lab.EXPORT}/{name}", f"/dev/ram{number}", "/dev/loop0"
    lab.run(nfs_lab.SERVER, f"""set -e
        modprobe dm-delay; modprobe loop max_loop=1; modprobe brd rd_nr=2 rd_size={DISK_MB << 10}
        mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 {ram}
        sectors=$(blockdev --getsz {ram}); disk=/dev/mapper/{name}
        echo 0 $sectors delay {ram} 0 {delay_ms} | dmsetup create --noudevsync {name}
        [ -e $disk ] || dmsetup mknodes
        {f"losetup --direct-io=on {loop} $disk; disk={loop}" if visible else ""}
        mkdir -p {place}; mount $disk {place}
        exportfs -o {_EXPORT_OPTIONS},fsid={number + 1} {_CLIENTS}:{place}""")
    try:
        yield name
    finally:
        # nfsd keeps files open until exportfs -f, some even a little longer.
        lab.run(nfs_lab.SERVER, f"""exportfs -u {_CLIENTS}:{place}; sync
            for try in 1 2 3 4 5 6 7 8 9; do exportfs -f; umount {place} && break; sleep 0.5; done
            {f"losetup -d {loop};" if visible else ""} dmsetup remove --noudevsync {name}""")


@contextlib.contextmanager
def mounted(lab, options, directory, place):
    """Mounts a directory of the export on all clients; yields `place`."""
    root = nfs_lab.EXPORT if "vers=3" in options else ""
    done = []
    try:
        for client in lab.clients:
            lab.run(client, f"mkdir -p {place} && mount -t nfs -o {options} 10.77.0.1:{root}/{directory} {place}")
            done.append(client)
        yield place
    finally:
        for client in done:
            lab.run(client, ["umount", place])
