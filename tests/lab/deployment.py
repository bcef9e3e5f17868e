"""A directory of the lab's export, mounted on the clients where and how a test wants it, and the faults of a deployment."""

import contextlib
import time

import lab as nfs_lab
from validation import Validation

THERE = "/run/validate"  # on each client a tmpfs of its own, where nothing is mounted over it
LOCKS_OF_V3 = "rpc.statd --no-notify"
# Clients trust attributes for two seconds, so that no check waits half a minute for a new name.
V4, V3 = "vers=4.2,actimeo=2", "vers=3,actimeo=2"
EXPORT_OPTIONS = "rw,no_subtree_check,fsid=0,insecure"
ALL_CLIENTS = "10.77.0.0/24"
FREEZE_S = 20
LEASE_S = 15  # where a test waits until the lease expires; otherwise it is 90 s
# A lock that is free within a third of it was given back. The coordinator waits 3 s for the client that it takes for dead.
LONG_LEASE_S = 60
NFSD_ENDS_S = 30
UNMOUNT_S = 120  # a client that waited for rpc.statd of the server may need more than a minute
END_GRACE = "echo Y >/proc/fs/nfsd/v4_end_grace"
STATD = "/mnt/export/statd"
# The table of nfsdcltrack, which ends the grace period once all clients in it have reclaimed their locks.
LOST_CLIENT = """
import sqlite3
with sqlite3.connect("/var/lib/nfs/nfsdcltrack/main.sqlite") as known:
    known.execute("INSERT OR REPLACE INTO clients VALUES (x'6c6f7374', 0, 1)")
"""



# Q_QUOTAON and Q_SETQUOTA for users, on an ext4 that does its own quota accounting (mkfs -O quota).
SET_QUOTA = """
import ctypes, os, struct
call = ctypes.CDLL(None, use_errno=True).quotactl
def quotactl(command, user, argument):
    return call(ctypes.c_int((command << 8) & 0xffffffff), device, user, argument)
device = b"/dev/ubda"
quotactl(0x800002, 4, b"/")
limits = struct.pack("@8QI4x", {blocks}, {blocks}, 0, 0, 0, 0, 0, 0, 1)
if quotactl(0x800008, {user}, limits) != 0: raise OSError(ctypes.get_errno(), "Q_SETQUOTA")
"""


def set_quota(user, kib):
    """The command that limits the user's files on the server's disk; 0: no limit."""
    return ["python3", "-c", SET_QUOTA.format(user=user, blocks=kib)]


def serve(lab):
    """Restarts the server as a production server: it knows from its disk which clients had locks, and until these have
    reclaimed them, no other client gets locks. NFSv3 locks work too."""
    lab.run(nfs_lab.SERVER, "rpc.nfsd 0; mkdir -p /mnt/export/clients /var/lib/nfs/nfsdcltrack && "
            "mount --bind /mnt/export/clients /var/lib/nfs/nfsdcltrack && rpc.nfsd -V 3 -V 4.2 4 && "
            f"mkdir -p /var/lib/nfs/sm && {LOCKS_OF_V3}")


def join(lab, client):
    """Prepares a client that has just booted for NFSv3 locks."""
    lab.run(client, f"mkdir {THERE} /run/rpcbind && mount -t tmpfs tmpfs /var/lib/nfs && mkdir /var/lib/nfs/sm && "
            f"rpcbind -w && {LOCKS_OF_V3}")


def serve_and_join(lab):
    """Makes the lab a deployment in production, with NFSv3 locks and a server that knows its clients. Returns it."""
    serve(lab)
    lab.run(nfs_lab.SERVER, END_GRACE)  # nobody had locks before
    for client in lab.clients:
        join(lab, client)
    return lab


