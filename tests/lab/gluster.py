"""GlusterFS in the lab: bricks on the server's disk, and GlusterFS's own client on each client.

    with NfsLab(log_dir, disk_mb=512) as lab:
        volume = GlusterVolume(lab)
        volume.mount_all()
        lab.run("client-11", ["ls", volume.path])

Its daemons run on hosts of the lab, which have kernels of their own. The machine's FUSE, its loop devices and any glusterd
of its own play no part.
"""

import contextlib
import shlex

import lab as nfs_lab

# Command -> the Debian package that has it.
NEEDED_COMMANDS = {
    "glusterd": "glusterfs-server",
    "gluster": "glusterfs-cli",
    "mount.glusterfs": "glusterfs-client",
}
ADDRESS = "10.77.0.1"
BRICKS = f"{nfs_lab.EXPORT}/bricks"  # on the server
STATE = f"{nfs_lab.EXPORT}/glusterd"  # on its disk, so that it serves the same volumes after a power cut
LOGS = "/var/log/glusterfs"
THERE = "/run/shared"  # on each client
# A busy machine makes all of this slow; this only ends a hang.
PATIENCE_S = 240

# As the advice of validate recommends: with these options, clients trust only what the bricks have just said.
COHERENT_MOUNT = "direct-io-mode=enable,attribute-timeout=0,entry-timeout=0"
# Of a process: lets it run for so many seconds of each period, by the clock, so that a late wake-up makes no period longer.
THROTTLE = """
import os, signal, sys, time
process, runs_s, period_s = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
begin = time.monotonic()
open("/run/throttles", "w").close()
while True:
    os.kill(process, signal.SIGSTOP)
    time.sleep(max(0, begin + period_s - runs_s - time.monotonic()))
    os.kill(process, signal.SIGCONT)
    begin += period_s
    time.sleep(max(0, begin - time.monotonic()))
    begin = max(begin, time.monotonic() - period_s)
"""
CACHES = ("quick-read", "io-cache", "stat-prefetch", "write-behind")


class GlusterVolume:
    """A volume that distributes its files over four bricks of the server, and its mounts."""

    def __init__(self, lab, name="shared"):
        nfs_lab.require_commands(NEEDED_COMMANDS)
        self.lab, self.name, self.path = lab, name, THERE
        self.source = f"{ADDRESS}:/{name}"
        self.bricks = [f"{BRICKS}/{name}-{number}" for number in (1, 2, 3, 4)]
        self._mounted = []
        self._on_server(f"mkdir -p {' '.join(self.bricks)}")
        serve(lab)
        # "force", because the bricks are on the same host, in directories of its export.
        self._volume(f"create {name} {' '.join(f'{ADDRESS}:{brick}' for brick in self.bricks)} force")
        self._volume(f"start {name}")

    def remove(self):
        self.unmount_all()
        self._volume(f"stop {self.name} force")
        self._volume(f"delete {self.name}")
        self._on_server(f"kill $(pidof glusterd) && while pidof glusterd; do sleep 0.1; done; umount /var/lib/glusterd {LOGS} && "
                        f"rm -r {BRICKS} {STATE}")

    def switch_caches(self, how):
        """Switches caches "on" or "off" for all future mounts."""
        self._volume(f"set {self.name} " + " ".join(f"performance.{cache} {how}" for cache in CACHES))

    def mount(self, client, options=""):
        more = f"-o {options}" if options else ""
        attempt(self.lab, client, f"modprobe fuse && mkdir -p {THERE} && "
                f"{{ mountpoint -q {LOGS} || mount -t tmpfs tmpfs {LOGS}; }} && "
                f"mount -t glusterfs {more} {self.source} {THERE} && mountpoint -q {THERE}")
        self._mounted.append(client)

    def mount_all(self, options=""):
        for client in self.lab.clients:
            self.mount(client, options)

    def unmount_all(self):
        for client in self._mounted:
            # A worker of a test that failed leaves when its lease has ended.
            self.lab.run(client, f"until umount {THERE}; do sleep 0.5; done", timeout=PATIENCE_S)
        self._mounted.clear()

    def clear(self):
        """Removes all names, of a test that failed."""
        self.lab.run(self._mounted[0], f"find {THERE} -mindepth 1 -delete", timeout=PATIENCE_S)

    def await_bricks(self):
        """Waits until all clients reach all bricks again."""
        for client in self.lab.clients:
            self.lab.run(client, f"until ls {THERE} && df {THERE}; do sleep 0.2; done", timeout=PATIENCE_S)

    @contextlib.contextmanager
    def throttled(self, brick, slower=100, period_s=1):
        """The brick's daemon runs for 1 / `slower` of each period only."""
        daemon = f"$(pgrep -f '[-]-brick-name {brick} ')"
        loop = self.lab.start(nfs_lab.SERVER, f"echo $$ >/run/throttle; exec python3 -c {shlex.quote(THROTTLE)} {daemon} "
                              f"{period_s / slower} {period_s}")
        try:
            self.lab.run(nfs_lab.SERVER, "until test -e /run/throttles; do sleep 0.1; done")
            yield
        finally:
            self._on_server(f"kill -9 $(cat /run/throttle); rm -f /run/throttle /run/throttles; kill -CONT {daemon}")
            self.lab.finish(loop)

    def names(self):
        """Paths of users' files and directories on the bricks, relative to these."""
        found = f"find {' '.join(self.bricks)} -mindepth 1 -not -path '*/.glusterfs*' -printf '%P\\n'"
        return self._on_server(found).stdout.split()

    def _volume(self, words):
        self._on_server(f"gluster --mode=script volume {words}")

    def _on_server(self, command):
        return self.lab.run(nfs_lab.SERVER, command, timeout=PATIENCE_S)


def attempt(lab, host, command):
    """Runs a command of GlusterFS. The reason for a failure is in its logs."""
    lab.run(host, f"{command} || {{ tail -n 30 {LOGS}/*.log; exit 1; }}", timeout=PATIENCE_S)


def serve(lab):
    """Starts glusterd, which starts the bricks of started volumes, even after a power cut of the server."""
    attempt(lab, nfs_lab.SERVER, f"mkdir -p {STATE} /run/gluster && mount --bind {STATE} /var/lib/glusterd && "
            f"mount -t tmpfs tmpfs {LOGS} && glusterd")