class Deployment(Validation):
    """A directory of the export, mounted at THERE where and how a test wants it. A context manager: at its end the clients
    are unmounted, and what undo() was told is undone."""

    def __init__(self, lab, name, tmp_path):
        super().__init__(lab, THERE, tmp_path)
        self.name, self.mounted = name, []
        self._undo, self._undo_first = contextlib.ExitStack(), contextlib.ExitStack()
        lab.run(nfs_lab.SERVER, ["mkdir", f"{nfs_lab.EXPORT}/{name}"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self._undo, contextlib.ExitStack() as unmounts, self._undo_first:  # whatever fails here, the rest is undone
            for client in self.mounted:
                unmounts.callback(self.lab.run, client, ["umount", "-l", THERE], timeout=UNMOUNT_S)

    @property
    def on_server(self):
        """The directory, as the server has it."""
        return f"{nfs_lab.EXPORT}/{self.name}"

    def undo(self, host, command):
        """Runs the command on the host when the deployment ends, after its unmounting; the last one told is the first."""
        self._undo.callback(self.lab.run, host, command, check=False)

    def undo_outside(self, command):
        """The same for a list of words on the machine, in the lab's network."""
        self._undo.callback(self.lab.run_outside, command, check=False)

    def undo_first(self, host, command):
        """The same, before its unmounting, which could not end otherwise."""
        self._undo_first.callback(self.lab.run, host, command, check=False)

    def mount(self, client, options):
        root = nfs_lab.EXPORT if "vers=3" in options else ""
        source = f"10.77.0.1:{root}/{self.name}"
        self.lab.run(client, ["mount", "-t", "nfs", "-o", options, source, THERE])
        self.mounted.append(client)

    def mount_all(self, options):
        for client in self.lab.clients:
            self.mount(client, options)

    def export(self, options, clients=ALL_CLIENTS):
        words = f"{EXPORT_OPTIONS},{options} {clients}:{nfs_lab.EXPORT}"
        self.lab.run(nfs_lab.SERVER, f"exportfs -o {words}")

    def unexport(self, clients):
        self.lab.run(nfs_lab.SERVER, f"exportfs -u {clients}:{nfs_lab.EXPORT}")

    # Faults

    def cut_power(self):
        """The server loses its power, boots, and serves the clients that had locks before."""
        with self._clients_apart():  # a server that is still booting would tell them that their locks are gone
            self.lab.power_cut(nfs_lab.SERVER)
            self.lab.boot(nfs_lab.SERVER)
            serve(self.lab)

    def remember_locks_of_v3(self):
        """Makes the server's statd keep on disk which clients it must notify after a restart."""
        self.lab.run(nfs_lab.SERVER, f"mkdir -p {STATD}/sm {STATD}/sm.bak && kill $(pidof rpc.statd) && "
                     f"while pidof rpc.statd; do sleep 0.1; done; {LOCKS_OF_V3} -P {STATD}")

    def cut_power_and_notify(self):
        """As cut_power; then the server tells the clients to reclaim their NFSv3 locks, within its grace period."""
        with self._clients_apart():
            self.lab.power_cut(nfs_lab.SERVER)
            self.lab.boot(nfs_lab.SERVER)
            self.lab.run(nfs_lab.SERVER, "echo 20 >/proc/sys/fs/nfs/nlm_grace_period")
            serve(self.lab)
        # The kernel reports a client only once after a boot, when the client reclaims: that must reach this statd, too.
        self.remember_locks_of_v3()
        self.lab.run(nfs_lab.SERVER, f"sm-notify -f -P {STATD} -v 10.77.0.1")

    def lease(self, seconds):
        """Restarts the server with this lease. REQUIRES: no client has locks."""
        restart = (f"sync; rpc.nfsd 0; echo {seconds} >/proc/fs/nfsd/nfsv4leasetime; "
                   f"echo {seconds} >/proc/fs/nfsd/nfsv4gracetime; rpc.nfsd -V 3 -V 4.2 4 && {END_GRACE}")
        try:
            self.lab.run(nfs_lab.SERVER, restart, timeout=NFSD_ENDS_S)
        except nfs_lab.CommandFailed:
            # Seen once: the kernel spun for ever while it ended its threads, and all further tests failed.
            self.cut_power()
            self.lab.run(nfs_lab.SERVER, restart)

    def boot_client(self, client):
        self.lab.boot(client)
        self.mounted.remove(client)  # the mount went with its power
        join(self.lab, client)

    def lose_what_is_not_on_disk(self):
        """Cuts the power of a server that puts on its disk neither what clients have just written nor which clients have locks."""
        self.lab.run(nfs_lab.SERVER, "sync")  # stores the directory, which the clients must find again
        time.sleep(1)
        self.lab.power_cut(nfs_lab.SERVER)
        self.lab.boot(nfs_lab.SERVER)

    def replace_directory(self):
        """As a server that takes over with another file system: what clients have open is gone."""
        self.lab.run(nfs_lab.SERVER, f"mv {self.on_server} {self.on_server}.gone; rm -rf {self.on_server}.gone; mkdir {self.on_server}; sleep 2")

    def do_nothing(self):
        """A hook that ends well, and did not do what it should."""

    def restart_service(self):
        """The NFS server ends and begins again, with its host up. Its grace period ends once the clients have reclaimed."""
        self.lab.run(nfs_lab.SERVER, f"rpc.nfsd 0; rpc.nfsd -V 3 -V 4.2 4 && sleep 2; {END_GRACE} || true", timeout=NFSD_ENDS_S)

    def restart_with_grace(self):
        """The same, with a grace period of 20 s: clients wait for it with new opens and locks. It does not end earlier, since
        a client that had locks, too, never comes back."""
        grace = "/proc/fs/nfsd/nfsv4gracetime"
        self.lab.run(nfs_lab.SERVER, ["python3", "-c", LOST_CLIENT])
        self.lab.run(nfs_lab.SERVER, f"rpc.nfsd 0; echo 20 >/proc/fs/nfsd/nfsv4leasetime; echo 20 >{grace}; rpc.nfsd -V 3 -V 4.2 4",
                     timeout=NFSD_ENDS_S)
        self.undo(nfs_lab.SERVER, f"rpc.nfsd 0; echo 90 >/proc/fs/nfsd/nfsv4leasetime; echo 90 >{grace}; rpc.nfsd -V 3 -V 4.2 4; "
                  f"{END_GRACE}")

    def freeze(self, seconds=FREEZE_S):
        with self.lab.frozen(nfs_lab.SERVER):
            time.sleep(seconds)

    def freeze_briefly(self):
        self.freeze(5)

    @contextlib.contextmanager
    def _clients_apart(self):
        """While this lasts, no host reaches another one; all reach the outside."""
        def isolate(how):
            for host in self.lab.hosts.values():
                link = ["ip", "link", "set", f"tap{host.number}", "type", "bridge_slave", "isolated", how]
                self.lab.run_outside(link)
        isolate("on")
        try:
            yield
        finally:
            isolate("off")
